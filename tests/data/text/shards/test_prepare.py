"""Token files of a corpus: the tokens of its texts, whoever encodes, and how often it is killed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.core.errors import DataError, RunError
from netwright.core.files.folder_lock import FolderLock
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.corpus_encoder import stream_of
from netwright.data.text.shards import pieces, prepare
from netwright.data.text.shards.index import read_index, read_vocabulary
from netwright.data.text.shards.notes import DONE
from netwright.data.text.shards.prepare import (
    Preparation,
    Prepared,
    plan_size,
    prepare_shards,
    summary,
)
from netwright.data.text.shards.token_folder import holds_token_files
from tests.forked_ranks import FORKS
from tests.memory_limit import limit_memory


@dataclass(frozen=True)
class Characters:
    tokenizer: str = "char"
    vocab_size: int | None = None
    min_count: int = 1
    lower: bool = False


TEXTS = {
    f"{name}-{part}.txt": f"text {name} of {part}\n" * 30
    for name in "ab"
    for part in ("train", "val")
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and token files of a few bytes."""
    monkeypatch.setattr(pieces, "BLOCK", 64)
    monkeypatch.setattr(prepare, "BLOCK", 64)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return folder


def prepared(corpus: Path, name: str = "shards", **settings: Any) -> Prepared:
    given = {"tokens": Characters(), "piece_size": 200, "workers": 1, **settings}
    what = Preparation(corpus=corpus, out=corpus.parent / name, **given)
    return prepare_shards(what, lambda read, tokens: None)


def tokens_of(folder: Path, part: str) -> list[int]:
    stream = read_index(folder).stream(folder, part)
    stream.check_sizes()
    tokens: list[int] = stream.read(torch.tensor([0]), len(stream))[0].tolist()
    return tokens


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.*") if path.is_file()}


def test_token_files_hold_the_tokens_of_the_texts(corpus: Path) -> None:
    told: list[tuple[int, int]] = []
    what = Preparation(
        corpus=corpus, out=corpus.parent / "shards", tokens=Characters(), piece_size=200, workers=1
    )
    made = prepare_shards(what, lambda read, tokens: told.append((read, tokens)))
    tokenizer = read_vocabulary(what.out)
    for part in ("train", "val"):
        texts = [text for name, text in TEXTS.items() if part in name]
        assert tokens_of(what.out, part) == stream_of(texts, tokenizer).tolist()
        assert made.tokens(part) == len(tokens_of(what.out, part))
    assert told[0] == (0, 0) and told[-1] == (1800, 1804) and len(told) == 13
    assert summary(made)[0] == "12 token files of uint16: 962 train, 842 val tokens"


def test_who_begins_again_goes_on(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = prepared(corpus, "whole")
    encode, calls = prepare.encode_piece, 0

    def killed(*given: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls % 4 == 0:
            raise KeyboardInterrupt
        return encode(*given)

    monkeypatch.setattr(prepare, "encode_piece", killed)
    folder = corpus.parent / "shards"
    kept = []
    for _ in range(9):
        try:
            kept.append(prepared(corpus).kept)
            break
        except KeyboardInterrupt:
            assert not holds_token_files(folder)  # no index: not to be trained on
    assert kept == [9]
    ours, theirs = files_of(folder), files_of(corpus.parent / "whole")
    assert ours.keys() == theirs.keys()
    assert {name for name in ours if ours[name] != theirs[name]} == set()
    monkeypatch.setattr(prepare, "encode_piece", encode)
    (folder / "train-00003.bin").unlink()
    again = prepared(corpus)
    assert again.kept == 11 and again.index == whole.index
    assert summary(again)[-1] == "11 of the files were there before"


def test_other_texts_and_settings_are_refused(corpus: Path) -> None:
    prepared(corpus)
    with pytest.raises(DataError, match="begun from other texts or with other settings"):
        prepared(corpus, tokens=Characters(lower=True))
    (corpus / "a-train.txt").write_text("another text\n")
    with pytest.raises(DataError, match="begun from other texts or with other settings"):
        prepared(corpus)
    with pytest.raises(DataError, match="holds other files: give --out a new or empty folder"):
        prepared(corpus, "corpus")
    with (
        FolderLock(corpus.parent / "shards"),
        pytest.raises(RunError, match="is in use by"),
    ):
        prepared(corpus)


def test_a_tokenizer_that_exists_is_used_as_it_is(corpus: Path) -> None:
    few = CharTokenizer.fit(["text"])
    made = prepared(corpus, tokens=few)
    assert made.tokenizer == few == read_vocabulary(corpus.parent / "shards")
    known = sum(TEXTS[name].count(letter) for name in TEXTS for letter in "tex")
    assert made.unknown == sum(map(len, TEXTS.values())) - known


@pytest.mark.slow
def test_several_processes_write_the_same_files(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # other processes have the usual sizes
    (corpus / "a-train.txt").write_text("a line of a long text\n" * 120_000)
    prepared(corpus, "alone", piece_size=2**20)
    prepared(corpus, "together", piece_size=2**20, workers=2)
    alone, together = files_of(corpus.parent / "alone"), files_of(corpus.parent / "together")
    alone.pop(DONE), together.pop(DONE)  # they name them as they were finished
    assert alone == together


def test_what_is_told_on_the_way_grows_to_the_whole(corpus: Path) -> None:
    told: list[tuple[int, int]] = []
    what = Preparation(
        corpus=corpus,
        out=corpus.parent / "shards",
        tokens=Characters(),
        piece_size=200,
        workers=1,
    )
    made = prepare_shards(what, lambda read, tokens: told.append((read, tokens)))
    files = sum(map(len, made.index.parts.values()))
    assert told == sorted(told) and len(told) == files + 1 and told[0] == (0, 0)
    assert told[-1] == (plan_size(what), made.tokens("train") + made.tokens("val"))


MORE = 2**25  # bytes that a preparation may take


def _prepare_limited(folder: Path) -> None:
    torch.set_num_threads(1)
    prepare.FITTED_ON = 2  # blocks: the others fit no more into the limit
    limit_memory(MORE)
    what = Preparation(
        corpus=folder / "corpus.txt",
        out=folder / "shards",
        tokens=Characters(),
        piece_size=2**23,
        workers=1,
    )
    prepare_shards(what, lambda read, tokens: None)


@pytest.mark.slow
def test_a_corpus_larger_than_memory_is_prepared(tmp_path: Path) -> None:
    line = "the quick brown fox jumps over the lazy dog\n"
    with (tmp_path / "corpus.txt").open("w") as file:
        for _ in range(36):
            file.write(line * (2**20 // len(line)))
    process = FORKS.Process(target=_prepare_limited, args=(tmp_path,))
    process.start()
    process.join()
    assert process.exitcode == 0
    index = read_index(tmp_path / "shards")
    size = (tmp_path / "corpus.txt").stat().st_size
    assert sum(file.tokens for files in index.parts.values() for file in files) == size > MORE
