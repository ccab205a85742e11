"""Text in pieces: together they are the file, no word is cut, and what is no text is refused."""

import gzip
from pathlib import Path

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.files import file_content
from netwright.data.files.file_content import Allowance
from netwright.data.words import text_pieces as module
from netwright.data.words.text_pieces import text_pieces

TEXT = "Ein Käfer läuft über das Gras,\nund noch einer. 漢字 " * 20


def pieces(path: Path, encoding: str = "") -> list[str]:
    return list(text_pieces(path, encoding, Allowance()))


@pytest.mark.parametrize("size", [4, 7, 64, 2**20])
def test_pieces_are_the_text_and_end_at_blanks(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_content, "PIECE", size)
    for name, encoding in (("a.txt", "utf-8"), ("b.txt.gz", "utf-8"), ("c.txt", "utf-16")):
        content = TEXT.encode(encoding)
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
        found = pieces(tmp_path / name)
        assert "".join(found) == TEXT
        assert all(piece[-1] in " \n" for piece in found[:-1])


def test_another_encoding_is_read_where_it_is_given(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("schön und gut".encode("latin-1"))
    assert pieces(path, "latin-1") == ["schön und ", "gut"]
    with pytest.raises(DataError, match=r"latin.txt: byte 0xf6 at position 3 .*data.encoding"):
        pieces(path)


def test_the_place_of_a_bad_byte_is_that_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_content, "PIECE", 4)
    path = tmp_path / "bad.txt"
    path.write_bytes(b"all is well \xc3\x28")
    with pytest.raises(DataError, match="byte 0xc3 at position 12"):
        pieces(path)


def test_a_word_without_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_content, "PIECE", 10)
    monkeypatch.setattr(module, "LONGEST_WORD", 25)
    path = tmp_path / "long.txt"
    path.write_text("a" * 95)
    found = pieces(path)
    assert "".join(found) == "a" * 95
    assert max(map(len, found)) <= 35


def test_what_is_no_text_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "nul.txt").write_bytes(b"a\0b")
    (tmp_path / "cut.txt.gz").write_bytes(gzip.compress(b"words " * 100)[:-12])
    (tmp_path / "half.txt").write_bytes("ä".encode()[:1])
    for name, said in (
        ("nul.txt", "NUL byte"),
        ("cut.txt.gz", "truncated or damaged"),
        ("half.txt", "byte 0xc3 at position 0"),
        ("nil.txt", "no such file; did you mean 'nul.txt'"),
    ):
        with pytest.raises(DataError, match=said):
            pieces(tmp_path / name)
    with pytest.raises(ConfigError, match="encoding must be a text encoding"):
        pieces(tmp_path / "nul.txt", "klingon")
