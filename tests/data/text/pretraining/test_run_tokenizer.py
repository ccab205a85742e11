"""The tokenizer of a run: the same as it was, and what is no run of texts."""

import json
from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.data.catalog import load
from netwright.data.spec import IGNORED
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.pair_encoder import PairEncoder
from netwright.data.text.pretraining.run_tokenizer import has_run_tokenizer, read_run_tokenizer
from netwright.data.text.row_encoder import RowEncoder
from netwright.data.text.tokenizer import PAD
from netwright.data.text.word_tokenizer import WordTokenizer
from tests.data.text.test_tagged import write

KNOWN = WordTokenizer.fit(["a dog and a cat"])


def run(folder: Path, content: object) -> Path:
    (folder / "model").mkdir(exist_ok=True)
    (folder / "model" / "preprocessor.json").write_text(json.dumps(content))
    return folder


def test_rows_are_read_with_the_tokens_of_a_run(tmp_path: Path) -> None:
    folder = run(tmp_path, {"tokenizer": KNOWN.to_json()})
    assert read_run_tokenizer(folder) == KNOWN
    table = tmp_path / "rows.tsv"
    table.write_text("text\tlabel\n" + "a bird\tx\na dog\ty\n" * 6)
    data = load("text-table", path=str(table), text="text", target="label", vocabulary=str(folder))
    assert isinstance(data.preprocessor, RowEncoder)
    assert data.preprocessor.tokenizer == KNOWN


def test_pairs_and_tags_are_read_with_the_tokens_of_a_run(tmp_path: Path) -> None:
    folder = run(tmp_path, {"source": KNOWN.to_json(), "target": KNOWN.to_json()})
    assert read_run_tokenizer(folder) == KNOWN
    assert has_run_tokenizer(folder)
    table = tmp_path / "rows.tsv"
    table.write_text("source\ttarget\n" + "a bird\ta dog\n" * 12)
    pairs = load("text-pairs", path=str(table), vocabulary=str(folder)).preprocessor
    assert isinstance(pairs, PairEncoder)
    assert pairs.source == pairs.target == KNOWN
    letters = CharTokenizer.fit(["dogsbarkx0123456789"])
    write(tmp_path / "x.conllu", 20)
    other = run(tmp_path, {"tokenizer": letters.to_json()})
    data = load("tagged", path=str(tmp_path / "x.conllu"), vocabulary=str(other))
    assert data.notes[1].startswith("19 char tokens known, 2 tags; unknown: 0 % of train")
    assert int((data.train.targets != IGNORED).sum()) < int((data.train.inputs != PAD).sum())
    two = run(tmp_path, {"source": KNOWN.to_json(), "target": letters.to_json()})
    assert not has_run_tokenizer(two)
    assert not has_run_tokenizer(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, r"^vocabulary must be the folder of a run on texts, or "),
        ([1], r"^vocabulary must be a run on texts: .* has no tokenizer, or has two$"),
        (
            {"tokenizer": {"kind": 3}},
            r"^vocabulary must be a run on texts: .* has no tokenizer, or has two$",
        ),
        ({"tokenizer": {"kind": "word"}}, "tokenizer|tokens"),
    ],
)
def test_what_is_no_run_of_texts_is_refused(tmp_path: Path, content: object, sentence: str) -> None:
    if content is not None:
        run(tmp_path, content)
    with pytest.raises(DataError, match=sentence):
        read_run_tokenizer(tmp_path)
