"""Verdicts: margins worked by hand, intervals that cover, and no number without a count."""

import json
import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.inspection.training.claim_chart import ClaimChart, measured
from netwright.theory.verdict import (
    ClaimFinding,
    Verdict,
    at_least,
    at_most,
    equals,
    estimate,
    estimate_ratio,
    estimate_share,
    no_violations,
)
from tests.repetition import for_each

CHART = ClaimChart(
    x_label="x", y_label="y", series=(measured("dots", [1, 2], [1, math.inf]),), explanation="Dots."
)


def verdict(*findings: ClaimFinding) -> Verdict:
    return Verdict(findings=findings, chart=CHART)


@for_each(
    ("finding", "margin"),
    [
        (equals("a", 3.0, 3.25, within=0.5, n=1), 0.25),
        (equals("a", 3.0, 3.0, n=1), 0.0),
        (equals("a", 3.0, 3.25, n=1), -0.25),
        (at_most("a", 3.0, 2.5, n=1), 0.5),
        (at_most("a", 3.0, 3.5, n=1), -0.5),
        (at_least("a", 3.0, 3.5, n=1), 0.5),
        (no_violations("a", 0, n=9), 0.0),
        (no_violations("a", 2, n=9), -2.0),
    ],
)
def test_a_finding_holds_where_its_margin_is_not_negative(
    finding: ClaimFinding, margin: float
) -> None:
    assert finding.margin == margin
    assert finding.holds == (margin >= 0)


@for_each(
    ("rule", "interval", "answer", "margin"),
    [
        (at_least, (0.5, 4.0), "holds", 0.5),
        (at_least, (-12.5, 17.0), "undecided", -12.5),  # the mean alone would hold
        (at_least, (-4.0, -0.5), "fails", -4.0),
        (at_most, (-4.0, -0.5), "holds", 0.5),
        (at_most, (-4.0, 0.5), "undecided", -0.5),
        (at_most, (0.5, 4.0), "fails", -4.0),
        (at_least, (0.0, 4.0), "holds", 0.0),
        (at_most, (0.0, 4.0), "undecided", -4.0),
    ],
)
def test_a_finding_holds_where_its_whole_interval_does(
    rule: Callable[..., ClaimFinding], interval: tuple[float, float], answer: str, margin: float
) -> None:
    finding = rule("a", 0, sum(interval) / 2, n=2, interval=interval)
    assert (finding.answer, finding.margin) == (answer, margin)
    assert finding.holds == (answer == "holds")


@for_each(
    ("interval", "answer"),
    [
        ((0.9, 1.1), "holds"),
        ((0.5, 1.1), "undecided"),
        ((0.5, 1.9), "undecided"),  # it holds the predicted number, and much else
        ((1.3, 1.9), "fails"),
        ((0.1, 0.7), "fails"),
    ],
)
def test_an_equality_holds_where_no_end_of_the_interval_is_further_off(
    interval: tuple[float, float], answer: str
) -> None:
    finding = equals("a", 1.0, sum(interval) / 2, within=0.25, n=5, interval=interval)
    assert finding.answer == answer


def test_a_verdict_is_undecided_where_a_finding_is_and_none_fails() -> None:
    good, bad = at_most("good", 1, 0, n=5), at_most("bad", 1, 2, n=7)
    open_ = at_least("open", 0, 2.186, n=2, interval=(-12.47, 16.84))
    undecided = verdict(good, open_)
    assert not undecided.holds
    assert (undecided.answer, undecided.decisive) == ("undecided", open_)
    assert undecided.told == (
        "is undecided: open: 2.186 (-12.47 to 16.84), predicted at least 0 (n = 2)"
    )
    assert verdict(open_, bad).decisive is bad
    assert undecided.to_json()["answer"] == "undecided"


def test_what_is_not_a_number_never_holds() -> None:
    for make in (equals, at_most, at_least):
        assert not make("a", 1.0, math.nan, n=1).holds
        unknown = make("a", 1.0, math.nan, n=2, interval=(math.nan, math.nan))
        assert unknown.answer == "fails"


def test_a_number_without_a_count_is_refused() -> None:
    with pytest.raises(ConfigError) as refusal:
        at_most("errors", 1.0, 0.0, n=0)
    assert str(refusal.value) == "'errors' must count at least one case, got n = 0"


def test_one_finding_that_fails_decides() -> None:
    good, bad = at_most("good", 1, 0, n=5), at_most("bad", 1, 2, n=7)
    assert verdict(good).holds
    assert (verdict(good).measured, verdict(good).n) == (0.0, 5)
    turned = verdict(good, bad)
    assert not turned.holds
    assert (turned.predicted, turned.measured, turned.margin, turned.n) == (1.0, 2.0, -1.0, 7)
    assert turned.told == "fails: bad: 2, predicted at most 1 (n = 7)"


def test_words_of_a_finding() -> None:
    finding = equals("a", 0.5, 0.51, within=0.02, n=9, interval=(0.48, 0.54))
    assert (finding.wanted, finding.found) == ("0.5 ± 0.02", "0.51 (0.48 to 0.54)")
    assert equals("a", 58, 58, n=1).wanted == "58"


def test_infinity_becomes_text_in_json() -> None:
    told = verdict(at_least("grows", 1.0, math.inf, n=3)).to_json()
    assert told["findings"][0]["measured"] == "inf"
    assert told["findings"][0]["holds"] is True
    assert told["chart"]["series"][0]["y"] == [1.0, "inf"]
    json.dumps(told, allow_nan=False)


def test_the_interval_of_a_mean_covers_it_in_95_of_100_cases() -> None:
    draws = torch.randn(2000, 6, generator=torch.Generator().manual_seed(0)).tolist()
    estimates = [estimate(row) for row in draws]
    covered = sum(e.interval[0] <= 0 <= e.interval[1] for e in estimates)
    assert covered / 2000 == pytest.approx(0.95, abs=0.015)
    assert estimates[0].n == 6


def test_the_interval_of_a_share_by_hand() -> None:
    one = estimate_share(5, 10)
    assert at_least("share", 0, **one.as_measured()).interval == one.interval
    assert one.mean == 0.5
    assert one.interval == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert estimate_share(0, 20).interval == pytest.approx((0, 0.1611), abs=1e-4)
    assert estimate_share(20, 20).interval[1] == 1.0


def test_the_mean_of_ratios_is_geometric_and_so_is_its_interval() -> None:
    found, inverse = estimate_ratio([0.5, 4.0]), estimate_ratio([2.0, 0.25])
    assert found.mean == pytest.approx(math.sqrt(2))
    assert inverse.mean == pytest.approx(1 / found.mean)
    assert inverse.interval == pytest.approx((1 / found.interval[1], 1 / found.interval[0]))


def test_it_reads_in_a_terminal_and_in_a_notebook() -> None:
    found = verdict(at_most("bad <cases>", 1, 2, n=7), at_most("good", 1, 0, n=7))
    assert repr(found) == "Verdict(fails: bad <cases>: 2, predicted at most 1 (n = 7))"
    assert repr(found.findings[1]) == "Finding(good: 0, predicted at most 1 (n = 7): holds)"
    lines = [
        "fails: bad <cases>: 2, predicted at most 1 (n = 7)",
        "holds: good: 0, predicted at most 1 (n = 7)",
        "verdict: it fails",
    ]
    assert str(found).splitlines() == lines
    claimed = replace(found, statement="All are good & well.")
    assert str(claimed).splitlines() == ["All are good & well.", *lines]
    page = claimed._repr_html_()
    for shown in ("All are good &amp; well.", "bad &lt;cases&gt;", "Verdict: it fails.", "<img"):
        assert shown in page
    assert "<cases>" not in page
