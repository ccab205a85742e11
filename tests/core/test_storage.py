"""Storage: whole or absent under every failure, and no flipped bit goes unseen."""

import errno
import hashlib
import os
import re
from pathlib import Path
from typing import Any

import pytest

from netwright.core import storage
from netwright.core.errors import ConfigError, DataError
from netwright.core.storage import (
    MANIFEST,
    check_folder,
    new_folder,
    read_json,
    sha256_of,
    write_bytes,
    write_json,
    write_text,
)


def fail(*args: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_written_content_is_read_back(tmp_path: Path) -> None:
    write_bytes(tmp_path / "a", b"\x00\xff\r\n")
    write_text(tmp_path / "b", "Zürich\n")
    write_json(tmp_path / "c", {"x": [1, 2.5, None, "ü"]})
    assert (tmp_path / "a").read_bytes() == b"\x00\xff\r\n"
    assert (tmp_path / "b").read_bytes() == "Zürich\n".encode()
    assert read_json(tmp_path / "c") == {"x": [1, 2.5, None, "ü"]}
    assert (tmp_path / "c").read_text(encoding="utf-8").endswith("}\n")
    assert names(tmp_path) == ["a", "b", "c"]


def test_a_file_can_be_read_by_others(tmp_path: Path) -> None:
    write_text(tmp_path / "a", "x")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("before", [None, b"old"])
def test_failed_write_keeps_the_old_content_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, before: bytes | None
) -> None:
    path = tmp_path / "state.json"
    if before is not None:
        path.write_bytes(before)
    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="No space left"):
        write_bytes(path, b"new")
    assert names(tmp_path) == ([] if before is None else ["state.json"])
    assert before is None or path.read_bytes() == before


def test_interrupted_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "a", b"new")
    assert names(tmp_path) == []


@pytest.fixture
def order(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What reaches the disk, and when something gets its final name."""
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("/proc is not there")
    seen: list[str] = []
    flush, rename = os.fsync, os.replace

    def seen_flush(handle: int) -> None:
        place = Path(os.readlink(f"/proc/self/fd/{handle}"))
        seen.append("folder" if place.is_dir() else place.name.rpartition(".")[0] or place.name)
        flush(handle)

    def seen_rename(source: Path | str, target: Path) -> None:
        seen.append(f"rename {target.name}")
        rename(source, target)

    monkeypatch.setattr(os, "fsync", seen_flush)
    monkeypatch.setattr(os, "replace", seen_rename)
    return seen


def test_content_is_on_disk_before_the_rename_and_the_folder_after(
    tmp_path: Path, order: list[str]
) -> None:
    write_bytes(tmp_path / "a", b"new")
    assert order == [".a", "rename a", "folder"]


def test_all_files_of_a_folder_are_on_disk_before_it_gets_its_name(
    tmp_path: Path, order: list[str]
) -> None:
    fill(tmp_path / "step-1")
    manifest = [f".{MANIFEST}", f"rename {MANIFEST}", "folder"]
    assert order == ["model", "state", *manifest, "rename step-1", "folder"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"deep": [float("-inf")]}])
def test_json_has_no_nan_and_no_infinity(tmp_path: Path, value: Any) -> None:
    write_json(tmp_path / "a", 1)
    with pytest.raises(ValueError, match="Out of range float"):
        write_json(tmp_path / "a", value)
    assert read_json(tmp_path / "a") == 1
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("content", [b"{", b"", b"\xff\xfe{}"])
def test_broken_json_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"^{re.escape(str(path))} is not a readable JSON file: "):
        read_json(path)


def test_absent_json_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=re.escape(f"{tmp_path / 'a'} is not a readable")):
        read_json(tmp_path / "a")


def test_sum_of_a_file_is_that_of_its_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc" * 100_000)
    assert sha256_of(tmp_path / "a") == hashlib.sha256(b"abc" * 100_000).hexdigest()


def fill(path: Path, content: bytes = b"weights") -> None:
    with new_folder(path) as staging:
        (staging / "model").write_bytes(content)
        (staging / "state").write_bytes(b"s")


def test_new_folder_has_its_files_and_their_sums(tmp_path: Path) -> None:
    fill(tmp_path / "step-1")
    assert names(tmp_path) == ["step-1"]
    assert names(tmp_path / "step-1") == [MANIFEST, "model", "state"]
    assert read_json(tmp_path / "step-1" / MANIFEST) == {
        "format": 1,
        "sha256": {
            "model": hashlib.sha256(b"weights").hexdigest(),
            "state": hashlib.sha256(b"s").hexdigest(),
        },
    }
    assert (tmp_path / "step-1").stat().st_mode & 0o777 == 0o755
    check_folder(tmp_path / "step-1")


def test_final_name_is_absent_while_the_folder_is_filled(tmp_path: Path) -> None:
    with new_folder(tmp_path / "step-1") as staging:
        assert not (tmp_path / "step-1").exists()
        assert staging.name.startswith(".")  # nobody takes it for a step


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_exception_leaves_no_new_folder(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), new_folder(tmp_path / "step-1") as staging:
        (staging / "model").write_bytes(b"half")
        raise error
    assert names(tmp_path) == []


def test_exception_leaves_the_old_folder_as_it_was(tmp_path: Path) -> None:
    fill(tmp_path / "model", b"old")
    with pytest.raises(ValueError), new_folder(tmp_path / "model") as staging:
        (staging / "model").write_bytes(b"half")
        raise ValueError
    assert names(tmp_path) == ["model"]
    check_folder(tmp_path / "model")
    assert (tmp_path / "model" / "model").read_bytes() == b"old"


def test_folder_that_is_there_is_replaced_whole(tmp_path: Path) -> None:
    fill(tmp_path / "model", b"old")
    (tmp_path / "model" / "left-over").write_bytes(b"x")
    fill(tmp_path / "model", b"new")
    assert names(tmp_path) == ["model"]
    assert names(tmp_path / "model") == [MANIFEST, "model", "state"]
    assert (tmp_path / "model" / "model").read_bytes() == b"new"
    check_folder(tmp_path / "model")


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_failed_rename_keeps_the_old_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    # Renames: the manifest, the old folder aside, the new one into its place.
    fill(tmp_path / "model", b"old")
    rename, calls = os.replace, [0]

    def sometimes(source: Path, target: Path) -> None:
        calls[0] += 1
        if calls[0] == failing:
            fail()
        rename(source, target)

    monkeypatch.setattr(os, "replace", sometimes)
    with pytest.raises(OSError, match="No space left"):
        fill(tmp_path / "model", b"new")
    assert names(tmp_path) == ["model"]
    assert (tmp_path / "model" / "model").read_bytes() == b"old"
    check_folder(tmp_path / "model")


def test_failed_flush_leaves_no_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_flush", fail)
    with pytest.raises(OSError, match="No space left"):
        fill(tmp_path / "model")
    assert names(tmp_path) == []


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_every_flipped_bit_of_a_file_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "step-1"
    fill(folder)
    content = (folder / "model").read_bytes()
    sentence = f"{folder / 'model'} is damaged: its sha256 is not the one in the manifest"
    for bit in range(8 * len(content)):
        (folder / "model").write_bytes(flipped(content, bit))
        with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
            check_folder(folder)
    (folder / "model").write_bytes(content)
    check_folder(folder)


def test_every_flipped_bit_of_the_manifest_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "step-1"
    with new_folder(folder) as staging:
        (staging / "m").write_bytes(b"weights")
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
    sentence = f"{tmp_path / 'step-1' / 'state'} is missing, the manifest lists it"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        check_folder(tmp_path / "step-1")


def test_missing_manifest_is_named(tmp_path: Path) -> None:
    fill(tmp_path / "step-1")
    (tmp_path / "step-1" / MANIFEST).unlink()
    with pytest.raises(DataError, match=re.escape(f"{tmp_path / 'step-1' / MANIFEST} is not")):
        check_folder(tmp_path / "step-1")


def test_a_folder_that_is_not_there_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place, why in (("nowhere", "No such file or directory"), ("file", "Not a directory")):
        path = tmp_path / place / "page.html"
        with pytest.raises(ConfigError, match=f"^{re.escape(f'{path} cannot be written: {why}')}$"):
            write_text(path, "x")
