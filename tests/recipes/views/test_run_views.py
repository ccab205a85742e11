"""Which views a run has, from what, and that all of them can be saved without a browser."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

import netwright as nw
from netwright.recipes.views.run_views import EXAMPLES, MASK_BATCH, measure_views
from netwright.train.evaluate import predict
from netwright.train.tasks.task import Task
from tests.data.images.pair_pictures import write_pairs

CLASS_VIEWS = ["curves", "confusion", "calibration", "decision-regions", "wrong-examples"]
IMAGE_VIEWS = [name for name in CLASS_VIEWS if name != "decision-regions"]
RUNS: dict[str, tuple[tuple[Any, ...], dict[str, Any], list[str]]] = {
    "classes": (("mlp", "moons"), {"hidden": (4,)}, [*CLASS_VIEWS, "class-balance", "summary"]),
    "images": (("softmax", "digits"), {}, [*IMAGE_VIEWS, "class-balance", "summary"]),
    "convolutions": (
        ("cnn", "digits"),
        {"channels": (16,), "hidden": ()},
        [*IMAGE_VIEWS, "class-balance", "filters", "feature-maps", "summary"],
    ),
    "curve": (
        ("linear-regression", "line"),
        {},
        ["curves", "residuals", "fitted-curve", "worst-errors", "target-spread", "summary"],
    ),
    "surface": (
        ("mlp", "diabetes"),
        {"hidden": (4,)},
        ["curves", "residuals", "prediction-surface", "worst-errors", "target-spread", "summary"],
    ),
    "several reals": (
        ("mlp", "linnerud"),
        {"hidden": (4,)},
        ["curves", "residuals", "worst-errors", "target-spread", "summary"],
    ),
    "closed form": (
        ("ridge", "line"),
        {},
        ["curves", "residuals", "fitted-curve", "worst-errors", "target-spread", "summary"],
    ),
}


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", RUNS)
def test_every_kind_of_run_has_its_views(kind: str, tmp_path: Path) -> None:
    (model, data), settings, names = RUNS[kind]
    run = nw.fit(model, data, epochs=1, quiet=True, **settings)
    views = run.views()
    assert list(views) == names
    for name, view in views.items():
        assert view.caption
        for ending in ("svg", "png"):
            assert view.save(tmp_path / f"{name}.{ending}").stat().st_size > 1000


def test_labels_have_a_view_of_their_own() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(60, 3))
    labels = (inputs[:, :2] > 0).astype(float)
    run = nw.fit("mlp", (inputs, labels), kind="labels", hidden=(4,), epochs=1, quiet=True)
    assert list(run.views()) == ["curves", "label-errors", "class-balance", "summary"]


def test_one_feature_has_no_plane() -> None:
    inputs = np.linspace(-1, 1, 60)[:, None]
    run = nw.fit("logistic", (inputs, inputs[:, 0] > 0), epochs=1, quiet=True)
    assert "decision-regions" not in run.views()


def test_views_tell_the_split_of_the_results() -> None:
    run = nw.fit("mlp", "iris", hidden=(8,), epochs=5, quiet=True)
    counts = np.array(run.views()["confusion"].to_json()["counts"])
    assert counts.sum() == run.results["rows"]
    assert counts.trace() / counts.sum() == pytest.approx(run.results["metrics"]["accuracy"])


def test_the_wrong_examples_are_wrong() -> None:
    run = nw.fit("softmax", "digits", epochs=1, device="cpu", quiet=True)
    split = run.data.split("test")
    said = predict(run.model, split.inputs, run.task).argmax(1)
    shown = run.views()["wrong-examples"].to_json()["mistakes"]
    assert shown
    for example in shown:
        assert said[example["row"]] != split.targets[example["row"]]


def test_without_data_the_model_and_the_curves_are_left() -> None:
    run = nw.fit("mlp", "moons", hidden=(4,), epochs=1, quiet=True)
    assert list(measure_views(run, None)) == ["curves", "summary"]


def test_measuring_leaves_the_model_as_it_was() -> None:
    run = nw.fit("mlp", "moons", hidden=(4,), epochs=1, quiet=True)
    run.model.train()
    before = {name: value.clone() for name, value in run.model.state_dict().items()}
    state = torch.get_rng_state()
    run.views()
    assert run.model.training
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(before[name], value) for name, value in run.model.state_dict().items())


@pytest.fixture
def pictures() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    return rng.random((40, 1, 6, 6)).astype("float32"), np.arange(40) % 2


def test_augmented_images_are_shown_as_examples(tmp_path: Path, pictures: Any) -> None:
    run = nw.fit("softmax", pictures, epochs=1, augment=("flip", "crop=2"), quiet=True)
    sheet = run.views()["contact-sheet"].to_json()
    assert [strip["name"] for strip in sheet["strips"]] == ["flip", "crop=2", "all together"]
    page = run.report(tmp_path / "page.html").read_text(encoding="utf-8")
    learning, _, rest = page.partition(">Predictions</h2>")
    assert "<h3>Augmentations</h3>" in learning
    assert "<h3>Augmentations</h3>" not in rest
    bare = run.report(tmp_path / "bare.html", examples=False).read_text(encoding="utf-8")
    assert "<h3>Augmentations</h3>" not in bare


@pytest.mark.parametrize(("of", "shown"), [("softmax", True), ("decision-tree", False)])
def test_members_that_learn_by_a_rule_of_their_own_see_no_changed_images(
    of: str, shown: bool, pictures: Any
) -> None:
    run = nw.fit("bagging", pictures, of=of, members=1, epochs=1, augment=("flip",), quiet=True)
    assert ("contact-sheet" in run.views()) is shown


def test_the_lessons_of_an_ensemble_are_shown_by_its_members_and_not_as_a_curve(
    tmp_path: Path,
) -> None:
    run = nw.fit("bagging", "iris", of="decision-tree", members=2, quiet=True)
    views = run.views()
    assert "curves" not in views
    assert "ensemble-members" in views
    page = run.report(tmp_path / "page.html").read_text(encoding="utf-8")
    learning = page.partition(">Learning</h2>")[2].partition(">Predictions</h2>")[0]
    assert "<h3>Ensemble and its members</h3>" in learning
    assert page.count("<h3>Ensemble and its members</h3>") == 1


def test_the_views_with_examples_are_named_rightly() -> None:
    every = {name for _, _, names in RUNS.values() for name in names}
    every |= {"contact-sheet", "feature-maps", "label-errors", "noise-band"}
    every |= {"recalled-patterns", "segmentation"}
    every |= {"alignment", "attention", "forecast", "next-tokens"}  # of sequences
    assert EXAMPLES < every


def test_views_of_a_large_stored_split_show_a_sample_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = np.random.default_rng(0).normal(size=(200, 3))
    np.save(tmp_path / "x.npy", inputs)
    stored = np.load(tmp_path / "x.npy", mmap_mode="r")
    run = nw.fit("softmax", (stored, inputs[:, 0] > 0), epochs=1, quiet=True)
    whole = run.views()
    monkeypatch.setattr("netwright.data.stored.sample_stored.__defaults__", (10,))
    few = run.views()
    assert list(few) == list(whole)
    assert np.sum(whole["confusion"].to_json()["counts"]) == run.results["rows"] == 40
    assert np.sum(few["confusion"].to_json()["counts"]) == 10
    assert few["class-balance"] == whole["class-balance"]


@pytest.fixture
def folder_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> nw.Run:
    """A run on noise, so that it errs; of each split of its images 20 are looked at."""
    for number in range(120):
        folder = tmp_path / "noise" / "ab"[number % 2]
        folder.mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(number).integers(0, 256, (8, 8)).astype("uint8")
        Image.fromarray(pixels).save(folder / f"{number}.png")
    settings: dict[str, Any] = {"epochs": 1, "test_size": 0.5, "device": "cpu"}
    run = nw.fit("softmax", tmp_path / "noise", quiet=True, out="r", **settings)
    monkeypatch.setattr("netwright.data.stored.sample_stored.__defaults__", (20,))
    return run


def test_rows_of_a_sample_of_images_are_rows_of_the_split(folder_run: nw.Run) -> None:
    split = folder_run.data.split("test")
    assert len(split) == 60
    chances = predict(folder_run.model, split.inputs, folder_run.task)
    view = folder_run.views()["wrong-examples"]
    assert "of 20 examples" in view.caption
    assert "a sample of the split" in view.caption
    shown = view.to_json()
    assert len(shown["mistakes"]) > 2
    for one in shown["mistakes"] + shown["barely_right"]:
        assert chances[one["row"]].max() == pytest.approx(one["p_predicted"], abs=1e-5)


def test_a_report_of_a_sample_tells_the_sizes_of_the_data(folder_run: nw.Run) -> None:
    page = folder_run.report().read_text(encoding="utf-8")
    sizes = ", ".join(f"{len(split)} {name}" for name, split in folder_run.data.splits())
    assert f": {sizes} rows." in page
    assert page.count("These views are of 20 of the 60 test rows, spread evenly.") == 1
    assert f"The table is of 20 of the {len(folder_run.data.train)} train rows, " in page


def test_worst_errors_of_a_sample_are_shown_with_the_cells_of_their_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = np.random.default_rng(0).normal(size=(200, 1))
    np.save(tmp_path / "x.npy", inputs)
    stored = np.load(tmp_path / "x.npy", mmap_mode="r")
    run = nw.fit("linear-regression", (stored, inputs**2), kind="real", epochs=1, quiet=True)
    split = run.data.split("test")
    monkeypatch.setattr("netwright.data.stored.sample_stored.__defaults__", (10,))
    page = run.report(tmp_path / "page.html").read_text(encoding="utf-8")
    told = json.loads((tmp_path / "page.json").read_text(encoding="utf-8"))
    shown = told["views"]["worst-errors"]["outputs"][0]["rows"]
    assert len(shown) == 10
    assert max(one["row"] for one in shown) == len(split) - 1
    for one in shown:
        assert split.targets[one["row"], 0] == pytest.approx(one["true"])
        (cell,) = run.preprocessor.decode(split.inputs[[one["row"]]])[0].values()
        assert f">{cell}</td>" in page


def test_masks_are_predicted_a_few_images_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = write_pairs(tmp_path / "cells", range(40))
    settings: dict[str, Any] = {"size": (4,), "depth": 1, "width": 2, "test_size": 0.5}
    run = nw.fit("unet", pairs, epochs=1, quiet=True, **settings)
    sizes = []

    def counted(model: nn.Module, inputs: torch.Tensor, task: Task) -> torch.Tensor:
        sizes.append(len(inputs))
        return predict(model, inputs, task)

    monkeypatch.setattr("netwright.recipes.views.run_views.predict", counted)
    view = run.views()["segmentation"].to_json()
    assert sizes == [MASK_BATCH, MASK_BATCH, 4]
    names = run.spec.class_names
    wanted = [run.results["metrics"][f"dice/{name}"] for name in names]
    assert view["dice"] == pytest.approx(wanted)


def test_filters_of_an_ensemble_are_not_shown_as_if_it_were_one_network(pictures: Any) -> None:
    run = nw.fit("bagging", pictures, of="cnn", members=2, epochs=1, quiet=True)
    views = run.views()
    assert not {"filters", "feature-maps"} & views.keys()


def test_a_model_has_views_of_its_own_and_the_report_shows_them(
    tmp_path: Path, pictures: Any
) -> None:
    run = nw.fit("hopfield", pictures, quiet=True)
    own = {"recalled-patterns", "energy-descent"}
    views = run.views()
    assert own <= views.keys()
    page = run.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert ">Inside</h2>" in page
    assert all(f"<h3>{views[name].title}</h3>" in page for name in own)
    bare = run.report(tmp_path / "bare.html", examples=False).read_text(encoding="utf-8")
    assert views["recalled-patterns"].title not in bare
