"""Targets far from zero and close together: refused where single precision loses them."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from netwright.core.errors import DataError
from netwright.data.arrays import from_arrays
from netwright.data.coarse_targets import check_not_coarse
from netwright.data.tables.frames import rows_table
from netwright.data.tables.targets import TargetEncoder

SCORES = np.arange(300.0)  # a standard deviation of 86.6; near 1e9 float32 goes in steps of 64
SENTENCE = (
    "standard deviation of 86.6 around 1000000150, where .* steps of 64: subtract 1000000150 from"
)


def test_what_rounding_takes_is_told() -> None:
    check_not_coarse("targets", SCORES + 1e8)  # in steps of 8: 2.3 of 86.6 are lost
    check_not_coarse("targets", np.full(5, 1e9 + 1))  # a constant is one in single precision too
    check_not_coarse("targets", (SCORES + 1e9).astype(np.float32))  # nothing more is lost
    with pytest.raises(DataError, match=f"^targets have a {SENTENCE}"):
        check_not_coarse("targets", SCORES + 1e9)


@pytest.mark.parametrize("targets", [SCORES + 1e9, 1763584255 + SCORES / 1e3, SCORES + 2**54])
def test_who_does_as_told_is_not_told_again(targets: NDArray[np.float64]) -> None:
    with pytest.raises(DataError) as refusal:
        check_not_coarse("targets", targets)
    told = re.search(r"subtract (\S+) from", str(refusal.value))
    assert told
    check_not_coarse("targets", targets - float(told[1]))


def test_one_value_that_is_rounded_in_two_ways_is_not_told_of() -> None:
    check_not_coarse("targets", np.array([0.3, 0.1 + 0.2] * 9))
    check_not_coarse("targets", SCORES * 1e-46)  # to single precision these are 0


def test_arrays_and_tables_of_such_targets_are_refused() -> None:
    both = np.stack((SCORES, SCORES + 1e9), axis=1)
    with pytest.raises(DataError, match=SENTENCE):
        from_arrays(SCORES[:, None], both)
    table = rows_table([{"x": 1, "y": value} for value in both[:, 1].tolist()])
    with pytest.raises(DataError, match=f"^input: the values of 'y' have a {SENTENCE}"):
        TargetEncoder.fit(table, ("y",), "auto")


def test_rows_that_are_not_all_may_lie_close_together() -> None:
    inputs = np.arange(300.0)[:, None]
    assert from_arrays(inputs, SCORES + 1e9, is_part=True).spec.target == "real"
    with pytest.raises(DataError, match=SENTENCE):
        from_arrays(inputs, SCORES + 1e9)
