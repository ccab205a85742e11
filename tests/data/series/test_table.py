"""Tables in the order of time: what is read, how it is divided, and that least squares finds it."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from netwright.core.errors import ConfigError, DataError, NetwrightError
from netwright.data.dataset import Data
from netwright.data.series.encoder import SeriesEncoder
from netwright.data.series.table import SOURCE, SeriesConfig, from_frame, load_series
from netwright.metrics.regression import mse, r2
from netwright.models.linear.regression import LeastSquares, LeastSquaresConfig
from tests.repetition import for_each

ROWS = [
    {
        "date": f"2024-01-{day + 1:02d}",
        "volume": f"{(7 * day) % 11 + 0.5}",
        "price": f"{day}",
        "day": "mtwtf"[day % 5],
        "part": "train" if day < 20 else "test",
    }
    for day in range(30)
]


def load(**settings: Any) -> Data:
    given: dict[str, Any] = {"target": ("volume",), "window": 3}
    return from_frame(ROWS, SeriesConfig(**(given | settings)))


def test_windows_are_divided_in_the_order_of_time() -> None:
    data = load(time="date")
    targets = torch.tensor([float(row["volume"]) for row in ROWS])
    assert [len(split) for _, split in data.splits()] == [19, 3, 5]
    joined = torch.cat([split.targets for _, split in data.splits()])
    torch.testing.assert_close(joined[:, 0], targets[3:])  # each row once, none before its turn
    assert data.spec.inputs == "series"
    assert data.spec.input_shape == (3, 2)
    assert data.spec.target_names == ("volume",)
    assert data.notes[0] == (
        "windows: 19 train, 3 val, 5 test (in chronological order; later splits read past rows of "
        "earlier ones)"
    )
    assert data.notes[1] == "3 past rows are read to forecast the next row"
    assert "numbers: volume, price" in data.notes


def test_only_training_rows_decide_the_scale() -> None:
    data = load(split_column="part", val_size=0.2)
    assert isinstance(data.preprocessor, SeriesEncoder)
    assert [len(split) for _, split in data.splits()] == [14, 3, 10]
    assert data.test_is_given
    offset, scale = data.preprocessor.past.units()
    seen = np.array([[float(row["volume"]), float(row["price"])] for row in ROWS[: 3 + 14]])
    np.testing.assert_allclose(offset, seen.mean(axis=0))
    np.testing.assert_allclose(scale, seen.std(axis=0))


def test_the_named_columns_are_read_and_the_others_are_not() -> None:
    data = load(features=("price", "day"), known=("day",))
    assert isinstance(data.preprocessor, SeriesEncoder)
    names = data.preprocessor.feature_names
    assert names[:5] == ("price", "day=f", "day=m", "day=t", "day=w")
    assert names[5:] == names[1:5]
    forced = load(features=("price",), types={"price": "category"}, test_size=0, val_size=0)
    assert forced.spec.input_shape == (3, 30)


def test_a_class_is_forecast_from_its_own_past() -> None:
    data = load(target=("day",), horizon=2)
    assert isinstance(data.preprocessor, SeriesEncoder)
    assert data.spec.target == "class"
    assert data.spec.class_names == ("f", "m", "t", "w")
    assert data.preprocessor.feature_names == (
        "volume",
        "price",
        "day=f",
        "day=m",
        "day=t",
        "day=w",
    )
    assert data.preprocessor.persistence(data.train.inputs) is None
    assert "3 past rows are read to forecast 2 rows ahead" in data.notes


def test_whole_numbers_with_few_values_are_classes_without_a_distance_from_the_last() -> None:
    rows = [{**row, "visits": str(place % 3)} for place, row in enumerate(ROWS)]
    data = from_frame(rows, SeriesConfig(target=("visits",), window=3))
    assert data.spec.target == "class"
    assert not [note for note in data.notes if "is off by" in note]


def test_a_file_is_read_as_its_rows_are(tmp_path: Path) -> None:
    path = tmp_path / "days.csv"
    lines = [",".join(ROWS[0]), *(",".join(row.values()) for row in ROWS)]
    path.write_text("\n".join(lines))
    data = load_series(SeriesConfig(path=str(path), target=("volume",), window=3))
    torch.testing.assert_close(data.test.inputs, load().test.inputs)  # type: ignore[union-attr]
    assert data.name == "days.csv"
    assert SOURCE.load is load_series


def test_the_note_tells_how_far_off_the_last_value_is() -> None:
    volumes = np.array([float(row["volume"]) for row in ROWS])
    error = np.sqrt(np.square(np.diff(volumes))[-5:].mean())
    said = f"repeating the last known value has an error of {error:.4g} of volume"
    assert load().notes[-1] == f"{said} (test, root mean square)"


@for_each(
    ("settings", "sentence"),
    [
        ({"target": ()}, "target is missing, wanted a column of input: date, volume, price, day, "),
        ({"target": ("volum",)}, "did you mean 'volume'?"),
        ({"features": ("pric",)}, "input has no column 'pric'; did you mean 'price'?"),
        ({"known": ("dai",)}, "input has no column 'dai'; did you mean 'day'?"),
        ({"types": {"pric": "number"}}, "input has no column 'pric'; did you mean 'price'?"),
        ({"time": "dat"}, "input has no column 'dat'; did you mean 'date'?"),
        ({"split_column": "parts"}, "input has no column 'parts'; did you mean 'part'?"),
        ({"known": ("volume",)}, "the target 'volume' is not known in advance"),
        (
            {"time": "date", "features": ("date",)},
            "'date' gives the time or the split, it cannot be a feature",
        ),
        ({"window": 29}, "30 rows are too few, a window and its target need 30"),
        ({"time": "price", "split_column": "day"}, "'m' is not a split, wanted train, val or test"),
        ({"time": "volume", "target": ("price",)}, "'3.5' must come after '7.5', the previous row"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(NetwrightError, match=re.escape(sentence)):
        load(**settings)


def test_windows_without_a_target_are_left_out_and_a_missing_feature_is_filled() -> None:
    gap = [row | {"price": ""} if row["price"] == "4" else row for row in ROWS]
    data = from_frame(gap, SeriesConfig(target=("volume",), window=3))
    assert isinstance(data.preprocessor, SeriesEncoder)
    assert data.preprocessor.feature_names == ("volume", "price", "price_missing")
    gap = [row | {"volume": ""} if row["price"] == "4" else row for row in ROWS]
    data = from_frame(gap, SeriesConfig(target=("volume",), window=3))
    assert data.notes[0] == "1 of 27 windows are left out, their target is missing: row 4"
    left = [float(row["volume"]) for row in gap[3:] if row["volume"]]
    assert torch.cat([split.targets for _, split in data.splits()])[:, 0].tolist() == left
    assert isinstance(data.preprocessor, SeriesEncoder)
    before = data.preprocessor.persistence(data.split("test").inputs)  # windows and targets agree
    torch.testing.assert_close(before, torch.tensor([[float(row["volume"])] for row in gap[24:29]]))
    with pytest.raises(DataError, match=r"^0 windows are too few for 0 validation and 0 test$"):
        from_frame([row | {"volume": ""} for row in ROWS], SeriesConfig(target=("volume",)))
    with pytest.raises(ConfigError, match="path is empty, wanted the path of a"):
        load_series(SeriesConfig(target=("volume",)))


def test_dates_that_go_back_are_told_where_no_time_is_named() -> None:
    turned = [ROWS[1], ROWS[0], *ROWS[2:]]
    told = (
        "the rows are used in file order, but the dates in 'date' are not sorted; --set "
        "data.time=date checks them"
    )
    assert from_frame(turned, SeriesConfig(target=("volume",), window=3)).notes[0] == told
    assert told not in load().notes


COEFFICIENTS = (0.5, -0.3, 0.2, 0.1, -0.25)  # of the last value, the one before it ...


def autoregressive_values(count: int) -> np.ndarray[Any, Any]:
    """x_t = 1 + sum_i a_i x_{t-i} + e_t, with e_t of variance 1."""
    noise = np.random.default_rng(0).standard_normal(count)
    values = np.zeros(count)
    for t in range(5, count):
        values[t] = 1 + values[t - 5 : t][::-1] @ COEFFICIENTS + noise[t]
    return values


@pytest.mark.covers("ar-model", "dataset-nyse", "time-series-forecasting")
def test_least_squares_finds_an_autoregression_and_beats_persistence() -> None:
    rows = [{"x": repr(float(value))} for value in autoregressive_values(5_600)]
    config = SeriesConfig(target=("x",), window=5, val_size=0, test_size=0.1)
    data = from_frame(rows, config)
    assert isinstance(data.preprocessor, SeriesEncoder)
    assert data.test is not None
    model = LeastSquares.build(LeastSquaresConfig(), data.spec)
    list(model.fit_steps(data.train, 0))
    _, scale = data.preprocessor.units()
    slopes = (model.affine.weight[0].detach() / scale).flip(0)
    np.testing.assert_allclose(slopes, COEFFICIENTS, atol=0.05)
    with torch.no_grad():
        said = model(data.test.inputs)
    last = data.preprocessor.persistence(data.test.inputs)
    assert last is not None
    assert mse(said, data.test.targets) < 0.7 * mse(last, data.test.targets)
    theory = 1 - 1 / float(data.test.targets.var())  # the noise, of variance 1, is all that is left
    assert r2(said, data.test.targets) == pytest.approx(theory, abs=0.05)
