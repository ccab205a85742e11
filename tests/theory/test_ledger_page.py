"""The ledger's page: every claim with its verdict, and text that stays text."""

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest

from netwright.core.card import Card
from netwright.theory.ledger import LedgerEntry, check_claim
from netwright.theory.ledger_page import ledger_page
from tests.browser import check_fits
from tests.theory.test_claims import toy


def page(*entries: LedgerEntry) -> str:
    return ledger_page(entries, seed=0, size="quick")


def test_the_page_tells_statement_numbers_and_verdict() -> None:
    told = page(check_claim("toy", toy()), check_claim("other", toy("false")))
    assert told.count("The number is small.") == 4  # twice in the overview, twice as a heading
    assert '<a href="#toy">' in told and '<h3 id="toy">' in told
    assert '<span class="badge good">holds</span>' in told
    assert '<span class="badge bad">holds, unexpectedly</span>' in told
    assert "netwright theory toy" in told
    assert re.search(r"the number is small</td><td><span class=.badge bad.>fails", told)
    assert "<script" not in told


def test_totals_count_what_holds_and_what_turns() -> None:
    told = html.unescape(page(check_claim("toy", toy()), check_claim("other", toy("false"))))
    values = re.findall(r'class="label">([^<]+)</div><div class="value">([^<]+)<', told)
    assert dict(values) == {
        "claims": "2",
        "hold": "2",
        "fail": "0",
        "undecided": "0",
        "not as expected": "1",
        "assumptions": "2 of 2",
    }


@pytest.mark.slow
def test_one_claim_needs_no_overview() -> None:
    told = page(check_claim("toy", toy(), settings={"bound": 2.0}))
    assert 'class="tiles"' not in told
    assert "netwright theory toy --set bound=2.0" in told


def test_words_of_a_claim_are_escaped() -> None:
    card = Card(sentence="<b>bold</b> & sure.", formula="x", source="<i>there</i>")
    told = page(check_claim("toy", replace(toy(), card=card)))
    assert "<b>" not in told and "<i>" not in told
    assert "&lt;b&gt;bold&lt;/b&gt; &amp; sure." in told


def test_a_claim_takes_few_bytes() -> None:
    one = check_claim("toy", toy())
    assert len(page(one, one, one)) - len(page(one, one)) < 20_000


@pytest.mark.slow
def test_in_a_real_browser_the_page_fits_every_screen(tmp_path: Path) -> None:
    file = tmp_path / "ledger.html"
    file.write_text(page(check_claim("toy", toy()), check_claim("other", toy("false"))))
    check_fits(file)
