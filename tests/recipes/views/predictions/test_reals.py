"""The views of reals: in the order of time, with the cells of their rows, refused of classes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.train.evaluate import predict


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("view", "told"),
    [
        ("residuals", "residuals are"),
        ("fitted-curve", "a fitted curve is"),
        ("prediction-surface", "a prediction surface is"),
        ("forecast", "a forecast is"),
        ("worst-errors", "worst errors are"),
    ],
)
def test_classes_have_none_of_them(moons_run: nw.Run, view: str, told: str) -> None:
    sentence = (
        f"^{told} for real values, this run predicts classes; `netwright inspect RUN` lists the "
    )
    with pytest.raises(ConfigError, match=sentence):
        nw.inspect(moons_run, view)


@pytest.mark.slow
def test_worst_errors_of_a_sample_are_shown_with_the_cells_of_their_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs = np.random.default_rng(0).normal(size=(200, 1))
    np.save(tmp_path / "x.npy", inputs)
    stored = np.load(tmp_path / "x.npy", mmap_mode="r")
    run = nw.fit("linear-regression", (stored, inputs**2), kind="real", epochs=1, quiet=True)
    split = run.data.split("test")
    monkeypatch.setattr("netwright.data.loading.stored.sample_stored.__defaults__", (10,))
    page = run.report(tmp_path / "page.html").read_text(encoding="utf-8")
    told = json.loads((tmp_path / "page.json").read_text(encoding="utf-8"))
    shown = told["views"]["worst-errors"]["outputs"][0]["rows"]
    assert len(shown) == 10
    assert max(one["row"] for one in shown) == len(split) - 1
    for one in shown:
        assert split.targets[one["row"], 0] == pytest.approx(one["true"])
        (cell,) = run.preprocessor.decode(split.inputs[[one["row"]]])[0].values()
        assert f">{cell}</td>" in page


def test_a_series_is_forecast_in_the_order_of_time() -> None:
    rows = "\n".join(f"{day},{np.sin(day):.6f}" for day in range(60))
    Path("waves.csv").write_text(f"day,height\n{rows}\n")
    settings: dict[str, Any] = {"target": ("height",), "time": "day", "window": 3}
    series = nw.data.load("series", path="waves.csv", **settings)
    run = nw.fit("elman", series, hidden=4, epochs=1, device="cpu", quiet=True)
    views = run.views()
    assert {"residuals", "forecast", "worst-errors", "state-norms"} <= views.keys()
    assert not {"prediction-surface", "fitted-curve"} & views.keys()
    (told,) = views["forecast"].to_json()["outputs"]
    split = run.data.split("test")
    assert told["true"] == pytest.approx(split.targets[:, 0].tolist())
    said = predict(run.model, split.inputs, run.task)
    assert told["predicted"] == pytest.approx(said[:, 0].tolist())
    changes = np.diff(np.sin(np.arange(60)))[-len(split) :]
    assert told["persistence_rmse"] == pytest.approx(np.sqrt((changes**2).mean()), abs=1e-5)
