"""The ledger's entries: verdicts beside what was expected, and what each assumption is worth."""

import json
from dataclasses import replace

from netwright.core.card import Card
from netwright.theory.ledger import check_claim
from tests.theory.test_claims import toy


def test_a_claim_is_checked_with_and_without_its_assumptions() -> None:
    entry = check_claim("toy", toy(), seed=2)
    assert entry.verdict.holds and entry.is_as_expected
    assert entry.verdict.measured == 0.52
    assert {name: verdict.holds for name, verdict in entry.without.items()} == {"small": False}
    assert entry.seconds > 0


def test_a_false_claim_that_holds_is_a_surprise() -> None:
    entry = check_claim("toy", toy("false"))
    assert (entry.answer, entry.is_as_expected) == ("holds", False)


def test_nothing_is_expected_of_settings_made_by_hand() -> None:
    entry = check_claim("toy", toy(), settings={"small": False})
    assert (entry.answer, entry.is_as_expected) == ("fails", True)
    assert entry.to_json()["as_expected"] is None
    assert entry.without == {}


def test_full_size_is_for_the_claim_alone() -> None:
    entry = check_claim("toy", toy(), size="full")
    assert (entry.verdict.n, entry.without["small"].n) == (10, 1)


def test_an_entry_as_json() -> None:
    told = check_claim("toy", toy()).to_json()
    json.dumps(told, allow_nan=False)
    assert (told["expected"], told["holds"], told["as_expected"]) == ("holds", True, True)
    assert told["without"]["small"]["told"] == ("fails: the number: 2, predicted at most 1 (n = 1)")


def test_a_misprint_is_a_warning_and_of_a_false_claim_the_truth() -> None:
    card = Card(sentence="It is.", formula="x", source="here", misprint="It is not.")
    claims = {kind: replace(toy(kind), card=card) for kind in ("theorem", "false")}
    warnings = {kind: check_claim("toy", claim).warning for kind, claim in claims.items()}
    assert warnings == {"theorem": "Beware: It is not.", "false": "What is true: It is not."}
    assert check_claim("toy", toy()).warning == ""
