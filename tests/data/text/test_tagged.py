"""Tagged sentences as data: by the names of files or by chance, no word lost."""

import gzip
from pathlib import Path

import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.files import file_content
from netwright.data.spec import IGNORED
from netwright.data.text.tag_encoder import TagEncoder
from netwright.data.text.tagged import TaggedFilesConfig, load_tagged


def row(number: int, word: str, tag: str) -> str:
    return "\t".join([str(number), word, "_", tag, *"______"])


def write(path: Path, sentences: int, tag: str = "VERB") -> None:
    lines = []
    for number in range(sentences):
        words = ["dogs", "bark", f"x{number}"][: 1 + number % 3]
        tags = ["NOUN", tag, "NOUN"]
        lines += [
            row(place + 1, *pair) for place, pair in enumerate(zip(words, tags, strict=False))
        ]
        lines.append("")
    path.write_text("\n".join(lines), encoding="utf-8")


def test_files_of_a_folder_say_their_parts(tmp_path: Path) -> None:
    for part, count in (("train", 9), ("dev", 3), ("test", 6)):
        write(tmp_path / f"en-{part}.conllu", count)
    data = load_tagged(TaggedFilesConfig(path=str(tmp_path)))
    assert {part: len(split) for part, split in data.splits()} == {"train": 9, "val": 3, "test": 6}
    assert data.test_is_given and data.spec.class_names == ("NOUN", "VERB")
    assert torch.equal(data.train.inputs == 0, data.train.targets == IGNORED)
    assert data.notes == (
        "sentences: 9 train, 3 val, 6 test (by file names)",
        "2 words known, 2 tags; unknown: 16.7 % of train, 16.7 % of val, 16.7 % of test",
        "3 words per example, longer sentences continue in the next",
    )
    encoder = data.preprocessor
    assert isinstance(encoder, TagEncoder)
    again = (
        encoder.encode(tmp_path / "en-dev.conllu"),
        encoder.encode_targets(str(tmp_path / "en-dev.conllu")),
    )
    assert data.val is not None
    assert torch.equal(again[0], data.val.inputs) and torch.equal(again[1], data.val.targets)


def test_one_file_is_divided_by_chance_and_no_word_is_lost(tmp_path: Path) -> None:
    write(tmp_path / "train.conllu", 30)
    config = TaggedFilesConfig(path=str(tmp_path / "train.conllu"), max_length=2, min_count=1)
    data = load_tagged(config)
    counted = sum(int((split.targets != IGNORED).sum()) for _, split in data.splits())
    assert counted == 10 * (1 + 2 + 3)
    assert not data.test_is_given and "held out at random" in data.notes[0]


def test_what_cannot_be_learned_from_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "x.conllu", 12, tag="NOUN")
    with pytest.raises(DataError, match=r"^x\.conllu has only one tag, 'NOUN'$"):
        load_tagged(TaggedFilesConfig(path=str(tmp_path / "x.conllu")))
    with pytest.raises(ConfigError, match=r"^path is empty, wanted a \.conllu file or a folder"):
        load_tagged(TaggedFilesConfig())


def test_packed_sentences_have_one_allowance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_content, "FREE", 2**20)
    line = "\t".join(["1", "a", "a", "X", *"______"])
    content = gzip.compress(f"{line}\n\n".encode() * 2**15)  # 2**19 bytes and some
    for place in range(4):
        (tmp_path / f"{place}.conllu.gz").write_bytes(content)
    with pytest.raises(DataError, match=r"conllu\.gz unpacks to far more than its size"):
        load_tagged(TaggedFilesConfig(path=str(tmp_path)))
