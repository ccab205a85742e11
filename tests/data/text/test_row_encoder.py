"""Rows with a text: tokens or bags of them, from tables, rows and lists."""

import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.text.row_encoder import RowEncoder, count_words, word_weights
from netwright.data.text.tokenizer import PAD, UNK
from netwright.data.text.word_tokenizer import WordTokenizer

TEXTS = ["good film", "bad film film", "good"]
WORDS = WordTokenizer.fit(TEXTS)  # film good bad = 4 5 6


def encoder(**settings: Any) -> RowEncoder:
    usual = {"column": "text", "target": "class", "target_columns": ("kind",)}
    names = {"class_names": ("no", "yes")}
    return RowEncoder(tokenizer=WORDS, length=3, **{**usual, **names, **settings})


@pytest.mark.parametrize("kind", ["list", "dicts", "frame", "path"])
def test_texts_come_in_a_list_in_rows_in_a_frame_or_in_a_file(kind: str, tmp_path: Path) -> None:
    rows = [{"text": "good new film at last", "kind": "yes"}, {"text": "bad", "kind": "no"}]
    pd.DataFrame(rows).to_csv(tmp_path / "rows.csv", index=False)
    source = {
        "list": [row["text"] for row in rows],
        "dicts": rows,
        "frame": pd.DataFrame(rows),
        "path": str(tmp_path / "rows.csv"),
    }[kind]
    assert encoder().encode(source).tolist() == [[5, UNK, 4], [6, PAD, PAD]]
    assert torch.equal(encoder().encode(encoder().read(source)), encoder().encode(source))
    if kind != "list":
        assert encoder().encode_targets(source).tolist() == [1, 0]


def test_targets_come_in_a_list_too() -> None:
    assert encoder().encode_targets(["no", "yes", "yes"]).tolist() == [0, 1, 1]
    assert encoder().encode_targets([]).shape == (0,)
    reals = encoder(target="real", class_names=())
    assert reals.encode_targets([1.5, 2.0]).tolist() == [[1.5], [2.0]]
    labels = encoder(target="labels", target_columns=("no", "yes"))
    assert labels.encode_targets([[0, 1], [1, 1]]).tolist() == [[0, 1], [1, 1]]


def test_the_spec_of_tokens_names_the_padding() -> None:
    spec = encoder().spec
    assert (spec.inputs, spec.input_shape, spec.vocab_size, spec.padding) == ("tokens", (3,), 7, 0)
    assert (spec.num_outputs, spec.class_names, spec.target_names) == (2, ("no", "yes"), ("kind",))


def test_tokens_have_no_units() -> None:
    offset, scale = encoder().units()
    assert (offset.tolist(), scale.tolist()) == ([0, 0, 0], [1, 1, 1])
    assert encoder().decode(encoder().encode(["bad film"])) == [{"text": "bad film"}]


def test_a_bag_counts_words_and_leaves_out_unknown_ones() -> None:
    bag = encoder(inputs="bag")
    assert bag.encode(["film zebra bad film film"]).tolist() == [[3, 0, 1]]
    assert bag.spec.inputs == "features" and bag.spec.feature_names == ("film", "good", "bad")
    assert (bag.spec.padding, bag.spec.vocab_size) == (None, 0)
    assert bag.decode(bag.encode(["bad film film"])) == [{"film": "2", "bad": "1"}]
    offset, scale = bag.units()
    assert offset.tolist() == [0, 0, 0] and scale.tolist() == [1, 1, 1]


def test_a_weighted_bag_is_read_back_as_counts() -> None:
    tokens = WORDS.encode_all(TEXTS)
    weights = word_weights(tokens, WORDS.size)
    assert weights == pytest.approx((math.log(1.5), math.log(1.5), math.log(3)))
    bag = encoder(inputs="tf-idf", weights=weights)
    encoded = bag.encode(TEXTS)
    torch.testing.assert_close(encoded, count_words(tokens, WORDS.size) * torch.tensor(weights))
    assert bag.decode(encoded)[1] == {"film": "2", "bad": "1"}
    flat = encoder(inputs="tf-idf", weights=(0.0, 1.0, 2.0))
    assert flat.units()[1].tolist() == [1, 1, 0.5]


def test_remarks_tell_what_is_unknown_cut_or_blank() -> None:
    assert encoder().remarks(["good", "good new film at last"]) == (
        "50 % of the tokens are unknown",
        "1 of 2 texts are truncated after 3 tokens",
    )
    assert encoder(inputs="bag").remarks(["good good good good"]) == ()
    for inputs in ("tokens", "bag"):
        told = encoder(inputs=inputs).remarks(["good", "", " "])
        assert told == ("2 of 3 texts are blank",)


def test_a_table_without_the_text_column_is_refused() -> None:
    with pytest.raises(DataError, match=r"^input has no column 'text'; did you mean 'txt'\?$"):
        encoder().encode({"txt": "good"})


def test_weights_of_other_words_and_rows_without_a_target_are_refused() -> None:
    encoder(inputs="tf-idf", weights=(1.0, 2.0, 0.0)).check_numbers()
    with pytest.raises(DataError, match=r"^weights of a saved encoder must have 3 entries, got 1$"):
        encoder(inputs="tf-idf", weights=(1.0,)).check_numbers()
    with pytest.raises(DataError, match=r"^a class target must have one column, got 0$"):
        encoder(target_columns=()).check_numbers()
