"""BERT's vocabulary behind our special tokens: the pieces that `tokenizers` gives."""

import json
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import DataError
from netwright.data.text.pretraining.bert_vocabulary import read_bert_vocabulary, vocabulary_file
from netwright.data.text.subword_tokenizer import WordPieceTokenizer
from netwright.data.text.tokenizer_json import framing_json

library = pytest.importorskip("tokenizers")

# As in BERT's own file: [PAD] first, unused ones, the special tokens somewhere behind them.
PIECES = (
    "[PAD] [unused0] [UNK] [CLS] [SEP] [MASK] ! , . ' - a b c d e f g h i k l m n o p r s t u y "
    "##a ##b ##e ##i ##l ##n ##o ##r ##s ##t ##u ##y ##ing the dog cat is run ##ning caf 世 界"
).split()
TEXTS = (
    "The dog is running, isn't it?",
    "Café CAFE\u0301  naïve",
    "世界 a世b",
    "tabs\tand\u0000control\u200b\ufffd\r\nlines",
    "x" * 101 + " the",
    "",
)


def write(folder: Path, *pieces: str) -> Path:
    file = folder / "vocab.txt"
    file.write_text("\n".join(pieces or PIECES) + "\n", encoding="utf-8")
    return file


def theirs(file: Path, *, lower: bool) -> Any:
    return library.BertWordPieceTokenizer(str(file), lowercase=lower)


def by_name(vocabulary: Any, text: str) -> list[str]:
    names = {0: "[PAD]", 1: "[UNK]", 2: "[CLS]", 3: "[SEP]"}
    ours = vocabulary.tokenizer
    return [names.get(token, ours.tokens[token]) for token in ours.encode(text)]


@pytest.mark.parametrize("lower", [True, False])
def test_texts_have_the_tokens_that_the_library_gives(lower: bool, tmp_path: Path) -> None:
    file = write(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": lower}))
    vocabulary, wanted = read_bert_vocabulary(file), theirs(file, lower=lower)
    assert vocabulary.tokenizer.lower is lower
    for text in TEXTS:
        found = wanted.encode(text, add_special_tokens=False)
        assert by_name(vocabulary, text) == found.tokens, text
        places = [vocabulary.places[token] for token in vocabulary.tokenizer.encode(text)]
        assert places == found.ids, text
    wanted.save(str(tmp_path / "tokenizer.json"))
    assert read_bert_vocabulary(tmp_path / "tokenizer.json") == vocabulary


def test_transformers_reads_the_same_tokens(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    file = write(tmp_path)
    vocabulary = read_bert_vocabulary(file)
    wanted = transformers.BertTokenizer(str(file))
    for text in TEXTS:
        assert by_name(vocabulary, text) == wanted.tokenize(text), text


def test_every_token_has_its_place_and_the_mask_is_the_last(tmp_path: Path) -> None:
    vocabulary = read_bert_vocabulary(write(tmp_path))
    assert vocabulary.tokenizer.tokens[:5] == ("<pad>", "<unk>", "<bos>", "<eos>", "[unused0]")
    assert vocabulary.places[:5] == (0, 2, 3, 4, 1)
    assert vocabulary.places[-1] == PIECES.index("[MASK]")
    assert sorted(vocabulary.places) == list(range(len(PIECES)))


def test_capital_letters_in_the_vocabulary_say_that_they_count(tmp_path: Path) -> None:
    assert read_bert_vocabulary(write(tmp_path)).tokenizer.lower
    assert not read_bert_vocabulary(write(tmp_path, *PIECES, "The")).tokenizer.lower


def test_an_exported_vocabulary_of_ours_stays_as_it_is(tmp_path: Path) -> None:
    ours = WordPieceTokenizer.fit(["the dog ran, the cat sat"], lower=True)
    file = tmp_path / "tokenizer.json"
    file.write_text(framing_json(ours, "[MASK]"))
    vocabulary = read_bert_vocabulary(file)
    assert vocabulary.tokenizer == ours
    assert vocabulary.places == tuple(range(ours.size + 1))


def test_a_tokenizer_keeps_how_it_cleans(tmp_path: Path) -> None:
    ours = read_bert_vocabulary(write(tmp_path)).tokenizer
    assert WordPieceTokenizer.from_json(json.loads(json.dumps(ours.to_json()))) == ours
    plain = WordPieceTokenizer(tokens=ours.tokens, lower=True)
    assert plain.encode("café") != ours.encode("café")


def test_the_file_is_found_beside_weights(tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    assert vocabulary_file(weights) is None
    weights.touch()
    assert vocabulary_file(weights) is None
    file = write(tmp_path)
    assert vocabulary_file(weights) == vocabulary_file(file) == file
    theirs(file, lower=True).save(str(tmp_path / "tokenizer.json"))
    assert vocabulary_file(weights) == tmp_path / "tokenizer.json"
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": {"type": "BPE"}}))
    assert vocabulary_file(weights) == file  # a GPT-2's is none of BERT's


def test_other_files_are_refused(tmp_path: Path) -> None:
    file, json_file = write(tmp_path, "[PAD]", "[UNK]", "[CLS]", "the"), tmp_path / "tokenizer.json"
    with pytest.raises(DataError, match=r"vocab.txt must have the token \[SEP\], as BERT's"):
        read_bert_vocabulary(file)
    with pytest.raises(DataError, match="'the' appears twice"):
        read_bert_vocabulary(write(tmp_path, *PIECES, "the"))
    theirs(write(tmp_path), lower=True).save(str(json_file))
    told = json.loads(json_file.read_text())
    for broken, sentence in (
        ([], "must be a WordPiece tokenizer, as BERT's is"),
        ({**told, "pre_tokenizer": None}, "must be a WordPiece tokenizer, as BERT's is"),
        ({**told, "normalizer": {**told["normalizer"], "clean_text": False}}, "must clean texts"),
        ({**told, "model": {**told["model"], "vocab": {"the": 7}}}, "numbered from 0 on"),
        ({**told, "model": {**told["model"], "vocab": {"the": "x"}}}, "numbered from 0 on"),
    ):
        json_file.write_text(json.dumps(broken))
        with pytest.raises(DataError, match=sentence):
            read_bert_vocabulary(json_file)
