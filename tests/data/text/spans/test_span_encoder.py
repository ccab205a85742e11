"""Questions and contexts as tokens: what stands where, what is cut, what is refused."""

from typing import Any

import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.spec import IGNORED
from netwright.data.text.encoder import TextEncoder
from netwright.data.text.spans.span_encoder import SpanEncoder, context_of
from netwright.data.text.tokenizer import EOS, PAD
from netwright.data.text.word_tokenizer import WordTokenizer

CONTEXT = "Ada wrote it in London."
ROWS: list[dict[str, Any]] = [
    {"question": "Who wrote it?", "context": CONTEXT, "answer": "Ada"},
    {"question": "Where?", "context": CONTEXT, "answer": "London"},
]
TOKENIZER = WordTokenizer.fit([CONTEXT, "Who wrote it? Where?"])


def encoder(length: int = 12) -> SpanEncoder:
    return SpanEncoder(tokenizer=TOKENIZER, length=length)


def test_question_end_context_and_where_both_are() -> None:
    inputs, targets = encoder().encode(ROWS), encoder().encode_targets(ROWS)
    assert TOKENIZER.decode(inputs[0, :4].tolist()) == "Who wrote it ?"
    assert inputs[0, 4] == EOS
    assert TOKENIZER.decode(inputs[0, 5:].tolist()) == "Ada wrote it in London ."
    assert targets.tolist() == [[[5, 10], [5, 5]], [[3, 8], [7, 7]]]
    assert torch.equal(context_of(inputs), targets[:, 0])
    assert encoder().write(targets[:, 1], ROWS) == ["Ada", "London"]
    assert encoder().write(targets[:, 1], ROWS, marked=True)[1] == "Ada wrote it in [[London]]."


def test_an_answer_that_is_cut_off_has_no_places() -> None:
    targets = encoder(7).encode_targets(ROWS)
    assert targets.tolist() == [[[5, 6], [5, 5]], [[3, 6], [IGNORED, IGNORED]]]
    assert encoder(7).encode(ROWS).shape == (2, 7)
    assert encoder(7).remarks(ROWS) == (
        "100 % of the contexts are truncated, to 7 tokens with their question",
    )
    assert encoder().remarks(ROWS) == ()


def test_several_answers_are_rows_of_their_own() -> None:
    table = encoder().read(ROWS)
    places = encoder().encode_spans(table, [[(0, 3), (0, 9)], [(16, 6)]])
    assert places[:, 1:].tolist() == [[[5, 5], [5, 6]], [[7, 7], [IGNORED, IGNORED]]]


def test_an_answer_that_is_not_there_is_refused_with_its_row() -> None:
    wrong = [ROWS[0], {**ROWS[1], "answer": "Paris"}]
    with pytest.raises(
        DataError, match=r"'answer': 'Paris' is not in its context, from which it is copied$"
    ):
        encoder().encode_targets(wrong)
    for column in ("question", "context"):
        with pytest.raises(DataError, match=f"'{column}': there is no word"):
            encoder().encode([{**ROWS[0], column: " "}])


def test_it_travels_as_json() -> None:
    assert TextEncoder.from_json(encoder().to_json()) == encoder()
    assert int((encoder().encode(ROWS[:1])[0] == PAD).sum()) == 1
