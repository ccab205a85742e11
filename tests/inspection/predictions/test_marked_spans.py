"""Spans in their contexts: which words are shown and marked."""

import pytest

from netwright.core.errors import DataError
from netwright.inspection.predictions.marked_spans import AROUND, SKIPPED, measure_marked_spans

CONTEXT = [f"w{place}" for place in range(100)]


def test_said_and_true_words_are_marked() -> None:
    view = measure_marked_spans(
        ["who?", "when?", "where?"],
        [["a", "b", "c"]] * 3,
        [(0, 1), (1, 1), (2, 2)],
        [(1, 2), (1, 1), None],
    )
    first, second, third = view.contexts
    assert [(word.text, word.is_said, word.is_true) for word in first.words] == [
        ("a", True, False),
        ("b", True, True),
        ("c", False, True),
    ]
    assert (first.is_right, second.is_right, third.is_right) == (False, True, False)
    assert "1 of these 3 are right" in view.caption
    assert "Of 1 the answer is in no part of the context that fits." in view.caption
    assert len(view.image("svg")) > 1000


def test_only_what_is_near_a_span_is_shown() -> None:
    (context,) = measure_marked_spans(["?"], [CONTEXT], [(20, 21)], [(80, 80)]).contexts
    texts = [word.text for word in context.words]
    wanted = [
        SKIPPED,
        *CONTEXT[20 - AROUND : 22 + AROUND],
        SKIPPED,
        *CONTEXT[80 - AROUND : 81 + AROUND],
        SKIPPED,
    ]
    assert texts == wanted


def test_no_question_is_refused() -> None:
    with pytest.raises(DataError, match="there are no questions to show"):
        measure_marked_spans([], [], [], [])
