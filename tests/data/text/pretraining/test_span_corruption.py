"""Spans left out: 15 % in threes, every text comes back exactly, and who draws decides alone."""

from collections import Counter
from itertools import groupby

import pytest
import torch
from torch import Tensor

from netwright.data.text.pretraining.span_corruption import (
    Spans,
    corrupt_again,
    draw_spans,
    leave_out,
    put_back,
    spans_of,
)
from netwright.data.text.tokenizer import BOS, EOS
from tests.repetition import for_each

FIRST = 1000  # the first sentinel


def random(seed: int = 1) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def texts(rows: int, length: int) -> Tensor:
    return torch.randint(4, FIRST, (rows, length), generator=random(0))


def stretches(row: list[bool]) -> list[int]:
    return [len(list(group)) for is_out, group in groupby(row) if is_out]


def test_the_example_of_the_paper() -> None:
    text = torch.arange(10, 20)[None]  # Thank you for inviting me to your party last week
    is_out = torch.tensor([[0, 0, 1, 1, 0, 0, 0, 0, 1, 0]]).bool()
    inputs, targets = leave_out(text, is_out, Spans(10, 3, 2), FIRST)
    assert targets.tolist() == [[1000, 12, 13, 1001, 18, 1002, EOS]]
    source = [10, 11, 1000, 14, 15, 16, 17, 1001, 19]
    assert inputs.tolist() == [[*source, BOS, 1000, 12, 13, 1001, 18, 1002]]


def test_15_per_cent_are_left_out_in_spans_of_3_on_average() -> None:
    assert spans_of(512) == (512, 77, 26)
    assert (spans_of(512).source_length, spans_of(512).target_length) == (461, 105)
    assert spans_of(8) == (8, 1, 1)
    spans = spans_of(100)
    is_out = draw_spans(2000, spans, random())
    assert bool((is_out.sum(dim=1) == 15).all())
    found = [stretches(row) for row in is_out.tolist()]
    assert all(len(one) == spans.number == 5 for one in found)
    lengths = Counter(length for one in found for length in one)
    assert set(lengths) == set(range(1, 12))  # 15 tokens in 5 spans: up to 11 in one
    # Of the C(14, 4) ways to cut, C(14 - k, 3) have a first span of k tokens.
    assert lengths[1] / 10_000 == pytest.approx(286 / 1001, abs=0.02)
    assert lengths[3] / 10_000 == pytest.approx(165 / 1001, abs=0.02)
    shares = is_out.double().mean(dim=0)  # no place is spared, the first and the last a little
    assert shares[[0, -1]].tolist() == pytest.approx([5 / 86] * 2, abs=0.02)
    assert bool(((shares[10:-10] > 0.12) & (shares[10:-10] < 0.19)).all())


@for_each("length", [8, 9, 20, 64, 131])
def test_every_text_comes_back_exactly(length: int) -> None:
    spans, tokens = spans_of(length), texts(300, length)
    inputs, targets = leave_out(tokens, draw_spans(300, spans, random()), spans, FIRST)
    assert inputs.shape == (300, spans.source_length + spans.target_length)
    assert targets.shape == (300, spans.target_length)
    assert torch.equal(put_back(inputs, targets, spans, FIRST), tokens)
    assert torch.equal(inputs[:, spans.source_length + 1 :], targets[:, :-1])  # told a place later
    assert bool((targets[:, -1] == EOS).all())
    for part, count in (
        (inputs[:, : spans.source_length], spans.number),
        (targets, spans.number + 1),
    ):
        sentinels = part[part >= FIRST].view(300, -1)
        assert sentinels.tolist() == [list(range(FIRST, FIRST + count))] * 300


def test_equal_neighbours_and_texts_of_one_token_come_back_too() -> None:
    spans = spans_of(40)
    tokens = torch.full((50, 40), 7)
    tokens[:, ::5] = EOS
    inputs, targets = leave_out(tokens, draw_spans(50, spans, random()), spans, FIRST)
    assert torch.equal(put_back(inputs, targets, spans, FIRST), tokens)


def test_spans_are_drawn_anew_by_their_generator_alone() -> None:
    spans, tokens = spans_of(64), texts(20, 64)
    inputs, targets = leave_out(tokens, draw_spans(20, spans, random()), spans, FIRST)
    sizes = {"sentinels": spans.sentinels, "vocab_size": FIRST + spans.sentinels}
    again, said = corrupt_again(inputs, targets, **sizes, random=random(2))
    assert not torch.equal(said, targets)
    assert torch.equal(put_back(again, said, spans, FIRST), tokens)
    for one, other in zip(
        corrupt_again(again, said, **sizes, random=random(3)),
        corrupt_again(inputs, targets, **sizes, random=random(3)),
        strict=True,
    ):
        assert torch.equal(one, other)
