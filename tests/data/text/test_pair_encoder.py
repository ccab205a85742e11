"""Pairs of texts as tensors: by hand, from lists and tables, cut, and through JSON and back."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.spec import IGNORED
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.tokenizer import BOS, EOS, PAD, UNK
from netwright.data.text.word_tokenizer import WordTokenizer
from tests.repetition import for_each

ENCODER = PairEncoder(
    source=CharTokenizer.fit(["abc"]),  # a = 4, b = 5, c = 6
    target=CharTokenizer.fit(["xy"]),  # x = 4, y = 5
    source_length=3,
    target_length=4,
    columns=("de", "en"),
)
ROWS = [{"de": "ab", "en": "yx"}, {"de": "c", "en": "x"}]


def test_what_is_read_told_and_said_by_hand() -> None:
    inputs, targets = ENCODER.encode_pairs(["ab", "c"], ["yx", ""])
    assert inputs.tolist() == [[4, 5, PAD, BOS, 5, 4, PAD], [6, PAD, PAD, BOS, PAD, PAD, PAD]]
    assert targets.tolist() == [[5, 4, EOS, IGNORED], [EOS, IGNORED, IGNORED, IGNORED]]


def test_what_is_too_long_loses_its_end_and_teaches_no_end() -> None:
    inputs, targets = ENCODER.encode_pairs(["abcab"], ["xyxyx"])
    assert inputs.tolist() == [[4, 5, 6, BOS, 4, 5, 4]]
    assert targets.tolist() == [[4, 5, 4, 5]]


def test_unknown_letters_and_no_letters_are_one_unknown_token() -> None:
    assert ENCODER.encode(["q", ""])[:, 0].tolist() == [UNK, UNK]


def test_sources_that_are_cut_unknown_or_blank_are_named() -> None:
    assert ENCODER.remarks(["abc", "a"]) == ()
    assert ENCODER.remarks(["abca", "aq", "", "abcq"]) == (
        "sources truncated after 3 tokens: row 0, row 3",
        "sources with unknown tokens: row 1",  # of row 3 the unknown one is cut off
        "blank sources: row 2",
    )
    (many,) = ENCODER.remarks([""] * 8)
    assert many.endswith("row 5, ... (8 in all)")


def test_a_prefix_counts_and_makes_no_blank_source_a_text() -> None:
    told = replace(ENCODER, source=CharTokenizer.fit(["abc: "]), prefix="task")
    assert told.remarks([{"de": "", "task": "abc"}]) == (
        "sources truncated after 3 tokens: row 0",
        "blank sources: row 0",
    )


def test_the_spec_says_what_the_tensors_are() -> None:
    spec = ENCODER.spec
    assert (spec.inputs, spec.target, spec.input_shape) == ("pairs", "tokens", (7,))
    assert (spec.vocab_size, spec.num_outputs, spec.source_length, spec.padding) == (7, 6, 3, PAD)


def test_lists_rows_frames_and_files_are_the_same(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    file = tmp_path / "pairs.tsv"
    file.write_text("de\ten\nab\tyx\nc\tx\n")
    inputs, targets = ENCODER.encode_pairs(["ab", "c"], ["yx", "x"])
    for source in (ROWS, pandas.DataFrame(ROWS), file, str(file)):
        assert torch.equal(ENCODER.encode(source), inputs)
        assert torch.equal(ENCODER.encode_targets(source), targets)
    assert torch.equal(ENCODER.encode_targets(["yx", "x"]), targets)


def test_files_in_another_encoding_are_read_by_it(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("de\ten\n\u00e4b\tyx\n", encoding="latin-1")
    umlauts = replace(ENCODER, source=CharTokenizer.fit(["ab\u00e4"]))
    for encoder in (umlauts.reading(encoding="latin-1"), umlauts):  # said, and detected
        read = encoder.encode(tmp_path / "pairs.tsv")
        assert torch.equal(read, umlauts.encode_pairs(["\u00e4b"], ["yx"])[0])
    both = "\u00e4b\tyx\n"
    mixed = b"de\ten\n" + both.encode() + both.encode("latin-1")
    (tmp_path / "mixed.tsv").write_bytes(mixed)
    with pytest.raises(DataError, match=r"mixed.tsv:3: .* is not UTF-8"):
        umlauts.encode(tmp_path / "mixed.tsv")


def test_where_targets_are_unknown_the_decoder_is_told_the_beginning_alone() -> None:
    told = [BOS, PAD, PAD, PAD]
    assert ENCODER.encode(["ab", "c"])[:, 3:].tolist() == [told, told]
    assert ENCODER.encode([{"de": "ab"}])[:, 3:].tolist() == [told]


def test_what_was_said_is_written_up_to_its_end() -> None:
    said = torch.tensor([[4, 5, EOS, 4], [5, 5, 5, 5], [EOS, EOS, EOS, EOS]])
    assert ENCODER.write(said) == ["xy", "yyyy", ""]


def test_tokens_have_names_without_padding() -> None:
    inputs, _ = ENCODER.encode_pairs(["ab"], ["y"])
    assert ENCODER.names(inputs[0]) == (["a", "b"], ["y", "<eos>"])


def test_pairs_are_shown_as_they_were_and_tokens_have_no_units() -> None:
    inputs, _ = ENCODER.encode_pairs(["ab", "c"], ["yx", "x"])
    assert ENCODER.decode(inputs) == ROWS
    offset, scale = ENCODER.units()
    assert torch.equal(inputs * scale + offset, inputs.double())
    assert offset.dtype == scale.dtype == torch.float64


def test_it_comes_back_from_json() -> None:
    words = PairEncoder(
        source=WordTokenizer.fit(["ein Haus"], min_count=1),
        target=CharTokenizer.fit(["a house"]),
        source_length=2,
        target_length=9,
    )
    for encoder in (ENCODER, words):
        assert PairEncoder.from_json(json.loads(json.dumps(encoder.to_json()))) == encoder


def test_a_missing_column_and_uneven_pairs_are_refused() -> None:
    with pytest.raises(DataError, match=r"^input has no column 'de'"):
        ENCODER.encode([{"fr": "ab"}])
    with pytest.raises(DataError, match=r"^there are 2 sources but 1 targets$"):
        ENCODER.encode_pairs(["a", "b"], ["x"])


@for_each("name", ["source_length", "target_length"])
@for_each("length", [0, -1, 10**12])
def test_lengths_that_no_training_gives_are_refused(name: str, length: int) -> None:
    ENCODER.check_numbers()
    forged: dict[str, Any] = {name: length}
    with pytest.raises(DataError, match=f"{name} of a saved encoder|an example holds"):
        replace(ENCODER, **forged).check_numbers()
