"""Text files are found, read and told apart; what is not text is refused by name."""

import gzip
import re
from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.data.text.text_files import (
    PLAIN,
    find_files,
    has_ending,
    holds_files,
    named_parts,
    read_text,
)


def write(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name, encoding="utf-8")
    return folder


def test_endings_are_read_in_capitals_too() -> None:
    assert has_ending("A.TXT", PLAIN) and has_ending(Path("b.txt.gz"), PLAIN)
    assert not has_ending("c.tsv", PLAIN)


def test_files_are_found_below_a_folder_in_one_order(tmp_path: Path) -> None:
    write(tmp_path, "b.txt", "a/z.txt.gz", "c.md")
    assert [file.name for file in find_files(tmp_path, PLAIN)] == ["z.txt.gz", "b.txt"]
    assert find_files(tmp_path / "c.md", PLAIN) == [tmp_path / "c.md"]


def test_a_folder_without_text_is_refused(tmp_path: Path) -> None:
    sentence = f"{tmp_path} holds no file that ends in .txt or .txt.gz"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        find_files(write(tmp_path, "c.md"), PLAIN)


def test_a_folder_of_images_with_a_note_is_no_text(tmp_path: Path) -> None:
    assert holds_files(str(write(tmp_path, "readme.txt")), PLAIN)
    assert not holds_files(str(write(tmp_path, "cats/1.png")), PLAIN)
    assert not holds_files(str(tmp_path / "readme.txt"), PLAIN)


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        (["train.txt", "valid.txt", "test.txt"], {"train": 1, "val": 1, "test": 1}),
        (["en-ud-train.txt", "en-ud-dev.txt"], {"train": 1, "val": 1}),
        (["train/a.txt", "train/b.txt", "test/a.txt"], {"train": 2, "test": 1}),
        (["train.txt", "notes.txt"], {}),
        (["val.txt", "test.txt"], {}),
        (["train-test.txt"], {}),
        (["training-camp.txt", "contest.txt"], {}),
    ],
)
def test_names_say_parts_where_all_do(
    tmp_path: Path, names: list[str], parts: dict[str, int]
) -> None:
    files = find_files(write(tmp_path, *names), PLAIN)
    found = named_parts(files, tmp_path)
    assert {part: len(its) for part, its in found.items()} == parts
    assert named_parts(files[:1], files[0]) == {}


def test_packed_files_marks_and_line_ends_are_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("café\r\nb".encode("utf-8-sig")))
    assert read_text(tmp_path / "a.txt.gz") == "café\nb"
    (tmp_path / "b.txt").write_bytes("café".encode("utf-16"))
    assert read_text(tmp_path / "b.txt") == "café"
    (tmp_path / "c.txt").write_bytes("café".encode("latin-1"))
    assert read_text(tmp_path / "c.txt", "latin-1") == "café"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"ab\0c", "x.txt:1: a NUL byte; the file is not text (save it as UTF-8)"),
        (b"caf\xe9", "x.txt:1: byte 0xe9 at position 3 is not UTF-8; save the file as UTF-8"),
        (b" \n ", "x.txt: the file is empty"),
    ],
)
def test_what_is_not_text_is_refused(tmp_path: Path, content: bytes, sentence: str) -> None:
    (tmp_path / "x.txt").write_bytes(content)
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        read_text(tmp_path / "x.txt")


def test_a_file_that_is_not_there_or_damaged_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "book.txt")
    sentence = f"{tmp_path}/bok.txt: there is no such file; did you mean 'book.txt'?"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        read_text(tmp_path / "bok.txt")
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"some text")[:-4])
    with pytest.raises(DataError, match=r"^cut\.txt\.gz: the gzip file is truncated or damaged$"):
        read_text(tmp_path / "cut.txt.gz")
    with pytest.raises(DataError, match=r": cannot be read: Is a directory$"):
        read_text(tmp_path)


def test_a_link_in_a_folder_of_texts_is_refused_and_one_to_the_folder_is_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "diary.txt").write_text("private")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("a")
    (tmp_path / "link").symlink_to("texts")
    assert find_files(tmp_path / "link", PLAIN) == [tmp_path / "link" / "a.txt"]
    (tmp_path / "texts" / "b.txt").symlink_to(tmp_path / "diary.txt")
    with pytest.raises(DataError, match=r"texts/b\.txt is a symbolic link"):
        find_files(tmp_path / "texts", PLAIN)
