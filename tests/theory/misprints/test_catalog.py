"""Every misprint: its formulas can be drawn, its sentence is one, and its experiment tells."""

import pytest

from netwright.inspection.drawing.formula import formula_svg
from netwright.theory.misprints.catalog import MISPRINTS
from netwright.theory.misprints.entry import Misprint
from tests.repetition import for_each

MEASURED = [entry for entry in MISPRINTS if entry.experiment is not None]


def name(entry: Misprint) -> str:
    return entry.name


def test_names_are_unique_and_topics_stay_together() -> None:
    assert len({entry.name for entry in MISPRINTS}) == len(MISPRINTS) >= 40
    topics = [entry.topic for entry in MISPRINTS]
    starts = [topic for i, topic in enumerate(topics) if i == 0 or topics[i - 1] != topic]
    assert len(starts) == len(set(starts)) == 10


def test_nearly_all_have_an_experiment() -> None:
    assert len(MEASURED) >= 30
    assert len(MISPRINTS) - len(MEASURED) <= 6


@pytest.mark.slow
def test_both_formulas_can_be_drawn_and_differ() -> None:
    for entry in MISPRINTS:
        assert entry.right != entry.wrong, entry.name
        assert b" d='m" in formula_svg(rf"{entry.right} \quad {entry.wrong}"), entry.name


def test_the_difference_is_one_sentence() -> None:
    for entry in MISPRINTS:
        assert entry.difference.endswith("."), entry.name
        assert ". " not in entry.difference, entry.name


@for_each("entry", MEASURED, ids=name)
def test_the_right_form_passes_and_the_wrong_one_does_not(entry: Misprint) -> None:
    assert entry.experiment is not None
    telling = entry.experiment()
    assert telling.finding(telling.right).holds, f"right: {telling.right}, wanted {telling.wanted}"
    assert not telling.finding(telling.wrong).holds, f"wrong: {telling.wrong} passes too"
