"""The disk is full in the middle of a run: a clear sentence, and everything saved before is there.

`python -m tests.faults.test_disk_full FOLDER` fills the file system that holds the folder.
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import NetwrightError, RunError
from netwright.core.files import manifest, storage
from netwright.core.files.inside import open_folder
from tests.faults.scenario import Figures, Scenario

SIZES = {"weights": 100_000, "state": 200_000, "counters": 5_000}
NEEDS = sum(SIZES.values())
SAVES = (1, 3, 5)  # the first, one between, the last
SHARES = (0.0, 0.1, 0.3, 0.4, 0.6, 0.8, 0.95)  # how much of a save still fits

Full = Callable[[Path, float], AbstractContextManager[None]]
KNOWN = r"{0} has too little free space: 0\.3 MB \(\d+ bytes\) needed, \d\.\d MB \(\d+ bytes\) free"
UNKNOWN = r"{0}/step-\d(/[a-z.]+)? cannot be written: (No space left on device|File too large)"


def save(folder: Path, number: int) -> None:
    with storage.new_folder(folder / f"step-{number}", needs=NEEDS) as staging:
        for name, size in SIZES.items():
            staging.write(name, bytes([number]) * size)


@contextmanager
def limited(folder: Path, share: float) -> Iterator[None]:
    """No file may grow over a share of the largest; nothing tells that beforehand."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(share * max(SIZES.values())), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def filled(folder: Path, share: float) -> Iterator[None]:
    """Leave room for a share of a save."""
    ballast = folder.parent / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(folder).free - int(share * NEEDS)))
    try:
        yield
    finally:
        ballast.unlink()


@contextmanager
def filled_unseen(folder: Path, share: float) -> Iterator[None]:
    """The same where the file system does not tell, as with a quota."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage, "check_space", lambda folder, needed: None)
        with filled(folder, share):
            yield


def is_whole(folder: Path, saves: int) -> bool:
    """Whether all saves are there as they were written."""
    wanted = {
        f"step-{number}": {name: bytes([number]) * size for name, size in SIZES.items()}
        for number in range(1, saves + 1)
    }
    try:
        return all(manifest.read_folder(folder / step) == files for step, files in wanted.items())
    except NetwrightError:
        return False


def fail_one(folder: Path, number: int, full: Full, share: float) -> dict[str, Any]:
    """Let a save meet a full disk, then make room and save again."""
    folder.mkdir()
    for earlier in range(1, number):
        save(folder, earlier)
    sentence = ""
    with full(folder, share):
        try:
            save(folder, number)
        except RunError as error:
            sentence = str(error)
        except OSError:
            pass  # no sentence of ours
        known, unknown = (
            bool(re.fullmatch(text.format(re.escape(str(folder))), sentence))
            for text in (KNOWN, UNKNOWN)
        )
        kept = is_whole(folder, number - 1)
        partial = len(os.listdir(folder)) - (number - 1)
    if kept and not partial:
        save(folder, number)
    held = (known or unknown) and is_whole(folder, number) and not partial
    return {"held": held, "known": known, "unknown": unknown, "partial": partial}


def measure_one(folder: Path, full: Full) -> Figures:
    """One way in which a disk is full, at every save and share."""
    outcomes = []
    for number in SAVES:
        for share in SHARES:
            outcomes.append(fail_one(folder / "run", number, full, share))
            shutil.rmtree(folder / "run")
    return Figures(
        n=len(outcomes),
        passed=sum(each["held"] for each in outcomes),
        counts={
            "refused before writing": sum(each["known"] for each in outcomes),
            "failed while writing": sum(each["unknown"] for each in outcomes),
            "partial files": sum(each["partial"] for each in outcomes),
        },
    )


def added(parts: list[Figures]) -> Figures:
    return Figures(
        n=sum(part.n for part in parts),
        passed=sum(part.passed for part in parts),
        counts={name: sum(part.counts[name] for part in parts) for name in parts[0].counts},
    )


def measure_small_disk(folder: Path) -> Figures | None:
    """Fill a file system of 4 MB that only a child process sees; None where that is not allowed."""
    if shutil.which("unshare") is None:
        return None
    mount = 'mount -t tmpfs -o size=4m none "$0" && exec "$@"'
    inside = ["unshare", "-rm", "sh", "-c", mount, str(folder)]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        return None
    child = [sys.executable, "-m", "tests.faults.test_disk_full", str(folder)]
    root = Path(__file__).parents[2]
    said = subprocess.run(
        [*inside, *child], cwd=root, stdout=subprocess.PIPE, text=True, check=True
    )
    return Figures(**json.loads(said.stdout))


def measure(folder: Path) -> Figures:
    small_disk = measure_small_disk(folder)
    return added([measure_one(folder, limited), *([small_disk] if small_disk else [])])


SCENARIO = Scenario(
    code="T07",
    title="Disk full during a save",
    measure=measure,
    least={"failed while writing": len(SAVES) * len(SHARES)},
)


def test_nothing_is_lost_on_a_full_disk(tmp_path: Path) -> None:
    figures = measure_small_disk(tmp_path)
    if figures is None:
        pytest.skip("this environment mounts no small file system: unshare is not allowed")
    points = len(SAVES) * len(SHARES)
    assert SCENARIO.is_green(figures), figures
    assert figures.n == 2 * points
    assert figures.counts == {
        "refused before writing": points,
        "failed while writing": points,
        "partial files": 0,
    }


def test_nothing_is_lost_where_a_file_may_not_grow(tmp_path: Path) -> None:
    figures = measure_one(tmp_path, limited)
    assert SCENARIO.is_green(figures), figures
    assert figures.n == 21
    assert figures.counts == {
        "refused before writing": 0,
        "failed while writing": 21,
        "partial files": 0,
    }


def test_planted_bug_no_clean_up_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remove = shutil.rmtree
    monkeypatch.setattr(
        shutil, "rmtree", lambda path, *_, **__: remove(path) if Path(path).name == "run" else None
    )
    figures = measure_one(tmp_path, limited)
    assert (figures.passed, figures.counts["partial files"]) == (0, 21)


def test_planted_bug_writing_under_the_final_name_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def at_once(path: Path, *, needs: int) -> Iterator[storage.Staging]:
        path.mkdir()
        with open_folder(path) as folder:
            staging = storage.Staging(folder, path)
            yield staging
            staging.write(storage.MANIFEST, storage.as_json({"format": 1, "sha256": staging.sums}))

    monkeypatch.setattr(storage, "new_folder", at_once)
    figures = measure_one(tmp_path, limited)
    assert (figures.passed, figures.counts["partial files"]) == (0, 21)


def test_planted_bug_a_write_that_stops_unseen_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = storage._fill

    def fill(handle: int, pieces: Iterable[storage.Piece]) -> None:
        try:
            whole(handle, pieces)
        except OSError:
            pass

    monkeypatch.setattr(storage, "_fill", fill)
    assert measure_one(tmp_path, limited).passed == 0


if __name__ == "__main__":
    place = Path(sys.argv[1])
    both = added([measure_one(place, filled), measure_one(place, filled_unseen)])
    sys.stdout.write(json.dumps(asdict(both)))
