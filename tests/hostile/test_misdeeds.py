"""The jail and the canaries see what a command must not do."""

import pytest

from tests.hostile.guard import Guard
from tests.hostile.misdeeds import MISDEEDS, SLOW

HARMLESS = "the run itself is a link of the user"


def test_a_command_that_does_nothing_wrong_is_not_blamed(guard: Guard) -> None:
    assert not guard.try_case(HARMLESS).faults


@pytest.mark.parametrize("name", [misdeed.__name__ for misdeed in MISDEEDS])
def test_a_misdeed_is_seen(guard: Guard, name: str) -> None:
    wanted = {misdeed.__name__: fault for misdeed, fault in MISDEEDS.items()}[name]
    assert wanted in guard.try_case(HARMLESS, planted=name).faults


@pytest.mark.slow
@pytest.mark.parametrize("name", [misdeed.__name__ for misdeed in SLOW])
def test_a_hang_is_seen(guard: Guard, name: str) -> None:
    assert "hang" in guard.try_case(HARMLESS, planted=name).faults
