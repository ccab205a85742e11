"""The doctor before training: planted illnesses are found by name, healthy twins are silent."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from torch import Tensor, nn

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.core.finding import Finding
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.recipes.doctor.diagnosis import Diagnosis
from netwright.recipes.doctor.doctor import doctor, doctor_recipe, usual_model
from netwright.recipes.explain.explain import explain
from netwright.recipes.plan.recipe import parse_recipe
from tests.repetition import for_each

Case = tuple[Any, dict[str, Any]]  # what is handed over: data and settings
ROWS = 240


def frame(seed: int = 0) -> pd.DataFrame:
    """Three clear classes in four measurements."""
    chance = np.random.default_rng(seed)
    kinds = np.arange(ROWS) % 3
    columns = chance.normal(size=(ROWS, 4)) + 4 * np.eye(3, 4)[kinds]
    table = pd.DataFrame(columns, columns=["a", "b", "c", "d"])
    return table.assign(kind=np.array(["x", "y", "z"])[kinds])


def leaking(*, ill: bool) -> Case:
    table = frame().assign(part=np.resize(["train", "train", "train", "test"], ROWS))
    if ill:
        test = np.flatnonzero(table["part"] == "test")[:20]
        table.iloc[test, :5] = table.iloc[test - 1, :5].to_numpy()
    return table, {"target": "kind", "split_column": "part"}


def copied(*, ill: bool) -> Case:
    table = frame()
    # All copies are in train: no row of them leaks.
    table["part"] = np.resize(["train"] * 4 + ["test"], ROWS)
    more = table[table["part"] == "train"].head(30 * ill)
    return pd.concat([table, more]), {"target": "kind", "split_column": "part", "val_size": 0.0}


def imbalanced(*, ill: bool) -> Case:
    table = frame()
    kept = table[(table["kind"] != "z") | (np.arange(ROWS) < 15)] if ill else table
    return kept, {"target": "kind"}


def single(*, ill: bool) -> Case:
    table = frame()
    table.loc[ROWS - 1, "kind"] = "w" if ill else "x"
    return table, {"target": "kind"}


def far_off(*, ill: bool) -> Case:
    table = frame().drop(columns="kind")
    table["price"] = table.sum(axis=1)
    table.loc[[3, 77], "price"] = 1e5 if ill else 10.0
    return table, {"target": "price"}


def constant(*, ill: bool) -> Case:
    return frame().assign(e=1.5 if ill else np.sin(np.arange(ROWS))), {"target": "kind"}


def numbered(*, ill: bool) -> Case:
    visits = np.arange(ROWS) + 1 if ill else np.arange(ROWS) * 37 % 11
    return frame().assign(visit=visits), {"target": "kind"}


def gaps(*, ill: bool) -> Case:
    table = frame()
    table.loc[:23, "b"] = np.nan if ill else 0.0
    return table, {"target": "kind"}


def pictures(folder: Path, *, ill: bool) -> Case:
    chance = np.random.default_rng(0)
    for place in range(24):
        path = folder / ("dark" if place % 2 else "light") / f"{place}.png"
        path.parent.mkdir(exist_ok=True, parents=True)
        pixels = chance.integers(0, 128, (6, 6), dtype=np.uint8) + 127 * (place % 2 == 0)
        Image.fromarray(pixels.astype(np.uint8)).save(path)
        if ill and place in {3, 8, 11}:
            path.write_bytes(path.read_bytes()[:40])
    return folder, {}


def mislabelled(*, ill: bool) -> Case:
    table = frame()
    wrong = np.arange(ROWS) // 3 % 10 == 0
    table["kind"] = np.where(wrong & ill, np.roll(table["kind"], 1), table["kind"])
    return table, {"target": "kind"}


class Net(nn.Module):
    """Three layers; how they start, and whether a gradient and the input come through, is told."""

    def __init__(
        self, *, deviation: float = 0.3, is_detached: bool = False, is_deaf: bool = False
    ) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        layers = [nn.Linear(4 if place == 0 else 32, 32) for place in range(3)]
        for layer in layers:
            nn.init.normal_(layer.weight, std=deviation, generator=generator)
        self.layers = nn.ModuleList(layers)
        self.head, self.is_detached, self.is_deaf = nn.Linear(32, 3), is_detached, is_deaf

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = torch.relu(layer(x))
        logits: Tensor = self.head((x.detach() if self.is_detached else x) * (not self.is_deaf))
        return logits


class Ended(nn.Module):
    """Scores, or what a last function makes of them."""

    def __init__(self, *, is_squashed: bool) -> None:
        super().__init__()
        self.scores, self.is_squashed = Net(), is_squashed

    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.scores(x)
        return scores.softmax(dim=1) if self.is_squashed else scores


def squashed(*, ill: bool) -> Case:
    return frame(), {"target": "kind", "model": Ended(is_squashed=ill)}


def stuck(*, ill: bool) -> Case:
    return frame(), {"target": "kind", "model": Net(is_deaf=ill)}


def cut(*, ill: bool) -> Case:
    return frame(), {"target": "kind", "model": Net(is_detached=ill)}


def loud(*, ill: bool) -> Case:
    return frame(), {"target": "kind", "model": Net(deviation=3.0 if ill else 0.3)}


PLANTED: dict[str, Callable[..., Case]] = {
    "split-leakage": leaking,
    "duplicates": copied,
    "imbalance": imbalanced,
    "single-row-class": single,
    "target-outliers": far_off,
    "constant-column": constant,
    "id-like-column": numbered,
    "missing-values": gaps,
    "unreadable-files": pictures,
    "label-noise": mislabelled,
    "squashed-outputs": squashed,
    "cannot-overfit": stuck,
    "frozen-part": cut,
    "bad-initial-variance": loud,
}


def look(illness: str, folder: Path, *, ill: bool) -> Diagnosis:
    places = [folder / "pictures"] if illness == "unreadable-files" else []
    data, settings = PLANTED[illness](*places, ill=ill)
    return doctor(data, **settings)


@pytest.mark.parametrize("illness", PLANTED)
def test_each_planted_illness_is_found_alone_and_its_healthy_twin_is_silent(
    illness: str, tmp_path: Path
) -> None:
    (found,) = look(illness, tmp_path, ill=True).findings
    assert found.illness == illness
    assert explain(found.see)
    healthy = look(illness, tmp_path, ill=False)
    assert healthy.findings == ()
    assert len(healthy.seen.looked_at) >= 6


@for_each("name", ["iris", "wine", "breast-cancer", "digits", "diabetes", "moons"])
def test_healthy_sets_are_silent(name: str) -> None:
    assert doctor(name).findings == ()


def test_a_real_series_is_silent_with_the_model_that_is_usual_for_it(
    real_data: Callable[[str], Path],
) -> None:
    real_data("islr/NYSE.csv")
    found = doctor("nyse")
    assert (found.findings, found.model) == ((), "lstm")


def test_a_class_of_three_in_a_hundred_is_found_in_real_data(
    real_data: Callable[[str], Path],
) -> None:
    (found,) = doctor(real_data("islr/Default.csv"), target="default").findings
    assert found.illness == "imbalance"
    assert "'Yes' 3.33%" in found.sentence


def test_data_that_cannot_be_loaded_is_told_with_what_was_found() -> None:
    inputs = np.random.default_rng(0).normal(size=(40, 3))
    inputs[:10, 1] = np.nan
    found = doctor((inputs, np.arange(40) % 2))
    assert [one.illness for one in found.findings] == ["missing-values"]
    assert (found.data, found.model) == ("arrays", "")
    (left,) = found.seen.not_looked_at
    assert left.startswith("everything else, because the data cannot be loaded: inputs")


def test_data_that_cannot_be_read_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        doctor(tmp_path / "no.csv", target="y")
    with pytest.raises(ConfigError, match="unet needs images"):
        doctor("iris", "unet")


def test_rows_without_a_target_are_told_and_left_out() -> None:
    table = frame()
    table.loc[:4, "kind"] = None
    (found,) = doctor(table, target="kind").findings
    assert found.fix == "Give --drop-missing-target: such rows cannot be learned from"


def test_the_lines_that_are_named_are_those_of_the_wrong_labels(tmp_path: Path) -> None:
    table = frame()
    wrong = np.arange(ROWS) // 3 % 10 == 0
    table["kind"] = np.where(wrong, np.roll(table["kind"], 1), table["kind"])
    table.to_csv(tmp_path / "t.csv", index=False)
    (found,) = doctor(tmp_path / "t.csv", target="kind").findings
    said = re.search(r"\(line ([\d, ]+)", found.sentence)
    assert said is not None
    rows = [int(line) - 2 for line in said[1].replace(" ", "").split(",")]
    assert len(rows) == 5
    assert wrong[rows].all()


def test_honest_rows_of_a_few_categories_are_silent() -> None:
    chance = np.random.default_rng(0)
    table = pd.DataFrame({"sex": chance.choice(["f", "m"], 600), "place": chance.choice(3, 600)})
    table["y"] = np.where(chance.random(600) < 0.3 + 0.4 * (table["sex"] == "f"), "yes", "no")
    seen = doctor(table, target="y").seen
    assert [one for one in seen.findings if one.illness != "cannot-overfit"] == []


def test_a_sorted_size_and_a_year_are_no_numbers_of_rows() -> None:
    chance = np.random.default_rng(0)
    size = np.sort(chance.choice(5000, 100, replace=False))
    table = pd.DataFrame({"size": size, "year": range(1900, 2000), "y": 2.0 * size})
    assert doctor(table, target="y").findings == ()


@pytest.mark.slow
def test_a_recipe_is_looked_at_as_its_names_are() -> None:
    values = {"model": "mlp", "data": "moons"}
    by_recipe = doctor_recipe(parse_recipe(values), is_model_given=True)
    assert by_recipe.seen == doctor("moons", "mlp").seen == nw.doctor("moons").seen
    unnamed = doctor_recipe(parse_recipe({**values, "data": "parity"}), is_model_given=False)
    assert unnamed.model == "lstm"


@for_each("inputs", ["features", "image", "tokens", "series", "pairs"])
@for_each("target", ["class", "real", "labels", "tokens", "tags", "mask"])
def test_the_usual_model_reads_what_there_is(inputs: Any, target: Any) -> None:
    model = MODELS.load(usual_model(DataSpec(inputs=inputs, input_shape=(4,), target=target)))
    possible = any(
        inputs in MODELS.load(name).inputs and target in MODELS.load(name).targets
        for name in MODELS
    )
    assert (inputs in model.inputs and target in model.targets) or not possible


def test_a_finding_reads_as_a_sentence_with_its_fix() -> None:
    (found,) = doctor(*numbered_arrays()).findings
    assert isinstance(found, Finding)
    assert str(found).endswith("(netwright explain parameter-counts)")


def numbered_arrays() -> tuple[Any]:
    values = frame().drop(columns="kind").to_numpy()
    return ((np.column_stack([np.arange(ROWS), values]), np.arange(ROWS) % 3),)


def test_a_frame_with_its_targets_apart_is_looked_at() -> None:
    frame = pd.DataFrame({"size": np.arange(40.0), "colour": ["red", "blue"] * 20})
    found = nw.doctor((frame, np.arange(40) // 20), hidden=(4,), device="cpu")
    assert (found.data, found.model) == ("frame", "mlp")
