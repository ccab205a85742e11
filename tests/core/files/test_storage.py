"""Storage: whole or absent under every failure, and through no link."""

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import ConfigError, DataError, RunError
from netwright.core.files import storage
from netwright.core.files.inside import Folder
from netwright.core.files.manifest import check_folder, read_folder
from netwright.core.files.storage import (
    MANIFEST,
    append_text,
    as_json,
    check_space,
    make_folder,
    new_folder,
    read_bytes,
    read_json,
    remove_file,
    remove_leftovers,
    sha256_of,
    write_bytes,
    write_json,
    write_text,
)
from netwright.core.limits import RECORD
from tests.odd_files import ODD, is_untouched, outside_of, plant, refusal


def fail(*args: Any, **options: Any) -> None:
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


@pytest.fixture(params=[0o022, 0o077, 0o002])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_files_and_folders_have_the_modes_that_the_umask_leaves(tmp_path: Path, umask: int) -> None:
    write_text(tmp_path / "written", "x")
    append_text(tmp_path / "log", "x")
    make_folder(tmp_path / "made")
    fill(tmp_path / "step-1")
    for file in ("written", "log", "step-1/model", f"step-1/{MANIFEST}"):
        assert (tmp_path / file).stat().st_mode & 0o777 == 0o666 & ~umask
    for folder in ("made", "step-1"):
        assert (tmp_path / folder).stat().st_mode & 0o777 == 0o777 & ~umask


@pytest.mark.parametrize("call", ["fsync", "replace"])
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

    def seen_rename(move: Callable[..., None]) -> Callable[..., None]:
        def rename(source: str, target: str, **folders: int) -> None:
            seen.append(f"{without_random(source)} -> {target}")
            move(source, target, **folders)

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
    check_folder(tmp_path / "step-1")
    assert read_folder(tmp_path / "step-1") == {"model": b"weights", "state": b"s"}


def test_manifest_tells_what_was_meant_not_what_the_disk_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = storage._fill
    monkeypatch.setattr(
        storage, "_fill", lambda handle, pieces: whole(handle, [part[:3] for part in pieces])
    )
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
    sentence = f"{tmp_path / 'step-1'} already exists and is never overwritten"
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

    def sometimes(source: str, target: str, **folders: int) -> None:
        calls[0] += 1
        if calls[0] == failing:
            fail()
        rename(source, target, **folders)

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
    flush, calls = Folder.flush, [0]

    def sometimes(folder: Folder) -> None:
        calls[0] += 1
        if calls[0] == failing:
            fail()
        flush(folder)

    monkeypatch.setattr(Folder, "flush", sometimes)
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
    monkeypatch.setattr(storage, "new_name", None)  # no temporary name is made
    sentence = (
        f"{tmp_path} has too little free space: 1.2 MB (1234568 bytes) needed, "
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
    with (
        pytest.raises(RunError, match="has too little free space"),
        new_folder(tmp_path / "a") as new,
    ):
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

    def killed(source: str, target: str, **folders: int) -> None:
        calls[0] += 1
        if calls[0] > kill_at:
            fail()
        rename(source, target, **folders)
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


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    return outside_of(tmp_path / "run")


@pytest.mark.parametrize("kind", ODD)
def test_nothing_is_read_or_written_through_what_is_no_file(
    tmp_path: Path, outside: Path, kind: str
) -> None:
    place = tmp_path / "run" / "x"
    plant(place, kind, outside)
    for act in (
        lambda: write_bytes(place, b"ours"),
        lambda: append_text(place, "ours"),
        lambda: make_folder(place),
        lambda: remove_file(place),
        lambda: read_bytes(place),
        lambda: read_json(place),
        lambda: fill(place),
        lambda: fill(place, replace=True),
        lambda: check_folder(place),
        lambda: read_folder(place),
        lambda: remove_leftovers(place, inside=place.parent),
    ):
        with pytest.raises(DataError, match=refusal(place, kind)):
            act()
    assert is_untouched(outside) and names(tmp_path / "run") == ["x"]


def test_nothing_is_read_or_written_by_a_folder_on_the_way_that_is_a_link(
    tmp_path: Path, outside: Path
) -> None:
    run, place = tmp_path / "run", tmp_path / "run" / "checkpoints" / "file"
    (run / "checkpoints").symlink_to(outside)
    for act in (
        lambda: write_json(place, 1, inside=run),
        lambda: write_text(place, "ours", inside=run),
        lambda: append_text(place, "ours", inside=run),
        lambda: make_folder(place, inside=run),
        lambda: remove_file(place, inside=run),
        lambda: read_bytes(place, inside=run),
        lambda: read_json(place, inside=run),
        lambda: new_folder(place, inside=run).__enter__(),
        lambda: check_folder(place, inside=run),
        lambda: read_folder(place, inside=run),
        lambda: remove_leftovers(run / "checkpoints", inside=run),
    ):
        with pytest.raises(DataError, match=refusal(run / "checkpoints", "link")):
            act()
    assert is_untouched(outside) and names(run) == ["checkpoints"]


def test_links_that_the_user_made_above_a_folder_are_followed(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "named").symlink_to("run")
    write_text(tmp_path / "named" / "a", "x")
    fill(tmp_path / "named" / "step-1")
    remove_leftovers(tmp_path / "named")
    check_folder(tmp_path / "named" / "step-1", inside=tmp_path / "named")
    assert read_bytes(tmp_path / "named" / "a") == b"x"
    assert names(tmp_path / "run") == ["a", "step-1"]


@pytest.mark.parametrize("place", ["left", "left/inner"])
def test_a_link_at_a_temporary_name_moves_nothing_in_and_removes_nothing_outside(
    tmp_path: Path, outside: Path, place: str
) -> None:
    left = tmp_path / "run" / ".netwright-x.part"
    if place == "left":
        (outside / "folder").mkdir()
        left.symlink_to(outside)
    else:
        left.mkdir()
        left = left / "inner"
        left.symlink_to(outside)
    with pytest.raises(DataError, match=refusal(left, "link")):
        remove_leftovers(tmp_path / "run")
    assert names(tmp_path / "run") == [".netwright-x.part"]
    assert (outside / "file").exists() and (outside / "folder").exists() == (place == "left")


def test_a_record_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    with path.open("wb") as file:
        file.truncate(10**9)  # takes no room on the disk
    sentence = f"{path} holds 1,000 MB, {RECORD.way_out}"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        read_json(path)
    assert read_bytes(path, most=3) == bytes(3)
