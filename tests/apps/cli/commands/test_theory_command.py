"""`netwright theory`: the list, a claim and its assumptions, the ledger, and refusals."""

import json
from pathlib import Path

import pytest

from netwright.theory.catalog import CLAIMS
from tests.apps.cli.conftest import Type
from tests.theory.test_claims import toy


def test_without_names_claims_are_listed(type_in: Type) -> None:
    answer = type_in("theory")
    assert (answer.code, answer.err) == (0, "")
    assert all(name in answer.out for name in CLAIMS)
    assert list(json.loads(type_in("theory", "--json").out)) == list(CLAIMS)


def test_a_claim_is_checked_with_and_without_its_assumptions(type_in: Type) -> None:
    answer = type_in("theory", "step-size")
    assert answer.code == 0
    assert answer.out.startswith("step-size (theorem): Gradient descent runs away when")
    assert "verdict: it holds (" in answer.out
    assert "\nwithout quadratic (the function is a quadratic: its curvature" in answer.out
    assert ": it fails: step sizes that grow below 2/L or fall above it: 6, " in answer.out


def test_an_assumption_is_a_switch_and_a_parameter_a_number(type_in: Type) -> None:
    answer = type_in("theory", "step-size", "--set", "quadratic=false", "--set", "steps=60")
    assert answer.code == 0  # what was set by hand surprises nobody
    assert "verdict: it fails (" in answer.out
    assert "\nwithout" not in answer.out


def test_claims_as_json_and_as_one_offline_page(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("theory", "step-size", "--json", "--html", "ledger.html", "--size", "full")
    told = json.loads(answer.out)
    assert (told["size"], told["as_expected"], answer.err) == ("full", True, "")
    (claim,) = told["claims"]
    assert (claim["holds"], claim["without"]["quadratic"]["holds"]) == (True, False)
    assert claim["findings"][0]["n"] == 298
    page = (tmp_path / "ledger.html").read_text(encoding="utf-8")
    assert "<script" not in page and "http://" not in page.replace("http://www.w3.org", "")


def test_a_verdict_that_surprises_ends_with_1(
    type_in: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CLAIMS, "load", lambda name: toy("false"))
    answer = type_in("theory", "novikoff", "zaslavsky")
    assert answer.code == 1
    assert "holds  (not as expected)" in answer.err
    assert "2 claims: 2 hold, 0 fail; not as expected: novikoff, zaslavsky" in answer.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["novikov"], "unknown claim 'novikov'; did you mean 'novikoff'?"),
        (["step-size", "--set", "stepps=3"], "unknown setting 'stepps'; did you mean 'steps'?"),
        (["step-size", "--set", "steps"], "--set must be KEY=VALUE, got 'steps'"),
        (["step-size", "--size", "huge"], "size must be quick or full, got 'huge'"),
        (["step-size", "novikoff", "--set", "a=1"], "--set needs exactly one claim, got 2"),
        (["step-size", "--all"], "give the names of claims or --all, not both: got 'step-size'"),
        (["--html", "x.html"], "name the claims to check, or give --all"),
    ],
)
def test_mistakes_are_refused_in_one_sentence(
    type_in: Type, words: list[str], sentence: str
) -> None:
    answer = type_in("theory", *words)
    assert (answer.code, answer.out, answer.err) == (2, "", f"error: {sentence}\n")
