"""The manifest: no flipped bit goes unseen, and no file is taken that it does not list."""

import re
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import DataError
from netwright.core.files.inside import Folder
from netwright.core.files.manifest import check_folder, read_folder, whole_folder
from netwright.core.files.storage import MANIFEST, new_folder, read_json, write_json
from tests.odd_files import ODD, outside_of, plant


def fill(path: Path) -> None:
    with new_folder(path) as staging:
        staging.write("model", b"weights")
        staging.write("state", b"s")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    return outside_of(tmp_path / "run")


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_every_flipped_bit_of_a_file_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "step-1"
    fill(folder)
    content = (folder / "model").read_bytes()
    sentence = f"{folder / 'model'} is damaged: its sha256 differs from the manifest"
    for bit in range(8 * len(content)):
        (folder / "model").write_bytes(flipped(content, bit))
        with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
            check_folder(folder)
    (folder / "model").write_bytes(content)
    check_folder(folder)


def test_every_flipped_bit_of_the_manifest_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "step-1"
    with new_folder(folder) as staging:
        staging.write("m", b"weights")
    content = (folder / MANIFEST).read_bytes()
    for bit in range(8 * len(content)):
        (folder / MANIFEST).write_bytes(flipped(content, bit))
        with pytest.raises(DataError):
            check_folder(folder)


@pytest.mark.parametrize("manifest", ["[]", "{}", "3", '{"format": 2, "sha256": {}}'])
def test_manifest_of_another_format_is_refused(tmp_path: Path, manifest: str) -> None:
    (tmp_path / MANIFEST).write_text(manifest, encoding="utf-8")
    sentence = f"{tmp_path / MANIFEST} is not a manifest of format 1"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        check_folder(tmp_path)


def test_missing_file_is_named(tmp_path: Path) -> None:
    fill(tmp_path / "step-1")
    (tmp_path / "step-1" / "state").unlink()
    sentence = f"{tmp_path / 'step-1' / 'state'} is missing, but the manifest lists it"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        check_folder(tmp_path / "step-1")


def test_unreadable_file_is_named(tmp_path: Path) -> None:
    fill(tmp_path / "step-1")
    (tmp_path / "step-1" / "state").unlink()
    (tmp_path / "step-1" / "state").mkdir()
    sentence = f"{tmp_path / 'step-1' / 'state'} cannot be read: Is a directory"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        read_folder(tmp_path / "step-1")


def test_missing_manifest_is_named(tmp_path: Path) -> None:
    fill(tmp_path / "step-1")
    (tmp_path / "step-1" / MANIFEST).unlink()
    with pytest.raises(DataError, match=re.escape(f"{tmp_path / 'step-1' / MANIFEST} is not")):
        check_folder(tmp_path / "step-1")


@pytest.mark.parametrize("kind", [*ODD, "folder"])
def test_a_file_of_a_manifest_is_a_regular_one(tmp_path: Path, outside: Path, kind: str) -> None:
    fill(tmp_path / "run" / "step-1")
    file = tmp_path / "run" / "step-1" / "state"
    for name in ("state", MANIFEST):
        file = file.with_name(name)
        file.unlink()
        file.mkdir() if kind == "folder" else plant(file, kind, outside)
        for read in (check_folder, read_folder):
            with pytest.raises(DataError, match=f"^{re.escape(str(file))} is|^{file} cannot be"):
                read(tmp_path / "run" / "step-1")


@pytest.mark.parametrize(
    "name", ["/dev/zero", "../outside/file", "..", ".", "", "a/b", "a\\b", "a\0", "step-1/model"]
)
def test_a_manifest_names_files_of_its_own_folder_only(
    tmp_path: Path, outside: Path, name: str
) -> None:
    folder = tmp_path / "run"
    write_json(folder / MANIFEST, {"format": 1, "sha256": {name: "0" * 64}})
    sentence = f"{folder / MANIFEST} lists {name!r}, wanted the name of a file in the same folder"
    for read in (check_folder, read_folder):
        with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
            read(folder)


@pytest.mark.parametrize("wrong", ["", "{sum:.63}", "{sum}0", "{sum:.8}", 1, None, ["{sum}"]])
def test_a_sum_is_compared_whole(tmp_path: Path, wrong: Any) -> None:
    fill(tmp_path / "step-1")
    manifest = read_json(tmp_path / "step-1" / MANIFEST)
    found = manifest["sha256"]["model"]
    manifest["sha256"]["model"] = wrong.format(sum=found) if isinstance(wrong, str) else wrong
    write_json(tmp_path / "step-1" / MANIFEST, manifest)
    for read in (check_folder, read_folder):
        with pytest.raises(
            DataError, match=r"manifest\.json gives model no sha256 of 64 digits, got"
        ):
            read(tmp_path / "step-1")
    manifest["sha256"]["model"] = found[:-1] + ("0" if found[-1] != "0" else "1")
    write_json(tmp_path / "step-1" / MANIFEST, manifest)
    for read in (check_folder, read_folder):
        with pytest.raises(DataError, match="model is damaged: its sha256 differs"):
            read(tmp_path / "step-1")


def test_the_files_of_a_whole_folder_are_those_that_were_checked(tmp_path: Path) -> None:
    fill(tmp_path / "step-1")
    (tmp_path / "step-1" / "unlisted").write_bytes(b"x")
    with whole_folder(tmp_path / "step-1") as files:
        (tmp_path / "step-1" / "model").unlink()
        (tmp_path / "step-1" / "model").write_bytes(b"changed")
        assert {name: file.read() for name, file in files.items()} == {
            "model": b"weights",
            "state": b"s",
        }


class Endless(BufferedReader):
    """A file with more bytes than there is memory."""

    def read(self, size: int | None = -1, /) -> bytes:
        raise MemoryError


def test_a_file_that_does_not_fit_into_memory_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "step-1")
    read = Folder.read
    monkeypatch.setattr(
        Folder,
        "read",
        lambda folder, name: (
            Endless(FileIO(folder.open(name))) if name == "model" else read(folder, name)
        ),
    )
    with pytest.raises(DataError, match=r"step-1/model does not fit in memory$"):
        read_folder(tmp_path / "step-1")
