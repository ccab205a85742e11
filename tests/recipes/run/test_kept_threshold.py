"""A kept threshold: everything that decides takes it, after the run is opened again too."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.inspection.predictions.threshold_curves import ThresholdCurves

HOW: dict[str, Any] = {"target": "y", "quiet": True}


@pytest.fixture(scope="module")
def rare() -> pd.DataFrame:
    """One row in ten is a yes, and x says so only roughly."""
    numbers = np.random.default_rng(0)
    x = numbers.normal(size=300)
    likely = 1 / (1 + np.exp(3.0 - 1.5 * x))
    return pd.DataFrame({"x": x, "y": np.where(numbers.random(300) < likely, "yes", "no")})


@pytest.fixture(scope="module")
def fitted(rare: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> nw.Run:
    folder = tmp_path_factory.mktemp("runs") / "run"
    return nw.fit("logistic-newton", rare, threshold="cost=20", out=folder, **HOW)


@pytest.fixture(scope="module")
def run(fitted: nw.Run) -> nw.Run:
    assert fitted.folder is not None
    return nw.open_run(fitted.folder)


def test_predictions_and_measures_are_at_the_threshold(run: nw.Run, rare: pd.DataFrame) -> None:
    kept = run.task.threshold
    assert kept is not None
    assert kept < 0.3  # a miss is dear
    chances = run.predict_proba(rare)["yes"]
    said = run.predict(rare)
    assert ((said == "yes") == (chances > kept)).all()
    assert (run.predict(rare, threshold=0.5) == "yes").sum() < (said == "yes").sum()
    measured = run.evaluate(rare)
    assert measured["recall"] == pytest.approx(
        ((said == "yes") & (rare["y"] == "yes")).sum() / (rare["y"] == "yes").sum()
    )
    assert measured["accuracy"] == pytest.approx((said == rare["y"]).mean())


def test_the_baseline_is_the_commonest_class_whatever_the_threshold(
    run: nw.Run, rare: pd.DataFrame
) -> None:
    assert run.baseline(rare)["accuracy"] == pytest.approx((rare["y"] == "no").mean())


def test_the_run_says_how_it_was_chosen(run: nw.Run, fitted: nw.Run) -> None:
    (note,) = [note for note in run.results["notes"] if "chosen by" in note]
    assert "chosen by cost=20 on" in note
    assert "at 0.5" in note
    marked = fitted.views()["threshold-curves"]
    assert isinstance(marked, ThresholdCurves)
    assert marked.threshold == run.task.threshold


def test_whoever_trains_is_told_of_it_and_of_the_calibration(
    rare: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    how = HOW | {"quiet": False, "threshold": "cost=20", "calibrate": "temperature"}
    run = nw.fit("logistic-newton", rare, save=False, **how)
    said = " ".join(capsys.readouterr().err.split())
    kept = [note for note in run.results["notes"] if "validation rows" in note]
    assert len(kept) == 2
    assert all(f"note: {note}" in said for note in kept)


@pytest.mark.usefixtures("undrawn")
def test_the_report_says_it(fitted: nw.Run, tmp_path: Path) -> None:
    page = fitted.report(tmp_path / "page.html").read_text()
    assert f"is predicted above probability {fitted.task.threshold:.3g}, chosen by cost=20" in page
    assert "decision regions and examples follow it" in page


def test_estimators_keep_it_too(rare: pd.DataFrame) -> None:
    model = nw.NetClassifier("logistic-newton", val_size=0.3, threshold="cost=20", random_state=0)
    model.fit(rare[["x"]], rare["y"])
    usual = nw.NetClassifier("logistic-newton", val_size=0.3, random_state=0)
    usual.fit(rare[["x"]], rare["y"])
    assert (model.predict(rare[["x"]]) == "yes").sum() > (usual.predict(rare[["x"]]) == "yes").sum()


def test_refused_before_a_folder_is_made(rare: pd.DataFrame, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(ConfigError, match="threshold is chosen on validation rows"):
        nw.fit("logistic-newton", rare, threshold="f1", val_size=0.0, out=out, **HOW)
    with pytest.raises(ConfigError, match="threshold is for 2 classes, iris has 3 classes"):
        nw.fit("softmax-newton", "iris", threshold="f1", out=out, quiet=True)
    with pytest.raises(ConfigError, match="threshold must be like f1"):
        nw.fit("logistic-newton", rare, threshold="often", out=out, **HOW)
    assert not out.exists()
