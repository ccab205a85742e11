"""Kept calibration: every probability is calibrated, after the run is opened again too."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.train.tasks.catalog import task_from_json
from netwright.train.tasks.classification import Classification

HOW: dict[str, Any] = {"target": "y", "quiet": True, "hidden": (32,), "epochs": 60, "lr": 0.01}


@pytest.fixture(scope="module")
def noisy() -> pd.DataFrame:
    """Classes that are half by chance, of which a network becomes too sure."""
    numbers = np.random.default_rng(0)
    x = numbers.normal(size=(300, 6))
    likely = 1 / (1 + np.exp(-x[:, 0]))
    frame = pd.DataFrame(x, columns=list("abcdef"))
    return frame.assign(y=np.where(numbers.random(300) < likely, "yes", "no"))


@pytest.fixture(scope="module")
def runs(noisy: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> tuple[nw.Run, nw.Run]:
    """The same run without and with a temperature, the second opened again."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    last = {**HOW, "restore_best": False}
    plain = nw.fit("mlp", noisy, save=False, **last)
    nw.fit("mlp", noisy, calibrate="temperature", out=folder, **last)
    return plain, nw.open_run(folder)


def test_too_sure_answers_become_honest_and_stay_the_same_classes(
    runs: tuple[nw.Run, nw.Run], noisy: pd.DataFrame
) -> None:
    plain, kept = runs
    assert isinstance(kept.task, Classification)
    temperature = kept.task.temperature
    assert temperature is not None
    assert temperature > 1.2
    before, after = plain.results["metrics"], kept.results["metrics"]
    assert after["log_loss"] < before["log_loss"]
    assert after["brier"] < before["brier"]
    assert after["accuracy"] == before["accuracy"]
    odds = [
        np.log(run.predict_proba(noisy)["yes"] / run.predict_proba(noisy)["no"]) for run in runs
    ]
    np.testing.assert_allclose(odds[1] * temperature, odds[0], rtol=1e-3, atol=1e-4)


def test_the_run_says_it(runs: tuple[nw.Run, nw.Run]) -> None:
    (note,) = [note for note in runs[1].results["notes"] if "temperature" in note]
    assert "divided by the temperature" in note
    assert "validation rows, whose log loss goes from" in note


def test_curves_are_kept_and_make_answers_honest(
    runs: tuple[nw.Run, nw.Run], noisy: pd.DataFrame, tmp_path: Path
) -> None:
    last = {**HOW, "restore_best": False, "calibrate": "isotonic", "val_size": 0.3}
    noisy.to_csv(tmp_path / "noisy.csv", index=False)
    nw.fit("mlp", tmp_path / "noisy.csv", out=tmp_path / "run", **last)
    run = nw.open_run(tmp_path / "run")
    plain = nw.fit("mlp", noisy, save=False, **{**last, "calibrate": None})
    assert run.results["metrics"]["log_loss"] < plain.results["metrics"]["log_loss"]
    assert isinstance(run.task, Classification)
    (curve,) = run.task.curves
    chances, before = (one.predict_proba(noisy)["yes"] for one in (run, plain))
    np.testing.assert_allclose(chances, np.interp(before, curve.knots, curve.values), atol=1e-5)
    said = [note for note in run.results["notes"] if "calibrat" in note]
    assert "they go through rising curves, found on" in said[0]
    assert said[1].startswith("isotonic calibration on fewer than 1,000 validation rows")
    run.export("torch-export", tmp_path / "out")  # which compares what it says with the run


def test_curves_of_another_number_of_classes_are_refused(runs: tuple[nw.Run, nw.Run]) -> None:
    kept = runs[1].task.to_json()
    curve = {"knots": [0.1, 0.2], "values": [0.3, 0.4]}
    assert isinstance(task_from_json({**kept, "curves": [curve]}), Classification)
    for wrong in ([curve, curve], [{"knots": [0.1]}], "curves"):
        with pytest.raises(DataError, match=r"2 classes cannot have these curves"):
            task_from_json({**kept, "curves": wrong})


def test_a_threshold_is_chosen_among_calibrated_probabilities(noisy: pd.DataFrame) -> None:
    run = nw.fit(
        "decision-tree",
        noisy,
        target="y",
        calibrate="temperature",
        threshold="cost=5",
        max_depth=4,
        save=False,
        quiet=True,
    )
    assert run.task.threshold is not None
    chances = run.predict_proba(noisy)["yes"]
    assert ((run.predict(noisy) == "yes") == (chances > run.task.threshold)).all()


def test_refusals(noisy: pd.DataFrame, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(ConfigError, match="calibrate needs validation rows"):
        nw.fit("mlp", noisy, calibrate="temperature", val_size=0.0, out=out, **HOW)
    with pytest.raises(ConfigError, match=r"needs 10 validation rows or more, .* has 9: raise val"):
        nw.fit("mlp", noisy, calibrate="isotonic", validation=noisy[:9], out=out, **HOW)
    sure = noisy[noisy["y"] == "yes"]
    with pytest.raises(
        ConfigError, match=r"rows of several classes, .* all of one: raise val_size"
    ):
        nw.fit("mlp", noisy, calibrate="temperature", validation=sure, out=out, **HOW)
    with pytest.raises(ConfigError, match="calibrate is for classes, diabetes has real targets"):
        nw.fit("ridge", "diabetes", calibrate="temperature", out=out, quiet=True)
    with pytest.raises(ConfigError, match="calibrate"):
        nw.fit("mlp", noisy, calibrate="often", out=out, **HOW)
    assert not out.exists()
