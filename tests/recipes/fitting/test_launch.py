"""The launcher: its ranks have their places, one is blamed, signals pass, and nobody is left.

The command is a small program of each test, in place of netwright's own.
"""

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import netwright
from netwright.core.errors import ConfigError, PeerError
from netwright.recipes.fitting import launch as launching
from netwright.recipes.fitting.launch import ADVICE, LOST_PEER, launch

START = """
import os, pathlib, signal, subprocess, sys, time
rank, here = int(os.environ["RANK"]), pathlib.Path(os.environ["HERE"])

def tell(name, text):
    (here / f".{name}").write_text(text)
    (here / f".{name}").rename(here / name)  # it is there with its text, or not at all

def wait_for(*names):
    while not all((here / name).exists() for name in names):
        time.sleep(0.01)

tell(f"pid-{rank}", str(os.getpid()))
"""
PATIENT = 600  # seconds, where nothing is to be waited for on a machine that has nothing else to do
LAUNCHER = """
import os, sys
from netwright.recipes.fitting.launch import launch
os.environ["PYTHONPATH"] = os.environ["HERE"]
sys.exit(launch([], 2, 600))
"""
Program = Callable[[str], None]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Let every rank run this code instead of the command."""
    monkeypatch.setenv("HERE", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)  # it remembers the folder it found first
    (tmp_path / "netwright").mkdir()
    (tmp_path / "netwright" / "__init__.py").touch()

    def write(code: str) -> None:
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        (tmp_path / "netwright" / "__main__.py").write_text(START + textwrap.dedent(code))

    return write


def start_launcher() -> subprocess.Popen[bytes]:
    """A launcher in a process of its own, to be sent signals."""
    source = Path(netwright.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    return subprocess.Popen([sys.executable, "-c", LAUNCHER], env=environment)


def wait_for(*paths: Path) -> None:
    until = time.monotonic() + PATIENT
    while not all(path.exists() and path.read_text() for path in paths):
        assert time.monotonic() < until, paths
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"  # a zombie is only a line in a table


def all_gone(*pids: int) -> bool:
    """Whether all end, in the moment that the kernel may need."""
    until = time.monotonic() + PATIENT
    while any(is_alive(pid) for pid in pids) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(is_alive(pid) for pid in pids)


def test_every_rank_is_told_its_place(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    program(
        """
        names = "RANK LOCAL_RANK WORLD_SIZE LOCAL_WORLD_SIZE OMP_NUM_THREADS".split()
        text = " ".join([*(os.environ[name] for name in names), *sys.argv[1:]])
        (here / f"place-{rank}").write_text(text)
        """
    )
    assert launch(["train", "--epochs", "2"], 3, PATIENT) == 0
    threads = max(1, (os.cpu_count() or 1) // 3)
    assert [(tmp_path / f"place-{rank}").read_text() for rank in range(3)] == [
        f"{rank} {rank} 3 3 {threads} train --epochs 2" for rank in range(3)
    ]


def test_threads_that_the_user_chose_stay(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    program('(here / f"threads-{rank}").write_text(os.environ["OMP_NUM_THREADS"])')
    assert launch([], 2, PATIENT) == 0
    assert (tmp_path / "threads-1").read_text() == "7"


def test_the_ranks_meet_in_a_private_folder_that_is_removed(
    program: Program, tmp_path: Path
) -> None:
    program(
        """
        folder = pathlib.Path(os.environ["NETWRIGHT_RENDEZVOUS"]).parent
        (here / f"meeting-{rank}").write_text(f"{folder} {folder.stat().st_mode & 0o777:o}")
        """
    )
    assert launch([], 2, PATIENT) == 0
    folder, mode = (tmp_path / "meeting-0").read_text().split()
    assert (tmp_path / "meeting-1").read_text() == f"{folder} {mode}"
    assert mode == "700"
    assert not Path(folder).exists()


def test_only_the_first_rank_is_heard(program: Program, capfd: pytest.CaptureFixture[str]) -> None:
    program('print("out", rank); print("err", rank, file=sys.stderr)')
    assert launch([], 2, PATIENT) == 0
    assert capfd.readouterr() == ("out 0\n", "err 0\n")


@pytest.fixture
def nobody_else_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    """When one has failed, the others, which would never end, are ended at once."""
    monkeypatch.setattr("netwright.recipes.fitting.launch.LAST_WORDS", 0.05)


@pytest.mark.usefixtures("nobody_else_speaks")
def test_a_killed_rank_is_named_and_the_others_are_ended(
    program: Program, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program(
        """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if rank == 1:
            wait_for("pid-0", "pid-2")
            os.kill(os.getpid(), signal.SIGKILL)
        if rank == 2:
            os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(3600)
        """
    )
    began = time.monotonic()
    assert launch([], 3, 3600) == 1
    assert time.monotonic() - began < PATIENT
    pids = [int((tmp_path / f"pid-{rank}").read_text()) for rank in range(3)]
    sentence = f"error: rank 1 (process {pids[1]}) was killed by SIGKILL; {ADVICE}\n"
    assert capfd.readouterr().err == sentence
    assert all_gone(*pids)


@pytest.mark.usefixtures("nobody_else_speaks")
def test_the_words_of_a_rank_that_fails_are_shown_and_its_code_is_given(
    program: Program, capfd: pytest.CaptureFixture[str]
) -> None:
    program(
        """
        if rank == 1:
            sys.exit("error: row 7 is broken") if not sys.argv[1:] else sys.exit(2)
        time.sleep(3600)
        """
    )
    assert launch([], 2, PATIENT) == 1
    assert capfd.readouterr().err == "rank 1: error: row 7 is broken\n"
    assert launch(["two"], 2, PATIENT) == 2


@pytest.fixture
def all_may_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """When one has failed, the others come to their own end, however busy the machine is."""
    monkeypatch.setattr("netwright.recipes.fitting.launch.LAST_WORDS", PATIENT)


@pytest.mark.usefixtures("all_may_end")
def test_who_lost_a_peer_is_not_to_blame(
    program: Program, capfd: pytest.CaptureFixture[str]
) -> None:
    program(
        """
        print("error: rank 1 is gone", file=sys.stderr)
        if rank == 1:
            wait_for("said-0", "said-2")
            time.sleep(0.5)  # by then they have ended, most likely: it is the last
            sys.exit(2)
        tell(f"said-{rank}", "yes")
        sys.exit(75)
        """
    )
    assert PeerError.exit_code == LOST_PEER
    assert launch([], 3, PATIENT) == 2
    assert capfd.readouterr().err == "error: rank 1 is gone\nrank 1: error: rank 1 is gone\n"


@pytest.mark.usefixtures("nobody_else_speaks")
@pytest.mark.parametrize("hung", [0, 1])
def test_a_rank_that_hangs_is_named_by_the_one_that_noticed(
    hung: int, program: Program, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program(
        f"""
        if rank == {hung}:
            os.kill(os.getpid(), signal.SIGSTOP)
        wait_for("pid-{hung}")
        print("error: rank {hung} does not answer", file=sys.stderr)
        sys.exit(75)
        """
    )
    assert launch([], 2, PATIENT) == 1
    by = "rank 1: " if hung == 0 else ""
    assert capfd.readouterr().err == f"{by}error: rank {hung} does not answer\n{ADVICE}\n"
    assert all_gone(int((tmp_path / f"pid-{hung}").read_text()))


@pytest.mark.usefixtures("all_may_end")
def test_a_refusal_that_all_ranks_share_is_said_once(
    program: Program, capfd: pytest.CaptureFixture[str]
) -> None:
    program('print("error: lr must be positive", file=sys.stderr); sys.exit(2)')
    assert launch([], 3, PATIENT) == 2
    assert capfd.readouterr().err == "error: lr must be positive\n"


def test_a_rank_that_does_not_end_with_the_others_is_named(
    program: Program, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program('wait_for("pid-1"); time.sleep(3600 * rank)')
    assert launch([], 2, 0.5) == 1
    pid = int((tmp_path / "pid-1").read_text())
    assert capfd.readouterr().err == (
        f"error: rank 1 (process {pid}) did not exit within 0.5 s after the others; {ADVICE}\n"
    )
    assert all_gone(pid)


@pytest.mark.parametrize(
    ("seconds", "timeout"),
    [([0.7, 0], 0.3), pytest.param([4, 0, 0.2], 3, marks=pytest.mark.slow)],
    ids=["two", "three"],
)
def test_the_first_rank_may_write_for_as_long_as_it_wants_when_the_others_have_ended(
    seconds: list[float], timeout: float, program: Program, capfd: pytest.CaptureFixture[str]
) -> None:
    others = ", ".join(f'"pid-{rank}"' for rank in range(1, len(seconds)))
    program(f"wait_for({others}); time.sleep({seconds}[rank])")
    assert launch([], len(seconds), timeout) == 0
    assert capfd.readouterr().err == ""


def test_another_rank_is_late_while_the_first_works_too(
    program: Program, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program('wait_for("pid-0", "pid-1"); time.sleep([3600, 3600, 0][rank])')
    assert launch([], 3, 0.5) == 1
    pid = int((tmp_path / "pid-1").read_text())
    assert f"error: rank 1 (process {pid}) did not exit within 0.5 s" in capfd.readouterr().err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_reaches_every_rank_once_and_their_code_is_given(
    number: signal.Signals, code: int, program: Program, tmp_path: Path
) -> None:
    program(
        f"""
        count = []
        signal.signal({int(number)}, lambda *_: count.append(1))
        (here / f"ready-{{rank}}").write_text("yes")
        while not count:
            time.sleep(0.01)
        time.sleep(0.4)
        (here / f"count-{{rank}}").write_text(str(len(count)))
        sys.exit({code})
        """
    )
    launcher = start_launcher()
    wait_for(tmp_path / "ready-0", tmp_path / "ready-1")
    launcher.send_signal(number)
    assert launcher.wait(PATIENT) == code
    assert [(tmp_path / f"count-{rank}").read_text() for rank in range(2)] == ["1", "1"]


def test_a_second_signal_ends_all_at_once(program: Program, tmp_path: Path) -> None:
    program(
        """
        signal.signal(signal.SIGINT, lambda *_: (here / f"first-{rank}").write_text("yes"))
        (here / f"ready-{rank}").write_text("yes")
        while True:
            time.sleep(1)
        """
    )
    launcher = start_launcher()
    wait_for(tmp_path / "ready-0", tmp_path / "ready-1")
    launcher.send_signal(signal.SIGINT)
    wait_for(tmp_path / "first-0", tmp_path / "first-1")
    launcher.send_signal(signal.SIGINT)
    assert launcher.wait(PATIENT) == 130
    assert all_gone(*(int((tmp_path / f"pid-{rank}").read_text()) for rank in range(2)))
    assert not list(tmp_path.glob("netwright-*"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a parent's death")
def test_ranks_end_with_a_launcher_that_is_killed_even_stopped_ones(
    program: Program, tmp_path: Path
) -> None:
    program(
        """
        if rank == 1:
            os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(3600)
        """
    )
    launcher = start_launcher()
    wait_for(tmp_path / "pid-0", tmp_path / "pid-1")
    launcher.kill()
    launcher.wait(PATIENT)
    assert all_gone(*(int((tmp_path / f"pid-{rank}").read_text()) for rank in range(2)))


def test_what_a_rank_started_ends_with_it(program: Program, tmp_path: Path) -> None:
    program(
        """
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        tell(f"child-{rank}", str(child.pid))
        wait_for("child-0", "child-1")
        sys.exit(3)
        """
    )
    assert launch([], 2, PATIENT) == 3
    assert all_gone(*(int((tmp_path / f"child-{rank}").read_text()) for rank in range(2)))


def test_a_signal_ends_a_start_that_is_under_way(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(
        """
        count = []
        signal.signal(signal.SIGTERM, lambda *_: count.append(1))
        (here / f"ready-{rank}").write_text("yes")
        while not count:
            time.sleep(0.01)
        sys.exit(143)
        """
    )
    start = launching._start

    def start_and_be_ended(*arguments: Any) -> launching.Rank:
        rank = start(*arguments)
        wait_for(tmp_path / f"ready-{rank.number}")
        os.kill(os.getpid(), signal.SIGTERM)
        return rank

    monkeypatch.setattr(launching, "_start", start_and_be_ended)
    assert launch([], 2, PATIENT) == 143
    assert not (tmp_path / "ready-1").exists()


def test_more_processes_than_a_machine_bears_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(launching, "_start", lambda *_: pytest.fail("a process was started"))
    with pytest.raises(ConfigError, match=r"at most 16 .* 8 for each of its 2 cores, got 17$"):
        launch([], 17, PATIENT)


def test_the_launcher_needs_no_torch_and_no_processes_are_refused() -> None:
    code = "import sys, netwright.recipes.fitting.launch; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(ConfigError, match=r"^there must be 1 process or more, got 0$"):
        launch([], 0, 1)
