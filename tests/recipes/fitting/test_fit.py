"""`nw.fit`: names, configs or your own objects; the same seed, the same bits; what is refused."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import netwright as nw
from netwright.core.errors import ConfigError, DataError, ShapeError
from netwright.models.mlp import MLPConfig
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.training import train
from tests.repetition import for_each


def weights_of(run: nw.Run) -> torch.Tensor:
    return torch.cat([parameter.detach().flatten() for parameter in run.model.parameters()])


def fit_in_memory(model: Any, data: Any, **settings: Any) -> nw.Run:
    return train(prepare(model, data, **settings), quiet=True, keep_folder=False)


def test_same_seed_same_bits_other_seed_other_bits() -> None:
    first, second, third = (
        fit_in_memory("mlp", "moons", hidden=(8,), epochs=2, seed=seed) for seed in (0, 0, 1)
    )
    assert torch.equal(weights_of(first), weights_of(second))
    assert first.results["metrics"] == second.results["metrics"]
    assert first.history.as_dict() == second.history.as_dict()
    assert not torch.equal(weights_of(first), weights_of(third))


def test_fit_leaves_the_callers_random_numbers_alone() -> None:
    torch.manual_seed(5)
    np.random.seed(5)
    wanted = torch.rand(1), np.random.rand()
    torch.manual_seed(5)
    np.random.seed(5)
    fit_in_memory("mlp", "moons", hidden=(8,), epochs=1)
    assert (torch.rand(1), np.random.rand()) == wanted


def test_a_config_and_a_name_with_settings_are_the_same() -> None:
    by_name = fit_in_memory("mlp", "xor", hidden=(4,), dropout=0.1, epochs=1)
    by_config = fit_in_memory(MLPConfig(hidden=(4,), dropout=0.1), "xor", epochs=1)
    assert by_name.config == by_config.config
    assert torch.equal(weights_of(by_name), weights_of(by_config))


def test_a_module_of_ones_own_trains() -> None:
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    run = fit_in_memory(net, "moons", epochs=20, lr=0.01)
    assert run.results["metrics"]["accuracy"] > 0.85


@pytest.mark.covers("mlp")
def test_a_text_column_makes_tokens_of_a_table(reviews_file: Path) -> None:
    prepared = prepare("elman", reviews_file, text="text", target="label", hidden=4, max_length=3)
    assert prepared.recipe.data == "text-table"
    assert (prepared.data.spec.inputs, prepared.data.spec.input_shape) == ("tokens", (3,))


def test_an_mlp_learns_the_moons() -> None:
    """The parameter count and the gradient are checked beside the model."""
    run = fit_in_memory("mlp", "moons", hidden=(32, 32), epochs=60, lr=0.01)
    assert run.results["metrics"]["accuracy"] >= 0.98


def test_several_labels_train(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(300, 4))
    labels = (inputs[:, :3] > 0).astype(int)
    run = fit_in_memory("mlp", (inputs, labels), hidden=(16,), epochs=15, lr=0.01)
    assert run.spec.target == "labels"
    assert run.results["metrics"]["accuracy"] > 0.9 > run.results["baseline"]["accuracy"]
    assert run.predict(inputs[:5]).shape == (5, 3)


@pytest.mark.slow
def test_balanced_classes_raise_the_recall_of_the_rare_one(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    targets = (rng.random(1500) < 0.06).astype(int)
    inputs = rng.normal(size=(1500, 2)) + 1.2 * targets[:, None]
    plain, balanced = (
        fit_in_memory("logistic", (inputs, targets), epochs=15, class_weight=weight, lr=0.02)
        for weight in (None, "balanced")
    )
    recall = [run.results["metrics"]["balanced_accuracy"] for run in (plain, balanced)]
    assert recall[1] > recall[0] + 0.1


def test_the_baseline_stands_beside_every_metric() -> None:
    results = fit_in_memory("mlp", "digits", hidden=(8,), epochs=1).results
    assert set(results["baseline"]) == set(results["metrics"]) - {"loss"}
    assert results["baseline"]["accuracy"] == pytest.approx(0.1, abs=0.01)
    assert re.fullmatch(r"always '\d', 10\.\d\d% of the training rows", results["baseline_rule"])


def test_max_time_ends_a_run_early() -> None:
    run = fit_in_memory("mlp", "digits", epochs=1000, max_time=0.3)
    assert run.results["status"] == "the time limit of 0.3 s"
    assert run.results["epochs"] < 1000
    assert run.history.series("train/loss")


@pytest.mark.parametrize(
    ("model", "data", "settings", "sentence"),
    [
        ("mpl", "moons", {}, "unknown model 'mpl'; did you mean 'mlp'?"),
        ("mlp", "mons", {}, "unknown data set 'mons'; did you mean 'moons'?"),
        ("mlp", "moons", {"epoch": 3}, "unknown setting 'epoch'; did you mean 'epochs'?"),
        ("mlp", "moons", {"hidden": 0}, "model.hidden[0] must be greater than 0, got 0"),
        ("mlp", "moons", {"lr": float("nan")}, "train.lr must be a finite number, got nan"),
        (
            "linear-regression",
            "moons",
            {},
            "linear-regression predicts real, got a target of kind 'class'; for a table of "
            "features and targets of kind 'class' there are mlp, mlp-plr, table-resnet, ...",
        ),
        (
            3,
            "moons",
            {},
            "model must be a name, a config of a model, an nn.Module or a function that returns "
            "one, got int",
        ),
        (
            MLPConfig(),
            "moons",
            {"hidden": 3},
            "'hidden' is given together with a model that is already configured",
        ),
        (nn.ReLU(), "moons", {}, "the model has no parameters to learn"),
        (
            "mlp",
            "moons",
            {"monitor": "val/acuracy"},
            "monitor 'val/acuracy' is not measured; did you mean 'val/accuracy'?",
        ),
        (
            "mlp",
            "moons",
            {"batch_norm": True, "batch_size": 3, "n": 100, "val_size": 0.1, "test_size": 0.2},
            "batch norm cannot normalise one row: batch_size 3 leaves a last batch of one of the "
            "70 training rows; use 2",
        ),
        ("mlp", "moons", {"seed": -1}, "seed must be a non-negative integer, got -1"),
    ],
)
def test_refuses_before_anything_is_written(
    model: Any,
    data: Any,
    settings: dict[str, Any],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        nw.fit(model, data, quiet=True, **settings)
    assert not list(tmp_path.iterdir())


class OfSeven(nn.Module):
    """Batch norm after a layer for seven features."""

    def __init__(self) -> None:
        super().__init__()
        self.wide, self.norm = nn.Linear(7, 4), nn.BatchNorm1d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.norm(self.wide(x))
        return out


class Choosy(OfSeven):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ValueError("I want seven features")


@for_each("rows", [32, 33])  # the last batch of 33 has one row
@for_each(
    ("module", "sentence"),
    [
        (
            OfSeven,
            "layer 'wide' fails on inputs of shape (8, 5): mat1 and mat2 shapes cannot be "
            "multiplied (8x5 and 7x4)",
        ),
        (Choosy, "layer 'model' fails on inputs of shape (8, 5): I want seven features"),
    ],
)
def test_what_is_wrong_with_a_module_is_not_told_as_batch_norms(
    module: type[nn.Module], sentence: str, rows: int
) -> None:
    data = (np.zeros((rows, 5), dtype=np.float32), np.arange(rows) % 2)
    with pytest.raises(ShapeError) as refused:
        prepare(module(), data, batch_size=8, val_size=0.0, test_size=0.0)
    assert str(refused.value).replace("addmm: ", "") == sentence  # newer torch names its kernel


def test_refuses_more_than_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        ConfigError, match=r"batch_size 500 is more than the \d+ training rows of iris"
    ):
        nw.fit("mlp", "iris", batch_size=500, quiet=True)
    assert not list(tmp_path.iterdir())


@for_each(
    ("inputs", "targets", "sentence"),
    [
        (np.array([[np.nan, 1.0]] * 40), np.arange(40) % 2, "must be finite, got nan at [0, 0]"),
        (np.array([[np.inf, 1.0]] * 40), np.arange(40) % 2, "must be finite, got inf at [0, 0]"),
        (np.ones((40, 2)), np.zeros(40, dtype=int), "has only one class in its training rows, '0'"),
        (np.ones((40, 2)), np.arange(39) % 2, "arrays has 40 inputs but 39 targets"),
    ],
)
def test_refuses_bad_arrays(inputs: Any, targets: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=re.escape(sentence)):
        fit_in_memory("mlp", (inputs, targets))


def test_a_label_out_of_range_is_named() -> None:
    from dataclasses import replace

    from netwright.data.catalog import SOURCES

    source = SOURCES.load("moons")
    data = source.load(source.config())
    wrong = data.train.targets.clone()
    wrong[3] = 7
    broken = replace(data, train=replace(data.train, targets=wrong))
    with pytest.raises(DataError, match="label 7 in row 3 of the train split of moons is out of"):
        fit_in_memory("mlp", broken)


def test_a_width_that_no_machine_has_room_for_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^mlp cannot be built: .*raise NETWRIGHT_MAX_MODEL_GB$"):
        prepare("mlp", "moons", hidden=(10**15,))


def test_a_function_is_no_callback_and_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a callback must be an instance of a subclass"):
        nw.fit("mlp", "moons", out=tmp_path / "run", callbacks=[lambda state: None])
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["out", "resume", "start_from"])
def test_no_place_has_a_nul_character(name: str) -> None:
    with pytest.raises(
        ConfigError, match=rf"^{name} must not contain a NUL character, got 'a\\x00b'$"
    ):
        nw.fit("mlp", "moons", **{name: "a\0b"})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"out": "run"}, "save=False trains without a run folder: drop the argument 'out'"),
        ({"resume": "auto"}, "save=False trains without a run folder: drop the argument 'resume'"),
        ({"save": "run"}, "save must be True or False, got 'run'; a folder is given by out"),
    ],
)
def test_a_run_without_a_folder_is_given_none(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        nw.fit("mlp", "moons", **{"save": False, **given})


def test_no_run_starts_from_one_that_is_in_memory_only() -> None:
    run = fit_in_memory("mlp", "moons", n=60, hidden=(4,), epochs=1)
    with pytest.raises(ConfigError, match=r"no folder to start from: save it with run.save"):
        nw.fit("mlp", "moons", n=60, hidden=(4,), epochs=1, start_from=run, save=False)


@for_each(
    ("model", "settings"), [("table-resnet", {}), ("mlp", {"hidden": (8,), "batch_norm": True})]
)
def test_a_size_that_nobody_asked_for_leaves_batch_norm_no_single_row(
    model: str, settings: dict[str, Any]
) -> None:
    numbers = np.random.default_rng(0).normal(size=(33, 2)).astype(np.float32)
    data = (numbers, (numbers[:, 0] > 0).astype(np.int64))
    rest: dict[str, Any] = {"val_size": 0.0, "test_size": 0.0, "epochs": 1}
    chosen = prepare(model, data, **rest, **settings).recipe.train.batch_size
    assert chosen == 31  # 32 would leave one of the 33 rows
    assert prepare("mlp", data, hidden=(8,), **rest).recipe.train.batch_size == 32
    with pytest.raises(ConfigError, match="batch_size 32 leaves a last batch of one"):
        prepare(model, data, batch_size=32, **rest, **settings)
