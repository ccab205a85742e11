"""The claim contract: a sound claim passes, and each check catches a claim that breaks it."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal

import pytest

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.inspection.training.claim_chart import ClaimChart
from netwright.testing import claim_contract as contract
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict
from tests.repetition import for_each
from tests.theory.test_claims import ToyConfig, measure, toy


@for_each("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_a_sound_claim_passes(check: Callable[[Claim], None]) -> None:
    check(toy())


@dataclass(frozen=True, kw_only=True)
class Silent(Config):
    """A setting without words, and a switch that is off."""

    bound: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Off(Config):
    """A switch that is off."""

    small: Annotated[bool, Assumption("it is small")] = False


def drifting() -> Callable[[Any, int, Effort], Verdict]:
    count = iter(range(100))
    return lambda given, seed, effort: measure(given, next(count), effort)


def always_holds(given: ToyConfig, seed: int, effort: Effort) -> Verdict:
    return measure(ToyConfig(), seed, effort)


class NoPicture(ClaimChart):
    """A chart of which nothing is drawn."""

    def image(self, kind: Literal["svg", "png"]) -> bytes:
        return b""


def undrawable(given: ToyConfig, seed: int, effort: Effort) -> Verdict:
    verdict = measure(given, seed, effort)
    parts = {part.name: getattr(verdict.chart, part.name) for part in fields(verdict.chart)}
    return replace(verdict, chart=NoPicture(**parts))


@for_each(
    ("check", "broken", "words"),
    [
        (
            contract.check_has_a_card,
            replace(toy(), card=Card(sentence="No stop", formula="x", source="here")),
            "full stop",
        ),
        (
            contract.check_has_a_card,
            replace(toy(), card=Card(sentence="A.", formula="", source="b")),
            "formula is empty",
        ),
        (contract.check_settings_explain_themselves, replace(toy(), settings=Silent), "no Doc"),
        (contract.check_settings_explain_themselves, replace(toy(), settings=Off), "must be on"),
        (
            contract.check_verdict_is_as_expected,
            toy("false"),
            "expected that it fails, but it holds",
        ),
        (
            contract.check_chart_can_be_drawn,
            replace(toy(), experiment=undrawable),
            "cannot be drawn",
        ),
        (contract.check_a_seed_gives_one_verdict, replace(toy(), experiment=drifting()), "differ"),
        (
            contract.check_each_assumption_turns_it,
            replace(toy(), experiment=always_holds),
            "without 'small' .* it still holds",
        ),
    ],
)
def test_each_check_catches_its_breach(
    check: Callable[[Claim], None], broken: Claim, words: str
) -> None:
    with pytest.raises(AssertionError, match=words):
        check(broken)
