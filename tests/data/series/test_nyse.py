"""NYSE: its own division, its columns, and what an autoregression makes of it."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from netwright.core.errors import DownloadError
from netwright.data.series.encoder import SeriesEncoder
from netwright.data.series.nyse import FILE, SOURCE, NyseConfig, load_nyse
from netwright.metrics.regression import r2
from netwright.models.linear.regression import LeastSquares, LeastSquaresConfig


@pytest.mark.parametrize(
    ("config", "width", "expected", "margin"),
    [
        (NyseConfig(), 3, 0.413, 0.005),
        (NyseConfig(val_size=0), 3, 0.413, 0.005),
        (NyseConfig(day_of_week=True), 8, 0.46, 0.01),
    ],
    ids=["as-it-is", "all-training-days", "day-of-week"],
)
def test_an_autoregression_explains_as_much_as_is_published(
    config: NyseConfig,
    width: int,
    expected: float,
    margin: float,
    real_data: Callable[[str], Path],
) -> None:
    real_data("islr/NYSE.csv")
    data = load_nyse(config)
    assert data.test is not None
    assert (data.name, data.spec.input_shape) == ("nyse", (5, width))
    assert (data.val is None) == (config.val_size == 0)
    assert len(data.train) + (len(data.val) if data.val else 0) == 4_281 - 5
    assert len(data.test) == 1_770
    assert data.test_is_given
    model = LeastSquares.build(LeastSquaresConfig(), data.spec)
    list(model.fit_steps(data.train, 0))
    with torch.no_grad():
        said = model(data.test.inputs)
    assert r2(said, data.test.targets) == pytest.approx(expected, abs=margin)
    assert isinstance(data.preprocessor, SeriesEncoder)
    last = data.preprocessor.persistence(data.test.inputs)
    assert last is not None
    assert r2(last, data.test.targets) < 0.2


def test_an_absent_file_is_refused_with_the_file_to_get(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("NETWRIGHT_DATA", raising=False)
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path))
    monkeypatch.setenv("NETWRIGHT_OFFLINE", "1")
    with pytest.raises(DownloadError, match=re.escape("put NYSE.csv into")):
        SOURCE.load(NyseConfig())
    assert FILE.addresses[0].endswith("/ISLP/data/NYSE.csv")
