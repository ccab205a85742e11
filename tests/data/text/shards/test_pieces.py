"""Pieces of a corpus: together they are all of it, cut where no tokenizer notices."""

import gzip
from pathlib import Path

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.data.text.shards import pieces
from netwright.data.text.shards.pieces import TextPiece, cut_blocks, place_to_cut, plan_pieces


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few bytes."""
    monkeypatch.setattr(pieces, "BLOCK", 16)
    monkeypatch.setattr(pieces, "LOOK", 12)


def planned(root: Path, **settings: float) -> list[TextPiece]:
    files = sorted(root.iterdir())
    given = {"val_size": 0.0, "test_size": 0.0, "piece_size": 40, **settings}
    return plan_pieces(files, root, **given)  # type: ignore[arg-type]


def text_of(found: list[TextPiece], part: str) -> str:
    return "".join(text for piece in found if piece.part == part for text in piece.blocks())


def test_a_text_is_cut_behind_a_line_between_letters() -> None:
    assert place_to_cut(b"ab \n c\nd") == 7
    assert place_to_cut(b"ab\r\nd") == 4
    assert place_to_cut(b"ab \n c") == 4  # behind any line
    assert place_to_cut(b"abc") == 1  # within one, between characters
    assert place_to_cut("xää".encode()[1:]) == 2
    assert place_to_cut(b"\x80\x80") == 2


@pytest.mark.parametrize("line", ["word and word\n", " = a = \n \n", "ääää", "\U0001f600", "x\r\n"])
def test_blocks_are_together_the_text(line: str) -> None:
    content = (line * 40).encode()
    blocks = list(cut_blocks([content[:7], content[7:50], content[50:]]))
    assert b"".join(blocks) == content
    assert max(map(len, blocks)) <= 16 + 12 + 43
    for block in blocks:
        block.decode()


@pytest.mark.parametrize("held_out", [(0.0, 0.0), (0.3, 0.0), (0.2, 0.3)])
def test_pieces_are_together_the_text(tmp_path: Path, held_out: tuple[float, float]) -> None:
    texts = [f"line {number} of the text\n" * 9 for number in range(3)]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(text)
    found = planned(tmp_path, val_size=held_out[0], test_size=held_out[1])
    assert "".join(text_of(found, part) for part in ("train", "val", "test")) == "".join(texts)
    total = sum(map(len, texts))
    assert len(text_of(found, "train")) == pytest.approx(total * (1 - sum(held_out)), abs=30)
    assert len(text_of(found, "test")) == pytest.approx(total * held_out[1], abs=30)
    assert len({piece.name for piece in found}) == len(found) > 10
    ended = [one for piece in found for one in piece.ranges if one.is_ended]
    assert [one.file.name for one in ended] == ["0.txt", "1.txt", "2.txt"]
    assert all(one.end == one.file.stat().st_size for one in ended)


def test_no_piece_ends_behind_its_part(tmp_path: Path) -> None:
    # Looked for from 36 on, train ends behind the line at 43; from 40 on, the best cut is at 49.
    text = "a" * 42 + "\n " + "b" * 4 + "\n" + "b" * 23
    (tmp_path / "a.txt").write_text(text)
    found = planned(tmp_path, val_size=0.5)
    assert [len(text_of(found, part)) for part in ("train", "val")] == [43, 29]
    assert text_of(found, "train") + text_of(found, "val") == text


def test_small_texts_share_a_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(100):
        (tmp_path / f"{number:03}.txt").write_text(f"text {number:03}\n")
    found = planned(tmp_path)
    assert [len(piece.ranges) for piece in found] == [4] * 25
    assert all(one.is_ended for piece in found for one in piece.ranges)
    assert text_of(found, "train") == "".join(f"text {number:03}\n" for number in range(100))
    monkeypatch.setenv("NETWRIGHT_MAX_FILES", "24")
    with pytest.raises(ConfigError, match="25 token files, at most 24 are allowed: give a larger"):
        planned(tmp_path)


def test_parts_are_told_by_names_and_packed_files_are_whole(tmp_path: Path) -> None:
    (tmp_path / "train-a.txt.gz").write_bytes(gzip.compress(b"packed\ntext " * 20))
    (tmp_path / "train-b.txt").write_bytes(b"\xef\xbb\xbfplain\r\ntext")
    (tmp_path / "valid.txt").write_text("held out")
    found = planned(tmp_path)
    names = [(piece.name, piece.ranges[0].is_ended) for piece in found]
    assert names == [("train-00000.bin", True), ("train-00001.bin", True), ("val-00000.bin", False)]
    assert text_of(found, "train") == "packed\ntext " * 20 + "plain\ntext"
    assert text_of(found, "val") == "held out"


def test_what_cannot_be_cut_or_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xe9 caf\xe9")
    with pytest.raises(ConfigError, match=r"less than 1, got 0.5 \+ 0.5"):
        planned(tmp_path, val_size=0.5, test_size=0.5)
    with pytest.raises(DataError, match=r"a.txt is not UTF-8.*convert it"):
        text_of(planned(tmp_path), "train")
