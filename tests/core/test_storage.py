"""Storage: whole or absent under every failure, and no flipped bit goes unseen."""

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from netwright.core import storage
from netwright.core.errors import ConfigError, DataError, RunError
from netwright.core.storage import (
    MANIFEST,
    append_text,
    as_json,
    check_folder,
    check_space,
    make_folder,
    new_folder,
    read_folder,
    read_json,
    remove_leftovers,
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
    sentence = f"{path} cannot be written: No space left on device"
    with pytest.raises(RunError, match=f"^{re.escape(sentence)}$"):
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
def order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What reaches the disk, and when something gets its final name."""
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("/proc is not there")
    seen: list[str] = []
    flush = os.fsync

    def without_random(name: str) -> str:
        """`.netwright-a-x1y2z3.part` is `temporary a`."""
        return re.sub(r"^\.netwright-(.*)-[^-]+\.part$", r"temporary \1", name)

    def seen_flush(handle: int) -> None:
        place = Path(os.readlink(f"/proc/self/fd/{handle}"))
        seen.append("folder" if place == tmp_path else without_random(place.name))
        flush(handle)

    def seen_rename(move: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        def rename(source: Path | str, target: Path) -> None:
            seen.append(f"{without_random(Path(source).name)} -> {target.name}")
            move(source, target)

        return rename

    monkeypatch.setattr(os, "fsync", seen_flush)
    monkeypatch.setattr(os, "replace", seen_rename(os.replace))
    monkeypatch.setattr(os, "rename", seen_rename(os.rename))
    return seen


def test_content_is_on_disk_before_the_rename_and_the_folder_after(
    tmp_path: Path, order: list[str]
) -> None:
    write_bytes(tmp_path / "a", b"new")
    assert order == ["temporary a", "temporary a -> a", "folder"]


def test_all_files_of_a_folder_are_on_disk_before_it_gets_its_name(
    tmp_path: Path, order: list[str]
) -> None:
    fill(tmp_path / "step-1")
    filled = ["model", "state", MANIFEST, "temporary step-1"]
    assert order == [*filled, "temporary step-1 -> step-1", "folder"]
    order.clear()
    fill(tmp_path / "step-1", replace=True)
    moved = ["step-1 -> step-1", "temporary step-1 -> step-1"]
    assert order == [*filled, *moved, "folder"]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {"deep": [float("-inf")]}])
def test_json_has_no_nan_and_no_infinity(tmp_path: Path, value: Any) -> None:
    write_json(tmp_path / "a", 1)
    with pytest.raises(ValueError, match="Out of range float"):
        write_json(tmp_path / "a", value)
    with pytest.raises(ValueError, match="Out of range float"):
        as_json(value)
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


def fill(path: Path, content: bytes = b"weights", *, replace: bool = False) -> None:
    with new_folder(path, replace=replace) as staging:
        staging.write("model", content)
        staging.write("state", b"s")


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
    assert read_folder(tmp_path / "step-1") == {"model": b"weights", "state": b"s"}


def test_manifest_tells_what_was_meant_not_what_the_disk_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = storage._fill
    monkeypatch.setattr(storage, "_fill", lambda handle, content: whole(handle, content[:3]))
    with new_folder(tmp_path / "step-1") as staging:
        staging.write("model", b"weights")
        monkeypatch.undo()
    with pytest.raises(DataError, match="model is damaged"):
        check_folder(tmp_path / "step-1")


def test_a_name_is_written_once(tmp_path: Path) -> None:
    for name in ("model", MANIFEST):
        sentence = f"{tmp_path / 'step-1' / name} cannot be written: File exists"
        with (
            pytest.raises(RunError, match=f"^{re.escape(sentence)}$"),
            new_folder(tmp_path / "step-1") as staging,
        ):
            staging.write(name, b"1")
            if name == "model":
                staging.write(name, b"2")
        assert names(tmp_path) == []


def test_final_name_is_absent_while_the_folder_is_filled(tmp_path: Path) -> None:
    with new_folder(tmp_path / "step-1") as staging:
        assert not (tmp_path / "step-1").exists()
        assert staging.path.name.startswith(".")  # nobody takes it for a step


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_exception_leaves_no_new_folder(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), new_folder(tmp_path / "step-1") as staging:
        staging.write("model", b"half")
        raise error
    assert names(tmp_path) == []


def test_exception_leaves_the_old_folder_as_it_was(tmp_path: Path) -> None:
    fill(tmp_path / "model", b"old")
    with pytest.raises(ValueError), new_folder(tmp_path / "model", replace=True) as staging:
        staging.write("model", b"half")
        raise ValueError
    assert names(tmp_path) == ["model"]
    check_folder(tmp_path / "model")
    assert (tmp_path / "model" / "model").read_bytes() == b"old"


def test_folder_that_is_there_is_refused(tmp_path: Path) -> None:
    fill(tmp_path / "step-1", b"old")
    sentence = f"{tmp_path / 'step-1'} is already there, and is never written over"
    with pytest.raises(RunError, match=f"^{re.escape(sentence)}$"):
        fill(tmp_path / "step-1", b"new")
    assert names(tmp_path) == ["step-1"]
    assert read_folder(tmp_path / "step-1")["model"] == b"old"


def test_folder_that_came_meanwhile_is_refused(tmp_path: Path) -> None:
    sentence = f"{tmp_path / 'step-1'} cannot be written: Directory not empty"
    with (
        pytest.raises(RunError, match=f"^{re.escape(sentence)}$"),
        new_folder(tmp_path / "step-1") as staging,
    ):
        staging.write("model", b"late")
        fill(tmp_path / "step-1", b"early")
    assert names(tmp_path) == ["step-1"]
    assert read_folder(tmp_path / "step-1")["model"] == b"early"


def test_folder_that_is_there_is_replaced_whole_where_that_is_asked_for(tmp_path: Path) -> None:
    fill(tmp_path / "model", b"old")
    (tmp_path / "model" / "left-over").write_bytes(b"x")
    fill(tmp_path / "model", b"new", replace=True)
    assert names(tmp_path) == ["model"]
    assert names(tmp_path / "model") == [MANIFEST, "model", "state"]
    assert (tmp_path / "model" / "model").read_bytes() == b"new"
    check_folder(tmp_path / "model")


@pytest.mark.parametrize("failing", [1, 2])
def test_failed_rename_keeps_the_old_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    # Renames: the old folder aside, the new one into its place.
    fill(tmp_path / "model", b"old")
    rename, calls = os.rename, [0]

    def sometimes(source: Path, target: Path) -> None:
        calls[0] += 1
        if calls[0] == failing:
            fail()
        rename(source, target)

    monkeypatch.setattr(os, "rename", sometimes)
    with pytest.raises(RunError, match="No space left"):
        fill(tmp_path / "model", b"new", replace=True)
    assert names(tmp_path) == ["model"]
    assert (tmp_path / "model" / "model").read_bytes() == b"old"
    check_folder(tmp_path / "model")


@pytest.mark.parametrize("before", [None, b"old"])
@pytest.mark.parametrize("failing", [1, 2])
def test_failed_flush_of_a_folder_leaves_the_name_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int, before: bytes | None
) -> None:
    # Flushes: the new folder, then the one that it is in, when it has its name.
    if before is not None:
        fill(tmp_path / "model", before)
    flush, calls = storage._flush_folder, [0]

    def sometimes(folder: Path) -> None:
        calls[0] += 1
        if calls[0] == failing:
            fail()
        flush(folder)

    monkeypatch.setattr(storage, "_flush_folder", sometimes)
    with pytest.raises(RunError, match="No space left"):
        fill(tmp_path / "model", b"new", replace=True)
    assert names(tmp_path) == ([] if before is None else ["model"])
    assert before is None or read_folder(tmp_path / "model")["model"] == before


def test_a_failing_clean_up_does_not_hide_the_first_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(*args: Any, **options: Any) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    for call in ("unlink", "rmdir"):
        monkeypatch.setattr(os, call, cannot)
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(RunError, match="No space left"):
        write_bytes(tmp_path / "a", b"x")
    with pytest.raises(RunError, match="No space left"):
        fill(tmp_path / "model")


def test_an_error_of_the_body_is_not_taken_for_one_of_the_disk(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), new_folder(tmp_path / "model"):
        (tmp_path / "nowhere").read_bytes()


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let a file system have this many bytes free."""

    def leave(free: int, total: int = 10**9) -> None:
        usage = type(shutil.disk_usage("."))(total, total - free, free)
        monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)

    return leave


def test_too_little_space_is_refused_before_anything_is_written(
    tmp_path: Path, room: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    room(1_234_567)
    monkeypatch.setattr(storage, "tempfile", None)  # no temporary name is made
    sentence = (
        f"{tmp_path} has too little space: 1.2 MB (1234568 bytes) needed, "
        "1.2 MB (1234567 bytes) free"
    )
    for write in (
        lambda: check_space(tmp_path, 1_234_568),
        lambda: write_bytes(tmp_path / "a", bytes(1_234_568)),
        lambda: new_folder(tmp_path / "b", needs=1_234_568).__enter__(),
    ):
        with pytest.raises(RunError, match=f"^{re.escape(sentence)}$"):
            write()
    assert names(tmp_path) == []


def test_space_that_is_just_enough_is_used(tmp_path: Path, room: Callable[..., None]) -> None:
    room(7)
    check_space(tmp_path, 7)
    write_bytes(tmp_path / "a", b"weights")
    assert names(tmp_path) == ["a"]


def test_a_file_system_that_tells_no_size_is_tried(
    tmp_path: Path, room: Callable[..., None]
) -> None:
    room(0, total=0)
    check_space(tmp_path, 10**12)


def test_a_file_that_does_not_fit_takes_the_folder_with_it(
    tmp_path: Path, room: Callable[..., None]
) -> None:
    room(10_000)
    with pytest.raises(RunError, match="has too little space"), new_folder(tmp_path / "a") as new:
        new.write("model", bytes(10_000))
        new.write("state", bytes(10_001))
    assert names(tmp_path) == []


def test_leftovers_are_removed_and_nothing_else(tmp_path: Path) -> None:
    fill(tmp_path / "step-1")
    for kept in (".netwright-notes", "x.part", ".step-2.part", ".lock"):
        (tmp_path / kept).write_text("of others")
    before = names(tmp_path)
    killed = new_folder(tmp_path / "step-2")  # it never comes to its end
    killed.__enter__().write("model", b"half")
    (tmp_path / ".netwright-last.json-x1y2.part").write_bytes(b"half")
    assert len(names(tmp_path)) == len(before) + 2
    remove_leftovers(tmp_path)
    assert names(tmp_path) == before
    check_folder(tmp_path / "step-1")


@pytest.mark.parametrize("kill_at", [1, 2])
def test_a_folder_that_was_moved_aside_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kill_at: int
) -> None:
    # Killed after the first rename, the old folder has no successor; after the second, it has.
    fill(tmp_path / "model", b"old")
    rename, calls = os.rename, [0]

    def killed(source: Path, target: Path) -> None:
        calls[0] += 1
        if calls[0] > kill_at:
            fail()
        rename(source, target)
        if calls[0] == kill_at:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "rename", killed)
    monkeypatch.setattr(shutil, "rmtree", lambda *args, **options: None)
    with pytest.raises(KeyboardInterrupt):
        fill(tmp_path / "model", b"new", replace=True)
    monkeypatch.undo()
    assert ("model" in names(tmp_path)) == (kill_at == 2)
    remove_leftovers(tmp_path)
    assert names(tmp_path) == ["model"]
    assert read_folder(tmp_path / "model")["model"] == (b"old" if kill_at == 1 else b"new")


def test_a_leftover_that_cannot_be_removed_does_not_stop_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f".netwright-{name}-1.part").write_bytes(b"half")
    unlink = os.unlink

    def stubborn(path: Path, **options: Any) -> None:
        if "-b-" in str(path):
            fail()
        unlink(path, **options)

    monkeypatch.setattr(os, "unlink", stubborn)
    remove_leftovers(tmp_path)
    assert names(tmp_path) == [".netwright-b-1.part"]


def test_a_folder_that_is_not_there_has_no_leftovers(tmp_path: Path) -> None:
    remove_leftovers(tmp_path / "nowhere")
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
    sentence = f"{tmp_path / 'step-1' / 'state'} is missing, the manifest lists it"
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


def test_a_folder_that_is_not_there_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for place, why in (("nowhere", "No such file or directory"), ("file", "Not a directory")):
        path = tmp_path / place / "page.html"
        with pytest.raises(ConfigError, match=f"^{re.escape(f'{path} cannot be written: {why}')}$"):
            write_text(path, "x")
        with pytest.raises(ConfigError, match=f"^{re.escape(f'{path} cannot be written: {why}')}$"):
            fill(path)


def test_what_cannot_be_added_or_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"log cannot be written: Not a directory$"):
        append_text(tmp_path / "file" / "log", "x")
    with pytest.raises(RunError, match=r"file cannot be written: File exists$"):
        make_folder(tmp_path / "file")
    append_text(tmp_path / "log", "a\n")
    append_text(tmp_path / "log", "b\n")
    assert (tmp_path / "log").read_text() == "a\nb\n"
