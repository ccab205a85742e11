"""Notes of a preparation: a line for each file, and none that is torn or not ours is believed."""

from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.data.loading.token_files import TokenFile
from netwright.data.text.shards.notes import BEGUN, DONE, Encoded, Notes

SUM = "0" * 64
FIRST, SECOND = (Encoded(TokenFile(f"train-0000{one}.bin", 9, SUM), 18, 1) for one in range(2))


def noted(folder: Path, *files: Encoded) -> Notes:
    notes = Notes(folder, {"tokens": "char"})
    for one in files:
        (folder / one.file.name).write_bytes(b"")
        notes.add(one)
    return notes


def test_a_file_is_noted_by_one_more_line(tmp_path: Path) -> None:
    notes = noted(tmp_path, FIRST)
    begun, line, node = (
        (tmp_path / BEGUN).stat(),
        (tmp_path / DONE).read_text(),
        (tmp_path / DONE).stat().st_ino,
    )
    notes.add(SECOND)
    assert (tmp_path / DONE).read_text().startswith(line) and line.count("\n") == 1
    assert (tmp_path / DONE).stat().st_ino == node  # added to, not written anew
    assert (tmp_path / BEGUN).stat() == begun
    assert noted(tmp_path).done == {FIRST.file.name: FIRST}  # the second is not there
    (tmp_path / SECOND.file.name).write_bytes(b"")
    assert noted(tmp_path, SECOND).done == {one.file.name: one for one in (FIRST, SECOND)}


@pytest.mark.parametrize(
    "torn",
    [
        b'["train-00001.bin", 9',
        b"\0\0\n",
        b"7\n",
        b'["train-00001.bin", "9", "%b", 18, 1]\n' % SUM.encode(),
        b'["train-00001.bin", 9, "%b", 18, [1]]\n' % SUM.encode(),
        b'[["train-00001.bin"], 9, "%b", 18, 1]\n' % SUM.encode(),
        b'["../train-00001.bin", 9, "%b", 18, 1]\n' % SUM.encode(),
    ],
)
def test_a_line_that_is_torn_or_not_ours_is_passed_over(tmp_path: Path, torn: bytes) -> None:
    noted(tmp_path, FIRST)
    (tmp_path / SECOND.file.name).write_bytes(b"")
    with (tmp_path / DONE).open("ab") as file:
        file.write(torn)
    again = noted(tmp_path)
    assert list(again.done) == [FIRST.file.name]
    again.add(SECOND)
    assert list(noted(tmp_path).done) == [FIRST.file.name, SECOND.file.name]


def test_other_conditions_and_folders_are_refused(tmp_path: Path) -> None:
    noted(tmp_path, FIRST)
    with pytest.raises(DataError, match="begun from other texts or with other settings"):
        Notes(tmp_path, {"tokens": "bpe"})
    (tmp_path / BEGUN).unlink()
    with pytest.raises(DataError, match="holds other files"):
        noted(tmp_path)
