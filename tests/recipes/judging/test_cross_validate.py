"""Cross-validation of any recipe, against scikit-learn and by laws."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold
from torch import nn

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.split import k_folds
from netwright.recipes.fitting.prepared import Prepared
from netwright.recipes.fitting.training import train
from netwright.recipes.judging.cross_validate import cross_validate

ALL = ArraysConfig(val_size=0, test_size=0)


def drawn(rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    inputs = rng.normal(2.0, 5.0, (rows, 4))
    return inputs, inputs @ [1.0, -2.0, 0.5, 0.0] + rng.normal(size=rows)


def test_least_squares_equals_scikit_learn_on_the_same_folds() -> None:
    inputs, targets = drawn()
    found = cross_validate(
        "least-squares", from_arrays(inputs, targets, config=ALL), folds=7, repeats=2, quiet=True
    )
    wanted = []
    for seed in (0, 1):
        for learned, held in k_folds(60, 7, seed=seed):
            fitted = LinearRegression().fit(inputs[learned], targets[learned])
            errors = fitted.predict(inputs[held]) - targets[held]
            wanted.append(float(np.sqrt(np.mean(errors**2))))
    assert found.scores == pytest.approx(wanted, rel=1e-5)  # outputs are float32
    assert found.mean == pytest.approx(np.mean(wanted), rel=1e-5)
    assert found.std == pytest.approx(np.std(wanted, ddof=1), rel=1e-5)


def test_folds_have_the_sizes_of_scikit_learn_s_and_each_row_is_held_out_once_a_repeat() -> None:
    inputs, targets = drawn(23)
    found = cross_validate(
        "least-squares", (inputs, targets), folds=5, repeats=3, val_size=0.0, quiet=True
    )
    sizes = [len(held) for _, held in KFold(5).split(inputs)]
    for repeat in (1, 2, 3):
        assert [fold.held_out for fold in found.folds if fold.repeat == repeat] == sizes
    assert {fold.trained_on + fold.held_out for fold in found.folds} == {23}


def test_texts_in_a_frame_are_folded(reviews_file: Path) -> None:
    frame = pd.read_csv(reviews_file)
    settings: dict[str, Any] = {"text": "text", "target": "label", "hidden": 4, "epochs": 1}
    found = cross_validate("elman", frame, folds=2, quiet=True, **settings)
    assert [fold.held_out for fold in found.folds] == [15, 15]


def test_as_many_folds_as_rows_is_leave_one_out_and_equals_press() -> None:
    inputs, targets = drawn(20)
    found = cross_validate(
        "least-squares", from_arrays(inputs, targets, config=ALL), folds=20, quiet=True
    )
    design = np.column_stack([np.ones(20), inputs])
    hat = design @ np.linalg.pinv(design)
    left_out = (targets - hat @ targets) / (1 - np.diag(hat))
    assert sorted(found.scores) == pytest.approx(sorted(abs(left_out)), rel=1e-4)


def test_gradient_models_keep_rows_to_choose_by_and_the_same_seed_gives_the_same_scores() -> None:
    small: dict[str, Any] = {"hidden": (8,), "epochs": 3, "folds": 3, "n": 60, "quiet": True}
    first = cross_validate("mlp", "moons", **small)
    again = cross_validate("mlp", "moons", **small)
    other = cross_validate("mlp", "moons", **{**small, "seed": 1})
    assert first.scores == again.scores
    assert first.scores != other.scores
    assert first.stratified
    assert first.metric == "accuracy"
    assert [fold.trained_on for fold in first.folds] == [40, 40, 40]


def test_an_ensemble_of_models_with_a_rule_of_their_own_keeps_no_rows_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[int | None] = []

    def looked(prepared: Prepared, **more: Any) -> Any:
        val = prepared.data.val
        seen.append(None if val is None else len(val))
        return train(prepared, **more)

    monkeypatch.setattr("netwright.recipes.judging.cross_validate.train", looked)
    for of in ("decision-tree", "logistic"):
        cross_validate("bagging", "moons", of=of, members=2, n=60, epochs=1, folds=2, quiet=True)
    assert seen[:2] == [None, None]
    assert all(seen[2:])


def test_the_held_out_rows_choose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # They are the test split of the fold, beside 2 rows that the best epoch is chosen by.
    seen: list[Prepared] = []

    def watched(prepared: Prepared, **settings: Any) -> nw.Run:
        seen.append(prepared)
        return train(prepared, **settings)

    monkeypatch.setattr("netwright.recipes.judging.cross_validate.train", watched)
    cross_validate("mlp", "moons", hidden=(4,), epochs=1, folds=2, n=40, quiet=True)
    for prepared in seen:
        data = prepared.data
        assert [len(split) for _, split in data.splits()] == [18, 2, 20]
        rows = torch.cat([split.inputs for _, split in data.splits()])
        assert len({tuple(row) for row in rows.tolist()}) == 40


def test_labels_weights_metrics_and_a_module_of_one_s_own() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(40, 3))
    labels = (inputs[:, :2] > 0).astype(int)
    weights = rng.uniform(0.5, 1.5, 40)
    many = cross_validate(
        "mlp", (inputs, labels, weights), hidden=(4,), epochs=2, folds=2, metric="f1", quiet=True
    )
    assert (many.metric, many.stratified) == ("f1", False)
    module = nn.Linear(3, 2)
    before = module.weight.detach().clone()
    own = cross_validate(module, (inputs, labels), epochs=2, folds=2, quiet=True)
    assert len(own.scores) == 2
    assert torch.equal(module.weight, before)
    assert own.setting.startswith("a module on 40 rows of arrays: 2 folds")


def test_tables_and_frames_are_taken_as_fit_takes_them(table_file: Path) -> None:
    import pandas as pd

    small: dict[str, Any] = {
        "target": "kind",
        "folds": 3,
        "epochs": 2,
        "hidden": (4,),
        "quiet": True,
    }
    by_path = cross_validate("mlp", table_file, **small)
    by_frame = cross_validate("mlp", pd.read_csv(table_file), **small)
    assert by_path.rows == 60
    assert by_path.scores == by_frame.scores
    assert by_path.notes == ()


def test_progress_is_a_line_a_fold(capsys: pytest.CaptureFixture[str]) -> None:
    cross_validate("least-squares", "line", folds=2, n=20)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("1/2  rmse ")


def test_what_cannot_be_is_refused() -> None:
    for settings, sentence in (
        ({"folds": 1}, "folds must be an integer of at least 2, got 1"),
        ({"folds": True}, "folds must be an integer of at least 2, got True"),
        ({"repeats": 0}, "repeats must be an integer of at least 1, got 0"),
        ({"folds": 21}, "folds must be at most the 20 rows of line, got 21"),
        ({"stratify": True}, "stratify is for classification, line has no classes"),
        ({"metric": "accuracy"}, "accuracy is not for a target of kind 'real'; there are rmse, "),
    ):
        with pytest.raises(ConfigError) as refused:
            cross_validate("least-squares", "line", n=20, quiet=True, **settings)
        assert str(refused.value).startswith(sentence)
    with pytest.raises(DataError, match=r"^r2 has no value on the 1 rows of fold 1$"):
        cross_validate("least-squares", "line", n=20, folds=20, metric="r2", quiet=True)
    with pytest.raises(ConfigError, match=r"^repeat 1, fold 1: batch_size 30 is more than the 18"):
        cross_validate("mlp", "moons", n=40, folds=2, batch_size=30, quiet=True)


def test_a_fixed_test_split_has_no_part_in_it() -> None:
    data = nw.data.load("line", n=50)
    assert cross_validate("least-squares", data, folds=4, quiet=True).rows == 40


def test_no_group_of_a_table_is_in_two_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame(
        {"x": np.arange(40.0), "who": [row // 4 for row in range(40)], "y": np.arange(40.0) % 3}
    )
    seen: list[tuple[int, int]] = []

    def watched(prepared: Prepared, **how: Any) -> nw.Run:
        held = [
            {int(float(row["x"])) // 4 for row in prepared.data.preprocessor.decode(split.inputs)}
            for _, split in prepared.data.splits()
        ]
        seen.append((sum(map(len, held)), len(set.union(*held))))
        return train(prepared, **how)

    monkeypatch.setattr("netwright.recipes.judging.cross_validate.train", watched)
    settings: dict[str, Any] = {"target": "y", "target_kind": "real", "group_column": "who"}
    found = cross_validate("mlp", frame, folds=2, epochs=1, quiet=True, device="cpu", **settings)
    assert seen == [(10, 10)] * 2
    assert [fold.held_out for fold in found.folds] == [20, 20]
    settings["target_kind"] = "class"
    with pytest.raises(ConfigError, match="stratify cannot be kept where rows are in groups"):
        cross_validate("mlp", frame, folds=2, stratify=True, quiet=True, **settings)


def test_groups_of_texts_cannot_be_folded(reviews_file: Path) -> None:
    frame = pd.read_csv(reviews_file).assign(who=[row // 3 for row in range(30)])
    with pytest.raises(ConfigError, match="cannot be cross-validated by groups"):
        cross_validate("lstm", frame, text="text", target="label", group_column="who", quiet=True)
