"""Token files as data: the training part stays in them, the others are scored token by token."""

import json
from pathlib import Path

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.loading.token_windows import TokenSplit
from netwright.data.spec import IGNORED
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.shards import source
from netwright.data.text.shards.index import INDEX
from netwright.data.text.shards.prepare import Preparation, prepare_shards
from netwright.data.text.shards.source import ShardsConfig, load_shards


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for part, lines in {"train": 30, "valid": 5, "test": 3}.items():
        (corpus / f"{part}.txt").write_text("a text of the corpus\n" * lines)
    tokenizer = CharTokenizer.fit(["a text of the corpus\n"])
    what = Preparation(corpus=corpus, out=tmp_path / "shards", tokens=tokenizer, workers=1)
    prepare_shards(what, lambda read, tokens: None)
    return what.out


def test_a_prepared_corpus_is_data(shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = load_shards(ShardsConfig(path=str(shards), window=16))
    assert isinstance(data.train, TokenSplit) and data.train.total == (30 * 21 - 1) // 16
    assert data.val is not None and data.test is not None and data.test_is_given
    for split, lines in ((data.val, 5), (data.test, 3)):
        assert int((split.targets != IGNORED).sum()) == lines * 21 - 1
    assert data.spec.vocab_size == data.spec.num_outputs == 4 + 14
    assert data.notes == (
        "tokens (char): 630 train in 1 file, 105 val in 1 file, 63 test in 1 file",
    )
    monkeypatch.setattr(source, "MOST_HELD", 40)
    cut = load_shards(ShardsConfig(path=str(shards), window=16))
    assert cut.val is not None and int((cut.val.targets != IGNORED).sum()) == 39
    assert "the first 40 tokens of val are scored" in cut.notes


def test_what_cannot_be_trained_on_is_refused(shards: Path) -> None:
    with pytest.raises(ConfigError, match="path is empty"):
        load_shards(ShardsConfig())
    with pytest.raises(DataError, match=r"the val part of .* has 105 tokens, wanted more than"):
        load_shards(ShardsConfig(path=str(shards), window=105))
    told = json.loads((shards / INDEX).read_text())
    (shards / INDEX).write_text(json.dumps({**told, "vocab_size": 19}))
    with pytest.raises(DataError, match="19 different tokens and a vocabulary of 18"):
        load_shards(ShardsConfig(path=str(shards)))
    (shards / INDEX).write_text(json.dumps(told))
    (shards / "train-00000.bin").write_bytes(b"\0\0")
    with pytest.raises(DataError, match="has 2 bytes, its index says 1,260"):
        load_shards(ShardsConfig(path=str(shards)))
