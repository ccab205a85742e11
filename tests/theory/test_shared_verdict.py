"""The checks of a claim share one experiment, and a seed is still tried twice."""

from dataclasses import replace
from typing import Any

import pytest

from netwright.testing.claim_contract import (
    check_a_seed_gives_one_verdict,
    check_chart_can_be_drawn,
    check_each_assumption_turns_it,
    check_verdict_is_as_expected,
)
from netwright.theory.claims import Claim
from netwright.theory.verdict import Verdict
from tests.theory.shared_verdict import shared
from tests.theory.test_claims import measure, toy


class Counted:
    """The toy's experiment, which is told how often it was made; `drifts` if it heeds no seed."""

    def __init__(self, drifts: bool = False) -> None:
        self.times, self.drifts = 0, drifts

    def __call__(self, given: Any, seed: int, effort: Any) -> Verdict:
        self.times += 1
        return measure(given, self.times if self.drifts else seed, effort)


def test_checks_make_one_experiment_where_one_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    counted, times, real = Counted(), [], Claim.check
    claim = replace(toy(), experiment=counted)
    for check in (
        check_verdict_is_as_expected,
        check_chart_can_be_drawn,
        check_a_seed_gives_one_verdict,
        check_each_assumption_turns_it,
    ):
        monkeypatch.setattr(Claim, "check", shared(real))
        check(claim)
        times.append(counted.times)
    assert times == [1, 1, 2, 2 + len(claim.assumptions)]


def test_a_claim_that_heeds_no_seed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    claim, real = replace(toy(), experiment=Counted(drifts=True)), Claim.check
    for _ in range(2):  # with nothing measured before, and beside what was
        monkeypatch.setattr(Claim, "check", shared(real))
        with pytest.raises(AssertionError, match="two checks of one seed differ"):
            check_a_seed_gives_one_verdict(claim)
