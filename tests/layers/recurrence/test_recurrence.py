"""The kind that all recurrent layers are: it asks for a start, a pass and a step."""

import pytest

from netwright.layers.recurrence.recurrence import Recurrence


def test_a_recurrence_is_abstract() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Recurrence(2, 3)  # type: ignore[abstract]


def test_a_recurrence_asks_for_a_start_a_pass_and_a_step() -> None:
    assert Recurrence.__abstractmethods__ == {"start", "forward", "step"}
