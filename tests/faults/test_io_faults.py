"""Every call to the file system fails once, and the disk dies at every call: nothing is lost."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import NetwrightError
from netwright.core.files import manifest, storage
from netwright.core.files.inside import Folder
from tests.faults.scenario import Figures, Scenario
from tests.repetition import slow_but

CALLS = (
    "open close fsync chmod mkdir rename replace unlink rmdir stat lstat statvfs scandir listdir"
).split()
CODES = (errno.EIO, errno.EACCES, errno.EROFS, errno.EXDEV)
CONTENT = bytes(range(256)) * 100


class Faults:
    """Counts the calls to the file system, and lets one of them fail.

    Args:
        at: the number of the call, from 1; 0 for none.
        code: the errno that it fails with.
        dies: whether all later calls fail too.
    """

    def __init__(self, at: int = 0, code: int = errno.EIO, *, dies: bool = False) -> None:
        self.at, self.code, self.dies = at, code, dies
        self.calls = 0

    def strike(self) -> None:
        self.calls += 1
        if self.at and (self.calls == self.at or (self.dies and self.calls > self.at)):
            raise OSError(self.code, os.strerror(self.code))

    def failing(self, name: str) -> Callable[..., Any]:
        call = getattr(os, name)

        def shim(*args: Any, **options: Any) -> Any:
            if name == "close":  # Linux closes a file also where it says that it failed
                call(*args, **options)
                return self.strike()
            self.strike()
            return call(*args, **options)

        return shim

    def failing_file(self, handle: int, mode: str) -> "FailingFile":
        return FailingFile(handle, mode, self)

    @contextmanager
    def active(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for name in CALLS:
                patch.setattr(os, name, self.failing(name))
            patch.setattr(os, "fdopen", self.failing_file)
            yield


class FailingFile:
    """An open file that writes half of what it is given before it fails."""

    def __init__(self, handle: int, mode: str, faults: Faults) -> None:
        self.file, self.faults = open(handle, mode), faults

    def __enter__(self) -> "FailingFile":
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()
        self.faults.strike()

    def write(self, content: bytes) -> None:
        self.file.write(content[: len(content) // 2])
        self.flush()
        self.file.write(content[len(content) // 2 :])

    def flush(self) -> None:
        self.file.flush()
        self.faults.strike()


def save(folder: Path, number: int) -> None:
    """What a run does: a new checkpoint, the pointer to it, the model in place of the last one."""
    content = bytes([number]) + CONTENT
    with storage.new_folder(folder / f"step-{number}") as staging:
        staging.write("weights", content)
        staging.write("state", content)
    storage.write_json(folder / "last.json", {"checkpoint": number})
    with storage.new_folder(folder / "model", replace=True) as staging:
        staging.write("weights", content)


def is_safe(folder: Path, error: Exception | None) -> bool:
    """After a failure in save 2: save 1 is whole, and what there is of save 2 is whole too."""
    try:
        steps = [manifest.read_folder(path)["weights"][0] for path in folder.glob("step-*")]
        last = storage.read_json(folder / "last.json")["checkpoint"]
        model = manifest.read_folder(folder / "model")["weights"][0]
    except NetwrightError:
        return False
    if error is None:
        return (sorted(steps), last, model) == ([1, 2], 2, 2)
    return (
        1 in steps
        and last in steps
        and model in steps
        and isinstance(error, NetwrightError)
        and str(folder) in str(error)
        and "\n" not in str(error)
    )


def survives(folder: Path, faults: Faults) -> bool:
    """Let a save fail; whether nothing was lost, nothing is left over and the run can go on."""
    error: Exception | None = None
    with faults.active():
        try:
            save(folder, 2)
        except Exception as raised:
            error = raised
    if not faults.dies and not is_safe(folder, error):
        return False
    storage.remove_leftovers(folder)
    if not is_safe(folder, error):
        return False
    known = {"last.json", "model", "step-1", "step-2"}
    if {path.name for path in folder.iterdir()} - known:
        return False
    save(folder, 3)
    return manifest.read_folder(folder / "model")["weights"][0] == 3


def outcomes(folder: Path, codes: tuple[int, ...]) -> Iterator[bool]:
    """Fail every call of a save, once with each code and with the first code for good."""
    before, place = folder / "before", folder / "run"
    before.mkdir()
    save(before, 1)
    shutil.copytree(before, place)
    counted = Faults()
    with counted.active():
        save(place, 2)
    for at in range(1, counted.calls + 1):
        for code, dies in [*((code, False) for code in codes), (codes[0], True)]:
            shutil.rmtree(place)
            shutil.copytree(before, place)
            yield survives(place, Faults(at, code, dies=dies))


@contextmanager
def quick_disk() -> Iterator[None]:
    """No waiting for the disk: what this process sees does not depend on it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


def measure(folder: Path, codes: tuple[int, ...] = CODES) -> Figures:
    with quick_disk():
        results = list(outcomes(folder, codes))
    calls = len(results) // (len(codes) + 1)
    return Figures(n=len(results), passed=sum(results), counts={"calls of one save": calls})


SCENARIO = Scenario(
    code="T08",
    title="Every file-system call fails once",
    measure=measure,
    least={"calls of one save": 51},
)


@pytest.mark.parametrize("codes", slow_but([CODES[:1]], [CODES[:1], CODES]), ids=len)
def test_nothing_is_lost_whichever_call_fails(tmp_path: Path, codes: tuple[int, ...]) -> None:
    figures = measure(tmp_path, codes)
    assert SCENARIO.is_green(figures), figures


def is_red(folder: Path) -> bool:
    with quick_disk():
        return not all(outcomes(folder, (errno.EIO,)))


def test_planted_bug_writing_in_place_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_place(path: Path, content: bytes, *, inside: Path | None = None) -> None:
        with storage._one_sentence(path):
            storage._fill(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), [content])

    monkeypatch.setattr(storage, "write_bytes", in_place)
    assert is_red(tmp_path)


@pytest.mark.slow
def test_planted_bug_a_rename_that_is_not_taken_back_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def moved(source: Folder, old: str, target: Folder, new: str) -> Iterator[None]:
        source.move(old, target, new)
        yield

    monkeypatch.setattr(storage, "_moved", moved)
    assert is_red(tmp_path)


def test_planted_bug_a_raw_error_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_one_sentence", nullcontext)
    assert is_red(tmp_path)


def test_planted_bug_clearing_away_the_old_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def remove_all(folder: Path) -> None:
        for left in folder.glob(".netwright-*"):
            shutil.rmtree(left, ignore_errors=True)

    monkeypatch.setattr(storage, "remove_leftovers", remove_all)
    assert is_red(tmp_path)


def test_planted_bug_leaving_things_over_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "remove_leftovers", lambda folder: None)
    assert is_red(tmp_path)
