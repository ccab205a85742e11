"""Published texts: the counts that they were published with, and only the published content."""

import gzip
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from netwright.core.config import parse
from netwright.core.errors import DataError, DownloadError
from netwright.data.catalog import SOURCES
from netwright.data.dataset import Data
from netwright.data.files.download import RemoteFile
from netwright.data.spec import IGNORED
from netwright.data.text.conllu import parse_conllu
from netwright.data.text.corpus import WindowConfig, corpus_data
from netwright.data.text.published import (
    ARTICLES,
    PHRASES,
    PLAYS,
    SENTENCES,
    TREES,
    read_published,
)
from netwright.data.text.word_tokenizer import WordTokenizer

Find = Callable[[str], Path]
FILES = (PLAYS, *ARTICLES.values(), *SENTENCES.values(), PHRASES, *TREES.values())


def load(name: str, **settings: object) -> Data:
    source = SOURCES.load(name)
    return source.load(parse(source.config, settings))


def counted(data: Data) -> dict[str, int]:
    """How many targets of each part count."""
    return {part: int((split.targets != IGNORED).sum()) for part, split in data.splits()}


def test_every_file_has_an_address_of_one_commit_and_a_sum() -> None:
    assert len({file.sha256 for file in FILES}) == len(FILES) == 11
    for file in FILES:
        (address,) = file.addresses
        assert re.search(rf"/[0-9a-f]{{40}}/.*{re.escape(file.name)}$", address)
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)


def test_every_set_has_its_parts_in_files_of_these_names() -> None:
    def named(files: dict[str, RemoteFile]) -> dict[str, str]:
        return {part: file.name for part, file in files.items()}

    assert PLAYS.name == "input.txt"
    assert named(ARTICLES) == {"train": "train.txt", "val": "valid.txt", "test": "test.txt"}
    assert named(SENTENCES) == {
        part: f"stsa.binary.{name}"
        for part, name in (("train", "train"), ("val", "dev"), ("test", "test"))
    }
    assert PHRASES.name == "stsa.binary.phrases.train"
    assert named(TREES) == {
        part: f"en_ewt-ud-{name}.conllu"
        for part, name in (("train", "train"), ("val", "dev"), ("test", "test"))
    }


def test_packed_files_must_hold_the_published_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path))
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a.txt.gz").write_bytes(gzip.compress("café".encode()))
    right = "850f7dc43910ff890f8879c0ed26fe697c93a067ad93a7d50f466a7028a9bf4e"
    file = RemoteFile(name="a.txt", addresses=(), size=5, sha256=right)
    assert read_published("set", file) == "café"
    other = RemoteFile(name="a.txt", addresses=(), size=5, sha256="0" * 64)
    with pytest.raises(DataError, match=r"a\.txt\.gz is damaged: it does not hold the published a"):
        read_published("set", other)


@pytest.mark.parametrize("keep", [0, 10, 20], ids=["empty", "no body", "cut off"])
def test_a_packed_file_that_cannot_be_unpacked_is_refused_with_its_name(
    keep: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path))
    (tmp_path / "wikitext-2").mkdir()
    packed = tmp_path / "wikitext-2" / "train.txt.gz"
    packed.write_bytes(gzip.compress(b"some text and more of it")[:keep] or b"no gzip")
    sentence = f"{packed} is damaged: it does not hold the published train.txt"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        load("wikitext-2")


@pytest.mark.parametrize(
    ("name", "file", "header", "label"),
    [("imdb", "train.tsv", "text", "pos"), ("sst2", "dev.tsv", "sentence", "2")],
)
def test_labels_other_than_0_and_1_are_refused_with_file_and_line(
    name: str,
    file: str,
    header: str,
    label: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path))
    (tmp_path / name).mkdir()
    for part in ("train.tsv", "dev.tsv", "test.tsv"):
        last = label if part == file else "1"
        rows = f"{header}\tlabel\nfine\t1\ndull\t0\n\nplain\t{last}\n"
        (tmp_path / name / part).write_text(rows, encoding="utf-8")
    sentence = f"{file}:5: column 'label': must be 0 or 1, got '{label}'"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        load(name)


def test_reviews_that_cannot_be_unpacked_are_refused_with_their_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path))
    (tmp_path / "imdb").mkdir()
    (tmp_path / "imdb" / "train.tsv.gz").write_bytes(gzip.compress(b"text\tlabel\n")[:-9])
    with pytest.raises(DataError, match=r"^train\.tsv\.gz: the gzip file is truncated or damaged$"):
        load("imdb")


@pytest.mark.parametrize("name", ["imdb", "sst2", "tinyshakespeare", "ud-ewt"])
def test_what_is_not_there_is_refused_with_its_place(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NETWRIGHT_DATA", raising=False)
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path))
    monkeypatch.setenv("NETWRIGHT_OFFLINE", "1")
    with pytest.raises(DownloadError, match=r"^[a-z0-9-]+ is not on this machine"):
        load(name)


def test_tiny_shakespeare_is_scored_on_its_last_tenth(real_data: Find) -> None:
    text = real_data("tinyshakespeare/input.txt").read_text(encoding="ascii")
    data = load("tinyshakespeare", window=256)
    assert data.spec.vocab_size == 65 + 4 and data.test is None
    assert (data.name, data.test_is_given) == ("tinyshakespeare", False)
    assert counted(data)["val"] == len(text) - int(0.9 * len(text)) - 1 == 111_539
    assert data.val is not None
    assert data.preprocessor.decode(data.val.inputs[:1])[0]["text"] == text[1_003_854:][:256]


def test_wikitext_has_the_tokens_that_it_was_published_with(real_data: Find) -> None:
    real_data("wikitext-2/valid.txt.gz")
    text = read_published("wikitext-2", ARTICLES["val"])
    tokenizer = WordTokenizer.fit([text], split_at="spaces", line_ends=True)
    assert len(tokenizer.encode(text)) == 217_646
    data = corpus_data("wikitext-2", {"train": [text]}, tokenizer, WindowConfig())
    assert data.preprocessor.decode(data.train.inputs[:1])[0]["text"].startswith(
        "\n= Homarus gammarus =\n\nHomarus gammarus , known as the European lobster"
    )


@pytest.mark.slow
def test_sst2_is_divided_as_published_in_both_of_its_forms(
    real_data: Find, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = real_data("sst2/train.tsv").parent
    data = load("sst2")
    assert counted(data) == {"train": 6920, "val": 872, "test": 1821}
    assert data.spec.class_names == ("negative", "positive") and data.test_is_given
    assert torch.bincount(data.train.targets).tolist() == [3310, 3610]
    # As it was published: the label first, then the sentence.
    (tmp_path / "sst2").mkdir()
    for part, file in SENTENCES.items():
        name = "dev.tsv" if part == "val" else f"{part}.tsv"
        rows = (folder / name).read_text(encoding="utf-8").split("\n")[1:-1]
        lines = [" ".join(reversed(row.split("\t"))) for row in rows]
        (tmp_path / "sst2" / file.name).write_text("\n".join([*lines, ""]), encoding="utf-8")
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path))
    again = load("sst2")
    assert torch.equal(again.train.inputs, data.train.inputs)
    assert torch.equal(again.train.targets, data.train.targets)


def test_sst2_learns_from_phrases_and_is_scored_on_sentences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    phrases = "".join(f"{n % 2} {'fine' if n % 2 else 'dull'} part {n}\n" for n in range(9))
    content = phrases.encode()
    file = replace(PHRASES, size=len(content), sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setattr("netwright.data.text.published.PHRASES", file)
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path))
    (tmp_path / "sst2").mkdir()
    for name, count in (("train", 6), ("dev", 4), ("test", 5)):
        rows = [f"a {name} film {n}\t{n % 2}" for n in range(count)]
        text = "\n".join(["sentence\tlabel", *rows, ""])
        (tmp_path / "sst2" / f"{name}.tsv").write_text(text, encoding="utf-8")
    assert counted(load("sst2")) == {"train": 6, "val": 4, "test": 5}
    monkeypatch.setenv("NETWRIGHT_OFFLINE", "1")
    needed = r"^data\.phrases=true needs stsa\.binary\.phrases\.train \(\d.* MB\), --set "
    alone = r"data\.phrases=false learns from sentences alone: .*; put stsa\.binary\.phrases"
    with pytest.raises(DownloadError, match=needed + alone):
        load("sst2", phrases=True)
    (tmp_path / "sst2" / f"{PHRASES.name}.gz").write_bytes(gzip.compress(content))
    data = load("sst2", phrases=True, min_count=1)
    assert counted(data) == {"train": 9, "val": 4, "test": 5}
    assert data.preprocessor.decode(data.train.inputs)[3]["text"] == "fine part 3"
    assert data.train.targets.tolist() == [n % 2 for n in range(9)]


@pytest.mark.covers("dataset-imdb")
def test_imdb_reads_the_reviews_that_lie_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path))
    (tmp_path / "imdb").mkdir()
    for part in ("train", "test"):
        rows = [f'{n}.txt\t{n % 2}\t1\t"Alien" is<br /><br />film {n % 2}' for n in range(20)]
        text = "\n".join(["file\tlabel\trating\ttext", *rows, ""])
        (tmp_path / "imdb" / f"{part}.tsv.gz").write_bytes(gzip.compress(text.encode()))
    data = load("imdb", val_size=0.2)
    assert counted(data) == {"train": 16, "val": 4, "test": 20}
    assert data.preprocessor.decode(data.train.inputs[:1])[0]["text"] == '" alien " is film 0'


def test_universal_dependencies_have_their_words(real_data: Find) -> None:
    real_data("ud-english-ewt/en_ewt-ud-dev.conllu.gz")
    sentences = parse_conllu("dev", read_published("ud-english-ewt", TREES["val"]))
    assert len(sentences) == 2001
    assert sum(len(sentence.words) for sentence in sentences) == 25_147
    assert len({tag for sentence in sentences for tag in sentence.tags}) == 17
