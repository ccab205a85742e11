"""Sequences of symbols: tokens and back, padding, and what is refused."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from netwright.core.errors import DataError, NetwrightError
from netwright.data.series.symbols import SymbolEncoder
from tests.repetition import for_each

ENCODER = SymbolEncoder(symbols="ab", length=3, class_names=("no", "yes"))


def test_each_character_is_a_token_and_short_texts_are_filled_up() -> None:
    tokens = ENCODER.encode(["ab", "bba"])
    assert tokens.tolist() == [[1, 2, 0], [2, 2, 1]]
    assert tokens.dtype == torch.int64
    assert ENCODER.decode(tokens) == [{"text": "ab"}, {"text": "bba"}]
    assert ENCODER.encode(np.array([[1, 2, 0]], dtype=np.int8)).tolist() == [[1, 2, 0]]
    assert ENCODER.encode_targets(["yes", "no"]).tolist() == [1, 0]


def test_a_file_holds_one_text_a_line(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("a\nbb\n")
    assert ENCODER.encode(path).tolist() == [[1, 0, 0], [2, 2, 0]]
    assert ENCODER.encode(ENCODER.read(str(path))).tolist() == [[1, 0, 0], [2, 2, 0]]


def test_the_encoder_travels_as_json() -> None:
    assert SymbolEncoder.from_json(json.loads(json.dumps(ENCODER.to_json()))) == ENCODER
    offset, scale = ENCODER.units()
    assert (offset.tolist(), scale.tolist()) == ([0, 0, 0], [1, 1, 1])


@for_each(
    ("source", "sentence"),
    [
        (["a", "axb"], "text 1 must be made of 'ab', got 'x'"),
        (["abab"], "text 0 must have 1 to 3 symbols, got 4"),
        (["a", ""], "text 1 must have 1 to 3 symbols, got 0"),
        ([[1, 2, 3]], "tokens must lie between 0 and 2, got 3 at [0, 2]"),
        ([[1, -1, 0]], "tokens must lie between 0 and 2, got -1 at [0, 1]"),
        ([[1, 2]], "inputs must have shape (N, 3), got (1, 2)"),
        ([[0.5, 1.0, 2.0]], "inputs must be texts or whole numbers, got dtype float64"),
    ],
)
def test_what_is_no_such_text_is_refused(source: Any, sentence: str) -> None:
    with pytest.raises(NetwrightError, match=f"^{re.escape(sentence)}$"):
        ENCODER.encode(source)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "texts.txt"
    with pytest.raises(DataError, match=re.escape(f"{path}: cannot be read: No such file")):
        ENCODER.encode(path)
    path.write_bytes(b"\xff")
    with pytest.raises(DataError, match=re.escape(f"{path}: is not UTF-8 text")):
        ENCODER.encode(path)


@pytest.mark.parametrize("source", ["texts.txt", Path("texts.txt")])
def test_a_file_of_texts_holds_no_classes(source: str | Path) -> None:
    sentence = r"^texts\.txt has no classes: give other data as \(texts, classes\)$"
    with pytest.raises(DataError, match=sentence):
        ENCODER.encode_targets(source)


@pytest.mark.parametrize("length", [0, -1, 10**12])
def test_a_length_that_no_training_gives_is_refused(length: int) -> None:
    ENCODER.check_numbers()
    with pytest.raises(DataError, match=r"length of a saved encoder|an example holds"):
        replace(ENCODER, length=length).check_numbers()
