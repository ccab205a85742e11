"""Numbers that no training gives are refused, each by the name of its field."""

import pytest

from netwright.core.errors import DataError
from netwright.data.encoder_checks import check_count, check_positive, check_sizes
from tests.repetition import for_each


def test_what_training_gives_is_taken() -> None:
    check_positive("scale", 0.1, 2.0)
    check_sizes("input_shape", 3, 1, 5)
    check_count(2, mean=(0.0, 1.0), columns=("a", "b"))


@for_each("number", [0, -1, -0.5, -(10**400)])
def test_what_is_not_positive_is_refused(number: float) -> None:
    with pytest.raises(
        DataError, match=f"^length of a saved encoder must be positive, got {number}"
    ):
        check_positive("length", 2, number)


def test_sizes_are_positive_and_have_room(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"^window of a saved encoder must be positive, got -1$"):
        check_sizes("window", -1, -1)
    monkeypatch.setenv("NETWRIGHT_MAX_INPUT_NUMBERS", "6")
    check_sizes("window", 2, 3)
    with pytest.raises(DataError, match=r"^an example holds 8 numbers, at most 6 numbers are"):
        check_sizes("window", 2, 4)


@pytest.mark.parametrize("entries", [(), (1,), (1, 2, 3)])
def test_another_number_of_entries_is_refused(entries: tuple[int, ...]) -> None:
    sentence = f"^mean of a saved encoder must have 2 entries, got {len(entries)}$"
    with pytest.raises(DataError, match=sentence):
        check_count(2, mean=entries)
