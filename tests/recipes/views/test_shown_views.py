"""Which views a report shows, in which order, and that each can be saved without a browser."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

import netwright as nw
from netwright.inspection.dataset.class_balance import measure_class_balance
from netwright.inspection.drawing.view import View
from netwright.models.mlp import MLP
from netwright.recipes.views.catalog import VIEWS
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.shown_views import measure_shown_views, section_of
from netwright.recipes.views.subject import Subject
from netwright.train.evaluate import predict
from netwright.train.tasks.task import Task
from tests.repetition import slow_but

CLASS_VIEWS = [
    "curves",
    "gradient-norms",
    "confusion",
    "calibration",
    "threshold-curves",
    "decision-regions",
    "permutation-importance",
    "wrong-examples",
]
TABLE_VIEWS = {"decision-regions", "permutation-importance"}
IMAGE_VIEWS = [name for name in CLASS_VIEWS if name not in TABLE_VIEWS]
CONVEX_VIEWS = [name for name in IMAGE_VIEWS if name != "gradient-norms"]  # in a step of L-BFGS
RUNS: dict[str, tuple[tuple[Any, ...], dict[str, Any], list[str]]] = {
    "classes": (("mlp", "moons"), {"hidden": (4,)}, [*CLASS_VIEWS, "class-balance", "summary"]),
    "images": (("softmax", "digits"), {}, [*CONVEX_VIEWS, "class-balance", "summary"]),
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
        [
            "curves",
            "gradient-norms",
            "residuals",
            "prediction-surface",
            "permutation-importance",
            "worst-errors",
            "target-spread",
            "summary",
        ],
    ),
    "several reals": (
        ("mlp", "linnerud"),
        {"hidden": (4,)},
        [
            "curves",
            "residuals",
            "permutation-importance",
            "worst-errors",
            "target-spread",
            "summary",
        ],
    ),
    "closed form": (
        ("ridge", "line"),
        {},
        ["curves", "residuals", "fitted-curve", "worst-errors", "target-spread", "summary"],
    ),
}

QUICK_RUNS = ("classes", "convolutions", "curve")


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The views that are measured from now on."""
    names: list[str] = []

    def noting(name: str, entry: ViewEntry) -> ViewEntry:
        def measure(subject: Subject, settings: Any) -> View:
            names.append(name)
            return entry.measure(subject, settings)

        return replace(entry, measure=measure)

    for name, place in VIEWS._rows.items():
        monkeypatch.setattr(place.replace(":", "."), noting(name, VIEWS.load(name)))
    return names


@pytest.fixture
def predicted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many examples the model is asked about from now on, a number a time."""
    sizes: list[int] = []

    def counted(model: nn.Module, inputs: Tensor, task: Task) -> Tensor:
        sizes.append(len(inputs))
        return predict(model, inputs, task)

    monkeypatch.setattr("netwright.recipes.views.subject.predict", counted)
    return sizes


@pytest.mark.parametrize("kind", slow_but(QUICK_RUNS, RUNS))
def test_every_kind_of_run_has_its_views(kind: str) -> None:
    (model, data), settings, names = RUNS[kind]
    run = nw.fit(model, data, epochs=1, quiet=True, **settings)
    views = run.views()
    assert list(views) == names
    assert all(view.caption for view in views.values())


@pytest.mark.slow
@pytest.mark.parametrize("kind", RUNS)
def test_every_view_is_saved_as_a_picture(kind: str, tmp_path: Path) -> None:
    (model, data), settings, names = RUNS[kind]
    views = nw.fit(model, data, epochs=1, quiet=True, **settings).views()
    assert list(views) == names
    for name, view in views.items():
        for ending in ("svg", "png"):
            assert view.save(tmp_path / f"{name}.{ending}").stat().st_size > 1000


def test_one_view_is_measured_alone_and_predicts_once(
    moons_run: nw.Run, measured: list[str], predicted: list[int]
) -> None:
    nw.inspect(moons_run, "confusion")
    assert (measured, predicted) == (["confusion"], [moons_run.results["rows"]])


def test_a_view_that_reads_no_predictions_makes_none(
    moons_run: nw.Run, measured: list[str], predicted: list[int]
) -> None:
    nw.inspect(moons_run, "class-balance")
    assert (measured, predicted) == (["class-balance"], [])


def test_what_a_run_has_is_told_without_measuring_it(
    moons_run: nw.Run, measured: list[str], predicted: list[int]
) -> None:
    assert "calibration" in nw.inspectable(moons_run)
    assert (measured, predicted) == ([], [])


def test_a_report_measures_each_view_once_and_predicts_once(
    pictures: Any, measured: list[str], predicted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = nw.fit("softmax", pictures, epochs=1, quiet=True)
    monkeypatch.setattr("netwright.recipes.run.run.write_report", lambda path, *_, **__: path)
    run.report("page.html")
    assert measured == [*CONVEX_VIEWS, "class-balance", "summary"]
    assert predicted == [run.results["rows"]]


def test_views_with_examples_are_not_measured_where_they_are_not_wanted(
    moons_run: nw.Run, measured: list[str]
) -> None:
    shown = measure_shown_views(Subject(moons_run, *moons_run.data_at_hand()), examples=False)
    with_examples = {"decision-regions", "wrong-examples"}
    names = [name for name in CLASS_VIEWS if name not in with_examples]
    assert list(shown) == measured == [*names, "class-balance", "summary"]


def test_each_is_the_view_that_is_asked_for_by_its_name(moons_run: nw.Run) -> None:
    views = moons_run.views()
    subject = Subject(moons_run, *moons_run.data_at_hand())
    for name, view in views.items():
        assert VIEWS.load(name).show(subject, {}).to_json() == view.to_json()


def test_views_tell_the_split_of_the_results() -> None:
    run = nw.fit("mlp", "iris", hidden=(8,), epochs=5, quiet=True)
    counts = np.array(run.views()["confusion"].to_json()["counts"])
    assert counts.sum() == run.results["rows"]
    assert counts.trace() / counts.sum() == pytest.approx(run.results["metrics"]["accuracy"])


def test_without_data_the_model_and_the_curves_are_left() -> None:
    run = nw.fit("mlp", "moons", hidden=(4,), epochs=1, quiet=True)
    assert list(measure_shown_views(Subject(run, None))) == ["curves", "gradient-norms", "summary"]


def test_measuring_leaves_the_model_as_it_was() -> None:
    run = nw.fit("mlp", "moons", hidden=(4,), epochs=1, quiet=True)
    run.model.train()
    before = {name: value.clone() for name, value in run.model.state_dict().items()}
    state = torch.get_rng_state()
    run.views()
    assert run.model.training
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(before[name], value) for name, value in run.model.state_dict().items())


def test_the_views_with_examples_are_these() -> None:
    """Whoever leaves examples out of a report relies on it."""
    assert {name for name in VIEWS if VIEWS.load(name).has_examples} == {
        "alignment",
        "attention",
        "attention-rollout",
        "contact-sheet",
        "decision-regions",
        "feature-maps",
        "fitted-curve",
        "forecast",
        "marked-spans",
        "masked-tokens",
        "next-tokens",
        "noise-band",
        "prediction-surface",
        "recalled-patterns",
        "predicted-boxes",
        "segmentation",
        "similar-words",
        "vector-dimensions",
        "word-map",
        "words-by-epoch",
        "wrong-examples",
        "worst-errors",
    }


def test_a_view_that_only_a_model_of_ones_own_has_stands_among_what_is_inside(
    moons_run: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def own_views(model: MLP, examples: Any) -> dict[str, View]:
        return {"moon": measure_class_balance({"moons": examples.targets.cpu()}, ("a", "b"))}

    monkeypatch.setattr(MLP, "own_views", own_views)
    assert list(moons_run.views())[-1] == "moon"
    assert section_of("moon") == "inside"


def test_views_of_a_large_stored_split_show_a_sample_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = np.random.default_rng(0).normal(size=(200, 3))
    np.save(tmp_path / "x.npy", inputs)
    stored = np.load(tmp_path / "x.npy", mmap_mode="r")
    run = nw.fit("softmax", (stored, inputs[:, 0] > 0), epochs=1, quiet=True)
    whole = run.views()
    monkeypatch.setattr("netwright.data.loading.stored.sample_stored.__defaults__", (10,))
    few = run.views()
    assert list(few) == list(whole)
    assert np.sum(whole["confusion"].to_json()["counts"]) == run.results["rows"] == 40
    assert np.sum(few["confusion"].to_json()["counts"]) == 10
    assert few["class-balance"] == whole["class-balance"]


@pytest.fixture
def pictures() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    return rng.random((40, 1, 6, 6)).astype("float32"), np.arange(40) % 2


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
    monkeypatch.setattr("netwright.data.loading.stored.sample_stored.__defaults__", (20,))
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


@pytest.mark.usefixtures("undrawn")
def test_a_report_of_a_sample_tells_the_sizes_of_the_data(folder_run: nw.Run) -> None:
    page = folder_run.report().read_text(encoding="utf-8")
    sizes = ", ".join(f"{len(split)} {name}" for name, split in folder_run.data.splits())
    assert f": {sizes} rows." in page
    assert page.count("These views are of 20 of the 60 test rows, evenly spaced.") == 1
    assert f"The table is of 20 of the {len(folder_run.data.train)} train rows, " in page
