"""Misprints on one offline page: the right formula, the wrong one, and the number between them."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from netwright.inspection.drawing.formula import formula_block
from netwright.inspection.drawing.page import Html, Page, badge, heading, note, side_by_side, text
from netwright.inspection.drawing.view import plain
from netwright.theory.misprints.entry import Misprint, Telling
from netwright.theory.verdict import infinite_as_text


class Checked(NamedTuple):
    """A misprint, and what its experiment said; None where it has none."""

    misprint: Misprint
    telling: Telling | None

    @property
    def sentence(self) -> str:
        """What was measured with both forms."""
        if self.telling is None:
            return "Nothing to compute: the difference is in the words."
        right, wrong = (
            self.telling.finding(value).found for value in (self.telling.right, self.telling.wrong)
        )
        what = self.telling.what
        return f"Measured, {what}: {right} with the right form, {wrong} with the wrong one."

    def to_json(self) -> dict[str, Any]:
        """Formulas, sentence and numbers; the experiment is null where there is none."""
        misprint, telling = self
        told = None if telling is None else {**plain(telling), "tells": telling.tells}
        return {
            "name": misprint.name,
            "topic": misprint.topic,
            "right": misprint.right,
            "wrong": misprint.wrong,
            "difference": misprint.difference,
            "experiment": infinite_as_text(told),
        }


def check_misprints(misprints: Iterable[Misprint]) -> list[Checked]:
    """Run the experiment of each that has one."""
    return [
        Checked(misprint, None if misprint.experiment is None else misprint.experiment())
        for misprint in misprints
    ]


def misprints_page(checked: Sequence[Checked]) -> str:
    """The page, as HTML; misprints of one topic stand together."""
    told = sum(entry.telling is not None for entry in checked)
    page = Page(
        "Formulas that are often printed wrong",
        subtitle=f"{len(checked)} formulas, {told} of them told apart by an experiment",
    )
    for topic, group in groupby(checked, key=lambda entry: entry.misprint.topic):
        page.section(topic, *(block for entry in group for block in _blocks(entry)))
    return page.render()


def _blocks(entry: Checked) -> list[Html]:
    misprint = entry.misprint
    return [
        heading(misprint.name.replace("-", " ").capitalize(), anchor=misprint.name),
        side_by_side(
            Html(badge("right", "good") + formula_block(misprint.right)),
            Html(badge("wrong", "bad") + formula_block(misprint.wrong)),
        ),
        text(misprint.difference),
        note(entry.sentence),
    ]
