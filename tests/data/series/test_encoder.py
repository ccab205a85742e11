"""Windows of a series: worked out by hand; nothing of the future is in them."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.series.encoder import SeriesEncoder
from netwright.data.series.table import SeriesConfig, from_frame

ROWS = [
    {"day": str(day), "x": str(10 * day), "y": str(day * day), "kind": "ab"[day % 2]}
    for day in range(12)
]
ALL: dict[str, Any] = {"val_size": 0, "test_size": 0, "time": "day", "target_kind": "real"}


def encoder(**settings: Any) -> SeriesEncoder:
    data = from_frame(ROWS, SeriesConfig(target=("y",), **ALL, **settings))
    assert isinstance(data.preprocessor, SeriesEncoder)
    return data.preprocessor


def raw(windows: torch.Tensor, own: SeriesEncoder) -> list[Any]:
    """Windows in the units of the table."""
    offset, scale = own.units()
    plain = windows.flatten(1).double() * scale + offset
    values: list[Any] = plain.reshape(windows.shape).round(decimals=3).tolist()
    return values


@pytest.mark.parametrize("horizon", [1, 3])
def test_a_window_is_the_rows_up_to_the_last_known_one(horizon: int) -> None:
    own = encoder(window=4, horizon=horizon)
    windows, targets = own.encode(ROWS), own.encode_targets(ROWS)
    assert own.feature_names == ("x", "y")
    assert len(windows) == len(targets) == 12 - 4 - horizon + 1
    for place, (window, target) in enumerate(zip(raw(windows, own), targets, strict=True)):
        days = range(place, place + 4)
        assert window == [[10 * day, day * day] for day in days]
        assert target.item() == (days[-1] + horizon) ** 2


def test_a_known_column_is_that_of_the_forecast_row_at_every_step() -> None:
    own = encoder(window=2, horizon=2, features=("x",), known=("kind",))
    assert own.feature_names == ("x", "kind=a", "kind=b")
    windows = raw(own.encode(ROWS), own)
    for place, window in enumerate(windows):
        day = place + 3  # that is forecast
        known = [float(day % 2 == 0), float(day % 2 == 1)]
        assert window == [[10 * place, *known], [10 * (place + 1), *known]]
    assert own.decode(own.encode(ROWS))[0] == {"x": "10", "kind (forecast)": "b"}


def test_a_row_without_values_is_forecast_as_well() -> None:
    own = encoder(window=4)
    ahead = [*ROWS, {"day": "12", "x": "", "y": "", "kind": ""}]
    assert own.remarks(ahead) == ()
    windows = own.encode(ahead)
    torch.testing.assert_close(windows[:-1], own.encode(ROWS))
    assert raw(windows, own)[-1] == [[10 * day, day * day] for day in range(8, 12)]


def test_what_comes_later_does_not_change_a_window() -> None:
    own = encoder(window=3)
    other = [row | {"x": "-7", "y": "-7"} if int(row["day"]) > 6 else row for row in ROWS]
    torch.testing.assert_close(own.encode(other)[:5], own.encode(ROWS)[:5], rtol=0, atol=0)
    assert not torch.equal(own.encode(other)[5], own.encode(ROWS)[5])


def test_persistence_is_the_last_known_target() -> None:
    own = encoder(window=3)
    last = own.persistence(own.encode(ROWS))
    assert last is not None
    torch.testing.assert_close(last[:, 0], torch.arange(2.0, 11.0).square())
    assert encoder(window=3, features=("x",)).persistence(torch.zeros(1, 3, 1)) is None


def test_the_encoder_travels_as_json() -> None:
    for own in (encoder(window=4, horizon=2, known=("kind",)), encoder(window=2)):
        travelled = SeriesEncoder.from_json(json.loads(json.dumps(own.to_json())))
        assert travelled == own
        torch.testing.assert_close(travelled.encode(ROWS), own.encode(ROWS), rtol=0, atol=0)
    with pytest.raises(DataError, match=r"^a series encoder must have format 1, got 2$"):
        SeriesEncoder.from_json({"format": 2})


def test_what_is_new_in_known_columns_is_told() -> None:
    own = encoder(window=2, known=("kind",))
    new = [*ROWS, {"day": "12", "x": "", "y": "", "kind": "c"}]
    assert own.remarks(new) == ("kind: a value not seen in training, 'c', in 1 row",)


def test_too_few_rows_and_times_that_go_back_are_refused() -> None:
    own = encoder(window=4, horizon=2)
    sentence = "a forecast needs 5 rows before it, got 5 rows in all"
    with pytest.raises(DataError, match=re.escape(sentence)):
        own.encode(ROWS[:5])
    assert len(own.encode(ROWS[:6])) == 1
    with pytest.raises(DataError, match="'0' must come after '11', the previous row"):
        own.encode([*ROWS, ROWS[0]])


def test_the_last_step_is_shown_by_its_columns() -> None:
    alone = encoder(window=2, horizon=1)
    first = alone.decode(alone.encode(ROWS))[0]
    assert {name: float(cell) for name, cell in first.items()} == pytest.approx({"x": 10, "y": 1})
    forecast = encoder(window=2, horizon=2, features=("x",), known=("kind",))
    shown = forecast.decode(forecast.encode(ROWS))[0]
    assert list(shown) == ["x", "kind (forecast)"]
    assert shown["kind (forecast)"] == "b"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"window": 0}, "window of a saved encoder must be positive, got 0"),
        ({"window": 10**9}, "an example holds 3,000,000,000 numbers"),
        ({"horizon": -1}, "horizon of a saved encoder must be positive, got -1"),
    ],
)
def test_numbers_that_no_training_gives_are_refused(changes: dict[str, Any], sentence: str) -> None:
    own = encoder(window=2, features=("x",), known=("kind",))
    own.check_numbers()
    with pytest.raises(DataError, match=f"^{sentence}"):
        replace(own, **changes).check_numbers()
    assert own.known is not None
    for part in ("past", "known"):
        without = replace(getattr(own, part), features=())
        with pytest.raises(DataError, match=r"^the number of features of a saved encoder"):
            replace(own, **{part: without}).check_numbers()
