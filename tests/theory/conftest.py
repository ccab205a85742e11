"""Of every claim's contract one experiment runs in `make test`, all of them in `make test-slow`.

The verdict as expected stays. That a bug turns it each claim's own file tests; charts of every
kind are drawn beside the chart itself.
"""

import pytest

from netwright.testing.claim_contract import (
    check_a_seed_gives_one_verdict,
    check_chart_can_be_drawn,
    check_each_assumption_turns_it,
    check_verdict_is_as_expected,
)
from netwright.theory.claims import Claim
from tests.theory.shared_verdict import shared

SLOW = (check_a_seed_gives_one_verdict, check_chart_can_be_drawn, check_each_assumption_turns_it)

AS_IT_IS = (check_verdict_is_as_expected, check_chart_can_be_drawn, check_a_seed_gives_one_verdict)


@pytest.fixture(autouse=True)
def one_experiment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the checks of a claim as it is share its verdict."""
    call = getattr(request.node, "callspec", None)
    if call is None or call.params.get("check") not in AS_IT_IS:
        return
    monkeypatch.setattr(Claim, "check", shared(Claim.check))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each of these takes an experiment or two, for each of a hundred claims."""
    for item in items:
        call = getattr(item, "callspec", None)  # of the claims alone: a toy has it in `make test`
        if not item.nodeid.startswith("tests/theory/") or call is None:
            continue
        if call.params.get("check") in SLOW:
            item.add_marker(pytest.mark.slow)
