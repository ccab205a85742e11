"""What every claim promises, as checks that anyone may run on a claim of their own.

@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check):
    check(MY_CLAIM)
"""

import json
import math

from netwright.core.card import Card
from netwright.core.config import describe
from netwright.inspection.drawing.formula import formula_svg
from netwright.theory.claims import Claim


def check_has_a_card(claim: Claim) -> None:
    """`netwright explain` and the ledger have something to say."""
    assert isinstance(claim.card, Card), f"card must be a Card, got {claim.card!r}"
    for part in ("sentence", "formula", "source"):
        assert getattr(claim.card, part).strip(), f"the card's {part} is empty"
    assert claim.statement.endswith("."), f"a sentence ends with a full stop: {claim.statement!r}"
    for latex in (claim.card.formula, *claim.card.symbols):
        assert formula_svg(latex), f"{latex!r} cannot be drawn"


def check_settings_explain_themselves(claim: Claim) -> None:
    """Each parameter has a default and a sentence; assumptions are switches that are on."""
    for field in describe(claim.settings):
        assert field.doc, f"{field.name} has no Doc"
        assert field.default != "(needed)", f"{field.name} has no default"
        if field.name in claim.assumptions:
            assert field.default is True, f"the assumption {field.name} must be on by default"


def check_verdict_is_as_expected(claim: Claim) -> None:
    """Quick, with the first seed: it holds, or fails where the claim is known to be false.

    Where a finding has an interval, all of it says so: an undecided verdict is not as expected.
    """
    verdict = claim.check()
    assert verdict.findings, "a verdict needs a finding"
    expected = claim.expected_answer
    assert verdict.answer == expected, f"expected that it {expected}, but it {verdict.told}"
    assert verdict.chart.series, "the chart is empty"
    json.dumps(verdict.to_json(), allow_nan=False)


def check_chart_can_be_drawn(claim: Claim) -> None:
    """The page of the ledger has a picture of the numbers that were measured."""
    chart = claim.check().chart
    assert chart.image("svg").startswith(b"<?xml"), "the chart cannot be drawn"


def check_a_seed_gives_one_verdict(claim: Claim) -> None:
    """Chance comes from the seed alone; linear algebra may differ in its last bits."""
    for first, second in zip(claim.check().findings, claim.check().findings, strict=True):
        same = (first.what, first.n) == (second.what, second.n) and all(
            math.isclose(getattr(first, part), getattr(second, part), rel_tol=1e-6, abs_tol=1e-9)
            for part in ("predicted", "measured")
        )
        assert same, f"two checks of one seed differ: {first} and {second}"


def check_each_assumption_turns_it(claim: Claim) -> None:
    """Without any one of its assumptions the verdict is the opposite."""
    for name, text in claim.assumptions.items():
        verdict = claim.check(0, "quick", **{name: False})
        assert verdict.holds != claim.expected, f"without {name!r} ({text}) it still {verdict.told}"


CLAIM_CHECKS = (
    check_has_a_card,
    check_settings_explain_themselves,
    check_verdict_is_as_expected,
    check_chart_can_be_drawn,
    check_a_seed_gives_one_verdict,
    check_each_assumption_turns_it,
)
