"""Claims in the studio: what is offered to be changed, and that verdicts are the command's."""

from typing import Any

import pytest

from netwright.apps.studio.claim_checks import check_asked, describe_claim, list_claims
from netwright.core.catalog import Catalog
from netwright.core.errors import ConfigError, NetwrightError
from netwright.theory.catalog import CLAIMS

SMALL: dict[str, Any] = {"sets": 5, "points": 10}


@pytest.mark.slow
def test_every_claim_is_listed_under_its_topic() -> None:
    told = list_claims()
    assert [one["name"] for one in told] == list(CLAIMS)
    assert all(one["statement"] and one["topic"] for one in told)


def test_a_claim_is_listed_under_its_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    few: Catalog[Any] = Catalog("claim", {"novikoff": "netwright.theory.catalog:CLAIMS"})
    monkeypatch.setattr(few, "load", CLAIMS.load)
    monkeypatch.setattr("netwright.apps.studio.claim_checks.CLAIMS", few)
    (told,) = list_claims()
    assert (told["name"], told["topic"], told["kind"]) == ("novikoff", "Neurons", "theorem")


def test_assumptions_are_switches_and_all_else_are_parameters() -> None:
    told = describe_claim("novikoff")
    assert [field["name"] for field in told["assumptions"]] == ["separable"]
    assert {field["name"] for field in told["parameters"]} >= {"margin", "points", "sets"}
    assert told["formula"].startswith("data:image/svg") and told["expected"] == "holds"


def test_an_assumption_that_is_switched_off_turns_the_verdict() -> None:
    held = check_asked({"claim": "novikoff", "settings": SMALL})
    turned = check_asked({"claim": "novikoff", "settings": {**SMALL, "separable": False}})
    assert (held["answer"], turned["answer"]) == ("holds", "fails")
    assert held["picture"] != turned["picture"] and held["rows"]
    verdict = CLAIMS.load("novikoff").check(**SMALL)
    assert held["rows"] == verdict.table_rows()


def test_what_is_no_claim_or_no_setting_is_refused() -> None:
    for asked, words in (
        ({"claim": "novikof"}, "novikoff"),
        ({"claim": "novikoff", "settings": [1]}, "mapping"),
        ({"claim": "novikoff", "settings": {"margn": 1}}, "margin"),
        ({"claim": "novikoff", "settings": {"margin": 9}}, "margin"),
        ({"claim": "novikoff", "size": "huge"}, "quick or full"),
        ({"claim": "novikoff", "seed": "x"}, "seed"),
    ):
        with pytest.raises(NetwrightError, match=words):
            check_asked(asked)
    with pytest.raises(ConfigError):
        describe_claim("nothing")
