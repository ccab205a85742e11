"""Toy tasks: their answers worked out again from their inputs, and the chance of a guess."""

import math
import re
from collections import Counter
from itertools import chain
from random import Random
from typing import Any

import pytest
import torch

from netwright.core.config import parse
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data
from netwright.data.series import toy_tasks
from netwright.data.series.toy_tasks import (
    ADDING,
    BRACKETS,
    PARITY,
    RECALL,
    AddingConfig,
    BracketsConfig,
    ParityConfig,
    RecallConfig,
    VaryingConfig,
    balanced_brackets,
    draw_distinct,
    is_balanced,
    load_adding,
    load_brackets,
    load_parity,
    load_recall,
)
from netwright.data.source import Source
from tests.repetition import for_each

WHOLE: dict[str, Any] = {"val_size": 0, "test_size": 0}


def texts(data: Data) -> list[str]:
    return [row["text"] for row in data.preprocessor.decode(data.train.inputs)]


def answers(data: Data) -> list[str]:
    return [data.spec.class_names[place] for place in data.train.targets.tolist()]


def test_adding_asks_for_the_sum_of_one_marked_number_of_each_half() -> None:
    train = load_adding(AddingConfig(n=500, length=11, **WHOLE)).train
    numbers, marks = train.inputs.unbind(2)
    assert ((numbers >= 0) & (numbers < 1)).all()
    assert (marks[:, :5].sum(1) == 1).all()
    assert (marks[:, 5:].sum(1) == 1).all()
    marked = numbers[marks == 1].reshape(500, 2)
    torch.testing.assert_close(train.targets, marked.sum(1, keepdim=True))
    assert marks.any(dim=0).all()  # no place is never marked


def test_a_constant_answer_to_adding_is_off_by_a_sixth() -> None:
    targets = load_adding(AddingConfig(n=20_000, length=2, **WHOLE)).train.targets
    assert float((targets - 1).square().mean()) == pytest.approx(1 / 6, rel=0.03)


def test_recall_asks_for_the_first_token_alone() -> None:
    data = load_recall(RecallConfig(n=90, length=7, symbols=3, **WHOLE))
    assert [text[0] for text in texts(data)] == answers(data)
    assert Counter(answers(data)) == {"A": 30, "B": 30, "C": 30}
    assert set("".join(text[1:] for text in texts(data))) == {"0", "1"}
    assert {len(text) for text in texts(data)} == {7}
    assert data.spec.vocab_size == 6


def test_parity_is_whether_the_ones_are_even() -> None:
    data = load_parity(ParityConfig(n=400, length=9, min_length=3, **WHOLE))
    expected = ["odd" if text.count("1") % 2 else "even" for text in texts(data)]
    assert answers(data) == expected
    assert {len(text) for text in texts(data)} == set(range(3, 10))
    assert 160 < Counter(expected)["odd"] < 240
    assert data.spec.padding is not None
    filled = data.train.inputs.eq(data.spec.padding).sum(dim=1)  # what models pass over
    assert (9 - filled).tolist() == [len(text) for text in texts(data)]


def test_every_part_has_the_classes_in_their_ratio() -> None:
    data = load_recall(RecallConfig(n=300, length=8, symbols=3))
    for _, split in data.splits():
        counts = split.targets.bincount(minlength=3)
        assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("kinds", [1, 2, 3])
def test_half_of_the_brackets_are_balanced_and_counts_do_not_tell_which(kinds: int) -> None:
    config = BracketsConfig(n=200, length=14, min_length=3, kinds=kinds, **WHOLE)
    data = load_brackets(config)
    expected = ["balanced" if is_closed(text) else "unbalanced" for text in texts(data)]
    assert answers(data) == expected
    assert Counter(expected) == {"balanced": 100, "unbalanced": 100}
    assert {len(text) for text in texts(data)} == {4, 6, 8, 10, 12, 14}
    for text in texts(data):
        assert all(text.count(pair[0]) == text.count(pair[1]) for pair in ("()", "[]", "{}"))
    counts = {
        answer: Counter(
            len(text) for text, its in zip(texts(data), expected, strict=True) if its == answer
        )
        for answer in data.spec.class_names
    }
    assert counts["balanced"] == counts["unbalanced"]  # nor does the length


def is_closed(text: str) -> bool:
    """The same by a stack."""
    waiting: list[str] = []
    for bracket in text:
        if bracket in "([{":
            waiting.append({"(": ")", "[": "]", "{": "}"}[bracket])
        elif not waiting or waiting.pop() != bracket:
            return False
    return not waiting


@for_each(
    ("text", "expected"),
    [("", True), ("([])", True), ("([)]", False), ("())(", False), ("((", False), ("(]", False)],
)
def test_balance_by_hand(text: str, expected: bool) -> None:
    assert is_balanced(text) is expected
    assert is_closed(text) is expected


def test_every_balanced_text_has_the_same_chance() -> None:
    random = Random(0)
    drawn = Counter(balanced_brackets(3, 1, random) for _ in range(2_000))
    assert sorted(drawn) == ["((()))", "(()())", "(())()", "()(())", "()()()"]  # Catalan's five
    assert all(abs(count - 400) < 80 for count in drawn.values())


@for_each(
    ("source", "settings"),
    [
        (RECALL, {"n": 1024, "length": 9}),  # half of all that there are
        (PARITY, {"n": 62, "length": 6}),  # half of all
        (BRACKETS, {"n": 22, "length": 8, "kinds": 1}),  # half of the balanced ones
        (BRACKETS, {"n": 500}),
    ],
    ids=["recall", "parity", "brackets", "short and long brackets"],
)
def test_no_sequence_occurs_twice_in_whatever_part(
    source: Source, settings: dict[str, Any]
) -> None:
    data = source.load(parse(source.config, settings))
    rows = chain.from_iterable(split.inputs.tolist() for _, split in data.splits())
    assert len(set(map(tuple, rows))) == settings["n"]
    assert data.notes == ()


def test_recall_over_few_steps_says_that_its_sequences_repeat() -> None:
    data = load_recall(RecallConfig(n=1025, length=9))
    note = "there are 2048 different sequences for 1025 rows: splits share some"
    assert data.notes == (note,)


@for_each("source", [ADDING, RECALL, PARITY, BRACKETS], ids=lambda source: source.load.__name__)
def test_the_seed_decides_all(source: Source) -> None:
    short = {"min_length": 4} if issubclass(source.config, VaryingConfig) else {}
    settings: dict[str, Any] = {"n": 40, "length": 6} | short

    def draw(seed: int) -> Data:
        return source.load(parse(source.config, settings | {"seed": seed}))

    first, again, other = draw(0), draw(0), draw(1)
    torch.testing.assert_close(first.train.inputs, again.train.inputs, rtol=0, atol=0)
    assert not torch.equal(first.train.inputs, other.train.inputs)
    assert [len(split) for _, split in first.splits()] == [28, 4, 8]
    encoded = first.preprocessor.encode(first.train.inputs)
    torch.testing.assert_close(encoded, first.train.inputs)


@for_each(
    ("config", "settings", "sentence"),
    [
        (ParityConfig, {"min_length": 21}, "min_length must be at most length, got 21 and 20"),
        (
            BracketsConfig,
            {"length": 21, "min_length": 21},
            "brackets come in pairs, got min_length = length = 21",
        ),
        (
            ParityConfig,
            {"n": 63, "length": 6},
            "n must be at most half of the 124 different sequences, got 63",
        ),
        (
            BracketsConfig,
            {"n": 23, "length": 8, "kinds": 1},
            "n must be at most the 22 balanced texts, got 23",
        ),
        (RecallConfig, {"symbols": 27}, "symbols must be at most 26, got 27"),
        (AddingConfig, {"length": 1}, "length must be at least 2, got 1"),
    ],
)
def test_settings_without_an_answer_are_refused(
    config: Any, settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        parse(config, settings)


def test_new_sums_are_encoded_as_the_drawn_ones_were() -> None:
    encoder = load_adding(AddingConfig(n=20, length=4)).preprocessor
    assert encoder.encode_targets([[0.5], [1.25]]).tolist() == [[0.5], [1.25]]


@pytest.mark.parametrize("count", [4, 5])
def test_brackets_come_in_pairs_of_which_no_more_are_drawn_than_needed(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = []

    def noted(pairs: int, draw: Any) -> Any:
        drawn.append(pairs)
        return draw_distinct(pairs, draw)

    monkeypatch.setattr(toy_tasks, "draw_distinct", noted)
    data = load_brackets(BracketsConfig(n=count, **WHOLE))
    assert drawn == [math.ceil(count / 2)]
    assert len(data.train) == count


def test_one_class_alone_is_refused() -> None:
    with pytest.raises(DataError, match=r"^brackets has only one class in its training rows, 'bal"):
        load_brackets(BracketsConfig(n=1, **WHOLE))
