"""Inside a folder no link is followed, no pipe waited for; above it the links of the user work."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.core.files import inside
from netwright.core.files.inside import (
    Folder,
    check_entries,
    has_file,
    has_folder,
    new_name,
    open_folder,
    parent_of,
)
from tests.odd_files import ODD, is_untouched, outside_of, plant, refusal


@pytest.fixture
def run(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


@pytest.fixture
def outside(run: Path) -> Path:
    return outside_of(run)


@pytest.fixture(params=[True, False], ids=["descriptors", "paths"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With descriptors, and as on a system that has none."""
    monkeypatch.setattr(inside, "HAS_DESCRIPTORS", request.param)


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("kind", ODD)
def test_what_is_no_file_is_refused_by_its_name(run: Path, outside: Path, kind: str) -> None:
    plant(run / "x", kind, outside)
    acts: list[Callable[[Folder], object]] = [
        lambda folder: folder.kind("x"),
        lambda folder: folder.read("x"),
        lambda folder: folder.open("x", os.O_RDWR | os.O_CREAT),
        lambda folder: folder.open("x", os.O_WRONLY | os.O_CREAT | os.O_APPEND),
        lambda folder: folder.new_file("x"),
        lambda folder: folder.folder("x"),
    ]
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    for act in acts:
        with open_folder(run) as folder, pytest.raises(DataError, match=refusal(run / "x", kind)):
            act(folder)
    for question in (has_file, has_folder):
        with pytest.raises(DataError, match=refusal(run / "x", kind)):
            question(run / "x")
    assert not before or len(os.listdir("/proc/self/fd")) == before
    assert is_untouched(outside)


@pytest.mark.parametrize("kind", ODD)
def test_what_came_after_the_look_is_not_opened_either(
    run: Path, outside: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    plant(run / "x", kind, outside)
    monkeypatch.setattr(Folder, "kind", lambda folder, name: "file")
    for flags in (os.O_RDONLY, os.O_RDWR | os.O_CREAT | os.O_TRUNC):
        with open_folder(run) as folder, pytest.raises((DataError, OSError)):
            folder.open("x", flags)
    with open_folder(run) as folder, pytest.raises(OSError):
        monkeypatch.setattr(Folder, "kind", lambda folder, name: "folder")
        folder.folder("x")
    assert is_untouched(outside)


@pytest.mark.usefixtures("both_ways")
def test_a_link_on_the_way_down_is_refused_and_one_above_is_followed(
    run: Path, outside: Path
) -> None:
    (run / "a" / "b").mkdir(parents=True)
    (run / "a" / "b" / "file").write_bytes(b"ours")
    (run / "a" / "away").symlink_to(outside)
    named = run.parent / "named"
    named.symlink_to(run)  # by the user
    with parent_of(named / "a" / "b" / "file", named) as parent, parent.read("file") as file:
        assert file.read() == b"ours"
    assert has_file(named / "a" / "b" / "file", named) and has_folder(named / "a" / "b", named)
    with pytest.raises(DataError, match=refusal(named / "a" / "away", "link")):
        has_file(named / "a" / "away" / "file", named)
    with pytest.raises(DataError, match=refusal(named, "link")):
        has_file(named / "a" / "b" / "file", run.parent)


@pytest.mark.usefixtures("both_ways")
def test_the_way_out_is_refused(run: Path) -> None:
    with (
        pytest.raises(DataError, match=r"\.\./outside does not stay inside "),
        open_folder(run / ".." / "outside", run),
    ):
        pass


@pytest.mark.usefixtures("both_ways")
def test_a_file_is_no_folder_and_a_folder_no_file(run: Path) -> None:
    (run / "file").write_bytes(b"")
    (run / "folder").mkdir()
    with open_folder(run) as folder:
        with pytest.raises(NotADirectoryError):
            folder.folder("file")
        with pytest.raises(IsADirectoryError if folder.handle else OSError):
            folder.open("folder")
        with pytest.raises(FileNotFoundError):
            folder.folder("nothing")
        with pytest.raises(FileNotFoundError):
            folder.open("nothing")
    with pytest.raises(NotADirectoryError), open_folder(run / "file"):
        pass
    assert [has_file(run / name) for name in ("file", "folder", "no")] == [True, False, False]
    assert [has_folder(run / name) for name in ("file", "folder", "no")] == [False, True, False]
    assert not has_file(run / "file" / "x", run) and not has_file(run / "no" / "x", run)


def test_a_system_without_descriptors_of_folders_is_not_asked_for_one(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **kwargs: object) -> int:
        raise PermissionError(13, "Permission denied")  # as Windows does

    monkeypatch.setattr(inside, "HAS_DESCRIPTORS", False)
    monkeypatch.setattr(os, "open", refuse)
    with open_folder(run) as folder:
        folder.make_folder("deep")
        with folder.folder("deep") as deep:
            assert (folder.names(), deep.names()) == (["deep"], [])


@pytest.mark.usefixtures("both_ways")
def test_a_tree_is_removed_without_what_its_links_lead_to(run: Path, outside: Path) -> None:
    (run / "old" / "deep").mkdir(parents=True)
    for number, kind in enumerate(ODD):
        plant(run / "old" / str(number), kind, outside)
    (run / "old" / "deep" / "away").symlink_to(outside)
    (run / "link").symlink_to(outside)
    with open_folder(run) as folder:
        folder.remove_tree("link")
        folder.remove_tree("old")
        assert folder.names() == ["link"]
    assert is_untouched(outside)


@pytest.mark.usefixtures("both_ways")
def test_what_is_made_moved_and_removed_is_in_this_folder(run: Path) -> None:
    with open_folder(run) as folder:
        os.close(folder.new_file("a"))
        with pytest.raises(FileExistsError):
            folder.new_file("a")
        folder.make_folder("deep")
        folder.make_folder("moved")
        with folder.folder("deep") as deep:
            folder.move("moved", deep, "here")
            assert deep.names() == ["here"]
        folder.replace("a", "b")
        assert folder.names() == ["b", "deep"]
        folder.flush()
        folder.unlink("b")
        with folder.folder("deep") as deep:
            deep.remove_empty("here")
        folder.remove_empty("deep")
        assert folder.names() == []


def test_a_folder_that_is_moved_away_stays_the_same(run: Path, outside: Path) -> None:
    with open_folder(run) as folder:
        run.rename(run.parent / "elsewhere")
        run.symlink_to(outside)
        os.close(folder.new_file("ours"))
    assert os.listdir(run.parent / "elsewhere") == ["ours"]
    assert is_untouched(outside)


def test_a_folder_that_may_not_be_read_is_refused(run: Path) -> None:
    (run / "loop").symlink_to("loop")
    said = f"{run / 'loop' / 'x'} cannot be read: Too many levels of symbolic links"
    with pytest.raises(DataError, match=f"^{re.escape(said)}$"):
        has_file(run / "loop" / "x")


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors by /proc")
def test_a_refusal_leaves_no_descriptor_open(run: Path) -> None:
    (run / "folder").mkdir()
    with open_folder(run) as folder:
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(3):
            with pytest.raises(IsADirectoryError):
                folder.open("folder")
        assert len(os.listdir("/proc/self/fd")) == before


def test_a_new_name_is_another_each_time_between_its_start_and_its_end() -> None:
    names = {new_name(".x-", ".part") for _ in range(20)}
    assert len(names) == 20
    assert all(re.fullmatch(r"\.x-[0-9a-f]{12}\.part", name) for name in names)


@pytest.mark.usefixtures("both_ways")
def test_entries_are_looked_through_to_the_depth_of_a_run(run: Path, outside: Path) -> None:
    (run / "a" / "b" / "c").mkdir(parents=True)
    (run / "a" / "b" / "file").write_bytes(b"")
    (run / "mine").symlink_to(outside)
    (run / "a" / "b" / "c" / "deeper").symlink_to(outside)
    check_entries(run, ["a", "nothing"])
    (run / "a" / "b" / "away").symlink_to(outside)
    with pytest.raises(DataError, match=refusal(run / "a" / "b" / "away", "link")):
        check_entries(run, ["a", "nothing"])
    with pytest.raises(DataError, match=r"nowhere cannot be read: No such file or directory$"):
        check_entries(run / "nowhere", ["a"])


def test_a_tree_that_is_too_deep_to_be_removed_stays_without_an_error(run: Path) -> None:
    folder = Folder(run, os.open(run, os.O_RDONLY))
    for _ in range(sys.getrecursionlimit() + 50):
        with folder:
            folder.make_folder("x")
            folder = Folder(run, folder.folder("x").handle)
    folder.__exit__()
    with open_folder(run) as top:
        top.remove_tree("x")
    subprocess.run(["rm", "-rf", "x"], cwd=run, check=True)
