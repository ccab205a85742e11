"""A frame and its targets apart from it are one table."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.given.given import Given
from netwright.data.given.labelled_frames import LABELLED_FRAME, is_labelled_frame
from netwright.data.tables.table import TableConfig, from_frame

ROWS = pd.DataFrame({"size": np.arange(8.0), "colour": ["red", "blue"] * 4})
LABELS = pd.Series(list("abababab"), name="kind")
ALL = TableConfig(val_size=0.0, test_size=0.0)


def load(*pair: Any, config: TableConfig = ALL, **beside: Any) -> Any:
    return LABELLED_FRAME.load(Given(data=pair, **beside), config)


def test_it_is_the_table_in_which_the_targets_are_a_column() -> None:
    apart = load(ROWS, LABELS)
    whole = from_frame(
        ROWS.assign(kind=LABELS), TableConfig(target=("kind",), val_size=0.0, test_size=0.0)
    )
    assert apart.spec == whole.spec
    assert apart.preprocessor == whole.preprocessor
    assert apart.train.inputs.equal(whole.train.inputs)
    assert apart.train.targets.equal(whole.train.targets)


def test_numbers_alone_stay_arrays_and_gaps_make_a_table() -> None:
    numbers = ROWS[["size"]]
    assert not is_labelled_frame((numbers, LABELS))
    assert not is_labelled_frame((numbers.to_numpy(), LABELS))
    assert is_labelled_frame((ROWS, LABELS))
    gaps = numbers.where(numbers > 0)
    assert is_labelled_frame((gaps, LABELS))
    assert load(gaps, LABELS).spec.feature_names == ("size", "size_missing")


def test_the_dtype_of_the_targets_says_what_they_are() -> None:
    assert load(ROWS, np.arange(8) % 2).spec.target == "class"
    assert load(ROWS, np.arange(8.0) % 2).spec.target == "real"
    assert load(ROWS, np.eye(8, 2, dtype=int)).spec.target == "labels"
    several = load(ROWS, ROWS[["size"]].assign(other=1.0 - ROWS["size"]))
    assert (several.spec.target, several.spec.target_names) == ("real", ("size_", "other"))
    given = TableConfig(val_size=0.0, test_size=0.0, target_kind="class")
    assert load(ROWS, np.arange(8.0) % 2, config=given).spec.target == "class"


def test_the_frame_is_read_with_the_given_thousands() -> None:
    config = TableConfig(val_size=0.0, test_size=0.0, thousands=".")
    prices = ROWS.assign(price=[f"{n}.500 \u20ac" for n in range(1, 9)])
    offset, _ = load(prices, LABELS, config=config).preprocessor.units()
    assert offset[-1].item() == pytest.approx(5000)


def test_weights_count_and_new_rows_need_none() -> None:
    weights = np.array([0, 0, 0, 0, 0, 0, 1.0, 1.0])
    data = load(ROWS, LABELS, weights, test=(ROWS[:2], LABELS[:2]))
    assert data.train.weights.tolist() == weights.tolist()
    assert data.preprocessor.units()[0][0] == 6.5  # the mean of the rows that count
    assert data.preprocessor.encode_weights(ROWS) is None
    assert data.split("test").weights is None


def test_refuses_what_is_said_twice_and_what_does_not_match() -> None:
    with pytest.raises(ConfigError, match="target is set and stands beside the frame"):
        load(ROWS, LABELS, config=TableConfig(target=("colour",)))
    with pytest.raises(ConfigError, match="weight_column is set and stands beside"):
        load(ROWS, LABELS, np.ones(8), config=TableConfig(weight_column="size"))
    with pytest.raises(DataError, match="frame has 8 rows, but 3 of 'kind'"):
        load(ROWS, LABELS[:3])
    with pytest.raises(ConfigError, match=r"^validation must be \(frame, targets"):
        load(ROWS, LABELS, validation=ROWS)
