"""The ledger as one offline page: each claim with its formula, numbers, picture and verdict."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Literal

from netwright.inspection.drawing.formula import formula_block
from netwright.inspection.drawing.page import (
    Html,
    Page,
    badge,
    code,
    heading,
    link,
    note,
    picture,
    side_by_side,
    table,
    text,
    tiles,
)
from netwright.theory.claims import Effort
from netwright.theory.ledger import LedgerEntry
from netwright.theory.verdict import Answer

KINDS = {"theorem": "theorem", "empirical": "measured", "false": "often said"}
MARKS: Mapping[Answer, str] = {"holds": "✓", "fails": "✗", "undecided": "?"}
MOODS: Mapping[Answer, Literal["good", "bad", "plain"]] = {
    "holds": "good",
    "fails": "bad",
    "undecided": "plain",
}


def ledger_page(entries: Sequence[LedgerEntry], *, seed: int, size: Effort) -> str:
    """The page, as HTML; claims of one topic stand together."""
    seconds = sum(entry.seconds for entry in entries)
    page = Page(
        "The ledger",
        subtitle=f"Every claim is an experiment · {size} · seed {seed} · {seconds:.0f} s",
    )
    if len(entries) > 1:
        page.section("Verdicts", _totals(entries), _overview(entries))
    for topic, group in groupby(entries, key=lambda entry: entry.claim.topic):
        page.section(topic, *(block for entry in group for block in _blocks(entry)))
    return page.render()


def _totals(entries: Sequence[LedgerEntry]) -> Html:
    answers = [entry.answer for entry in entries]
    unexpected = sum(not entry.is_as_expected for entry in entries)
    turned = [
        verdict.holds != entry.verdict.holds
        for entry in entries
        for verdict in entry.without.values()
    ]
    return tiles(
        [
            ("claims", f"{len(entries)}", "each with its experiment"),
            ("hold", f"{answers.count('holds')}", "as measured here"),
            ("fail", f"{answers.count('fails')}", "statements that are often made"),
            ("undecided", f"{answers.count('undecided')}", "more tries are needed"),
            ("not as expected", f"{unexpected}", "verdicts"),
            ("assumptions", f"{sum(turned)} of {len(turned)}", "turn the verdict when dropped"),
        ]
    )


def _overview(entries: Sequence[LedgerEntry]) -> Html:
    rows = [
        {
            "verdict": _badge(entry),
            "claim": link(entry.claim.statement, entry.name),
            "kind": KINDS[entry.claim.kind],
            "cases": f"{entry.verdict.n:,}",
            "seconds": f"{entry.seconds:.2f}",
        }
        for entry in entries
    ]
    return table(rows, numbers=["cases", "seconds"])


def _blocks(entry: LedgerEntry) -> list[Html]:
    card = entry.claim.card
    findings = [
        {
            "": MARKS[finding.answer],
            "what was measured": finding.what,
            "predicted": finding.wanted,
            "measured": finding.found,
            "n": f"{finding.n:,}",
        }
        for finding in entry.verdict.findings
    ]
    words = [
        formula_block(card.formula),
        table(findings, numbers=["predicted", "measured", "n"]),
        *([text(entry.warning)] if entry.warning else []),
        *_switches(entry),
        note(f"Source: {card.source}"),
    ]
    return [
        heading(card.sentence, anchor=entry.name, beside=_badge(entry)),
        side_by_side(Html("".join(words)), picture(entry.verdict.chart)),
    ]


def _switches(entry: LedgerEntry) -> list[Html]:
    """What becomes of the claim without each assumption, and the command that shows it."""
    set_by_hand = "".join(f" --set {name}={value}" for name, value in entry.settings.items())
    command = f"netwright theory {entry.name}{set_by_hand}"
    if not entry.without:
        return [code(command)]
    rows = [
        {
            "without the assumption that": entry.claim.assumptions[name],
            "it": badge(verdict.words, MOODS[verdict.answer]),
            "switch": f"--set {name}=false",
        }
        for name, verdict in entry.without.items()
    ]
    return [table(rows), code(command)]


def _badge(entry: LedgerEntry) -> Html:
    if not entry.is_as_expected:
        return badge(f"{entry.answer}, unexpectedly", "bad")
    return badge(entry.answer, MOODS[entry.answer])
