"""Multi30k: line by line in both languages, divided as published, and what is refused."""

import gzip
from pathlib import Path

import pytest

from netwright.core.errors import ConfigError, DataError, DownloadError
from netwright.data.catalog import load
from netwright.data.text.pair_encoder import PairEncoder

WORDS = {"en": ("one dog", "two dogs", "a cat"), "de": ("ein Hund", "zwei Hunde", "eine Katze")}
PARTS = {"train": 6, "val": 2, "test_2016_flickr": 3}


def write(root: Path, parts: dict[str, int] | None = None) -> Path:
    folder = root / "multi30k"
    folder.mkdir()
    for part, count in (parts or PARTS).items():
        for language, words in WORDS.items():
            text = "".join(f"{words[row % 3]}\n" for row in range(count))
            (folder / f"{part}.{language}.gz").write_bytes(gzip.compress(text.encode()))
    return folder


def test_lines_are_pairs_in_one_vocabulary_either_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path)
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path))
    data = load("multi30k", tokenizer="word", lower=True)
    encoder = data.preprocessor
    assert isinstance(encoder, PairEncoder)
    assert {name: len(split) for name, split in data.splits()} == {"train": 6, "val": 2, "test": 3}
    assert data.test_is_given
    assert data.spec.shared_vocabulary
    assert encoder.decode(data.split("test").inputs) == [
        {"en": english, "de": german.lower()}
        for english, german in zip(*WORDS.values(), strict=True)
    ]
    turned = load("multi30k", source="de", target="en", tokenizer="word", shared_vocabulary=False)
    assert isinstance(turned.preprocessor, PairEncoder)
    assert turned.preprocessor.columns == ("de", "en")
    assert not turned.spec.shared_vocabulary


def test_what_is_not_there_or_does_not_fit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path))
    with pytest.raises(DownloadError, match=r"^multi30k is not on this machine: put train.en.gz"):
        load("multi30k")
    folder = write(tmp_path)
    (folder / "val.de.gz").write_bytes(gzip.compress(b"ein Hund\n"))
    with pytest.raises(DataError, match=r"^val has 2 lines in en and 1 in de: wanted the same"):
        load("multi30k")
    with pytest.raises(ConfigError, match=r"source and target must be two languages, got de twice"):
        load("multi30k", source="de")


@pytest.mark.slow
def test_the_published_sentences_are_read(real_data: object) -> None:
    assert callable(real_data)
    real_data("multi30k/train.de.gz")
    data = load("multi30k", tokenizer="word")
    counts = {name: len(split) for name, split in data.splits()}
    assert counts == {"train": 29_000, "val": 1_014, "test": 1_000}
