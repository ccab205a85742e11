"""T06: Ctrl-C and SIGTERM at any moment: no step is lost, the exit code is right, and it is quick.

The processes are forks of this one, in which everything is imported: a signal falls into training,
not into the start. Half of them train by `nw.fit`, half by the command.
"""

import mmap
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from functools import partial
from io import StringIO
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.apps.cli.main import run
from netwright.core.terminal.interrupts import EXIT_CODES, Interrupt
from netwright.recipes.fitting import training
from netwright.train.callback import Callback
from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
from netwright.train.saving.checkpoint_store import newest_good
from netwright.train.state import TrainState
from tests.faults.scenario import Figures, Scenario

SIGNALS = 20
LATEST = 60  # the step after which a signal is sent at the latest
LONGEST = 300.0  # seconds from the signal to the end of the process, on a machine with much to do
IGNORED = 1.0  # seconds after which a signal is taken for one that nobody heeds
HANG_AT = 30  # the step in which a hanging run hangs
PAIRS = [(first, second) for first in EXIT_CODES for second in EXIT_CODES]
FOR_EVER = 10**6


class Reached(Callback):
    """Notes the step in memory that the parent sees.

    Args:
        shared: memory of which it takes the first eight bytes.
        hangs: whether the run stays in a step as if it computed for an hour.
    """

    def __init__(self, shared: mmap.mmap, *, hangs: bool) -> None:
        self.shared, self.hangs = shared, hangs

    def on_step_end(self, state: TrainState) -> None:
        self.shared[:8] = state.step.to_bytes(8, "little")
        if self.hangs and state.step == HANG_AT:
            time.sleep(3600)


def by_function(out: Path, epochs: int = FOR_EVER, callbacks: tuple[Callback, ...] = ()) -> int:
    """Train by `nw.fit`; give the exit code that Python would."""
    settings: dict[str, Any] = {"n": 40, "hidden": (4,), "save_steps": 50, "epochs": epochs}
    settings["device"] = "cpu"  # a fork has no other
    try:
        nw.fit("mlp", "xor", out=out, callbacks=callbacks, quiet=True, **settings)
    except KeyboardInterrupt:
        return 130
    except SystemExit as end:
        return int(str(end.code))
    return 0


def by_command(out: Path, epochs: int = FOR_EVER, callbacks: tuple[Callback, ...] = ()) -> int:
    """Train by `netwright train`; give its exit code. The callbacks stay for all later calls."""
    training.train = partial(training.train, extra=callbacks)
    settings = ["data.n=40", "model.hidden=4", "train.save_steps=50", f"train.epochs={epochs}"]
    settings.append("train.device=cpu")  # a fork has no other
    words = [word for text in settings for word in ("--set", text)]
    return run(["train", "mlp", "xor", "--quiet", "--no-report", "--out", str(out), *words])


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for it, though not for ever."""
    end = time.monotonic() + LONGEST
    while not holds() and time.monotonic() < end:
        time.sleep(0.002)


def note_receipt(shared: mmap.mmap) -> None:
    """Note in the ninth byte that this process has received a signal."""
    receive = Interrupt._receive

    def noted(self: Interrupt, number: int, frame: FrameType | None) -> None:
        shared[8] = 1
        receive(self, number, frame)

    setattr(Interrupt, "_receive", noted)  # noqa: B010  (mypy allows no assignment to a method)


class Child:
    """A fork that trains until it is told to stop.

    Args:
        out: its run folder.
        train: how.
        hangs: stay in one step.
    """

    def __init__(self, out: Path, train: Callable[..., int], *, hangs: bool = False) -> None:
        self.shared, self.code = mmap.mmap(-1, 9), -1
        self.pid = os.fork()
        if self.pid == 0:
            note_receipt(self.shared)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            code = 99
            with suppress(BaseException):
                code = train(out, callbacks=(Reached(self.shared, hangs=hangs),))
            os._exit(code)

    def step(self) -> int:
        return int.from_bytes(self.shared[:8], "little")

    def comes_to(self, step: int) -> None:
        """Wait for a step."""
        wait_until(lambda: self.step() >= step)

    def receives(self) -> None:
        """Wait until a signal is received: of two equal ones before that, one would be left."""
        wait_until(lambda: self.shared[8] == 1)

    def ends_within(self, seconds: float) -> bool:
        """Wait for the end; a process that does not come to it is killed."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self.code = os.waitstatus_to_exitcode(status)
                return True
            time.sleep(0.002)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return False


class Tally:
    """What is measured of all processes."""

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.lost = self.right_codes = 0
        self.slowest = 0.0

    def end(self, child: Child, number: signal.Signals, longest: float) -> bool:
        """Send the last signal; whether the process ends in time and with its code."""
        started = time.monotonic()
        os.kill(child.pid, number)
        ended = child.ends_within(longest)
        self.slowest = max(self.slowest, time.monotonic() - started)
        self.right_codes += child.code == EXIT_CODES[number]
        return ended and child.code == EXIT_CODES[number]

    def one_signal(self, out: Path, number: int, step: int, longest: float) -> bool:
        """Whether a signal after this step leaves a checkpoint of the one that was reached."""
        child = Child(out, by_command if number % 2 else by_function)
        child.comes_to(step)
        ended = self.end(child, list(EXIT_CODES)[number // 2 % 2], longest)
        saved, _ = newest_good(out)
        lost = child.step() - (0 if saved is None else int(saved.name.split("-")[1]))
        self.steps.append(child.step())
        self.lost += lost
        return ended and lost == 0

    def two_signals(
        self, out: Path, pair: tuple[signal.Signals, signal.Signals], longest: float = LONGEST
    ) -> bool:
        """Whether the first lets a step that hangs go on, and the second ends it at once."""
        child = Child(out, by_function, hangs=True)
        child.comes_to(HANG_AT)
        os.kill(child.pid, pair[0])
        child.receives()
        time.sleep(0.1)
        if os.waitpid(child.pid, os.WNOHANG)[0]:
            return False  # the first signal has ended it in the middle of a step
        return self.end(child, pair[1], longest)


@contextmanager
def warmed(folder: Path) -> Iterator[None]:
    """Everything imported, and one thread: a fork has no others."""
    before, original = torch.get_num_threads(), training.train
    torch.set_num_threads(1)
    by_function(folder / "warm-function", epochs=2)
    with redirect_stdout(StringIO()):
        by_command(folder / "warm-command", epochs=2)
    training.train = original
    yield
    torch.set_num_threads(before)


def measure(folder: Path, signals: int = SIGNALS, longest: float = LONGEST) -> Figures:
    draw, tally = random.Random(0), Tally()
    with warmed(folder):
        single = [
            tally.one_signal(folder / f"one-{number}", number, draw.randint(1, LATEST), longest)
            for number in range(signals)
        ]
        double = [
            tally.two_signals(folder / f"two-{number}", pair) for number, pair in enumerate(PAIRS)
        ]
    return Figures(
        n=len(single) + len(double),
        passed=sum(single) + sum(double),
        counts={
            "steps lost": tally.lost,
            "right exit codes": tally.right_codes,
            "seconds to exit": round(tally.slowest, 2),
            "different steps": len(set(tally.steps)),
        },
    )


SCENARIO = Scenario(
    code="T06",
    title="SIGTERM and SIGINT",
    measure=measure,
    least={"right exit codes": SIGNALS + len(PAIRS), "different steps": SIGNALS / 4},
)


def test_a_signal_loses_no_step_and_ends_with_its_code(tmp_path: Path) -> None:
    few = 4
    figures = measure(tmp_path, few)
    assert figures.passed == figures.n == figures.counts["right exit codes"] == few + len(PAIRS)
    assert figures.counts["steps lost"] == 0


@pytest.mark.slow
def test_a_signal_at_any_step_loses_none_and_ends_with_its_code(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures
    assert (figures.n, figures.counts["steps lost"]) == (SIGNALS + len(PAIRS), 0)


class Send(Callback):
    """Sends this process a signal in its fifth step, then may fail."""

    def __init__(self, number: signal.Signals, *, fails: bool) -> None:
        self.number, self.fails = number, fails

    def on_step_end(self, state: TrainState) -> None:
        if state.step == 5:
            os.kill(os.getpid(), self.number)
            if self.fails:
                raise ValueError("on purpose")


def restores_handlers(folder: Path) -> bool:
    """Whether the handlers of before are there after runs that were stopped and that failed."""

    def mine(number: int, frame: FrameType | None) -> None:
        raise AssertionError("the run should have received it")

    before = {number: signal.signal(number, mine) for number in EXIT_CODES}
    try:
        for number in EXIT_CODES:
            for fails in (False, True):
                send = Send(number, fails=fails)
                with suppress(ValueError):
                    by_function(folder / f"{number}-{fails}", epochs=9, callbacks=(send,))
        return all(signal.getsignal(number) is mine for number in EXIT_CODES)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_the_handlers_of_before_are_put_back(tmp_path: Path) -> None:
    assert restores_handlers(tmp_path)


def test_planted_bug_handlers_that_stay_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Interrupt, "__exit__", lambda self, *error: None)
    assert not restores_handlers(tmp_path)


def single_signals(folder: Path, longest: float) -> list[bool]:
    tally = Tally()
    with warmed(folder):
        return [tally.one_signal(folder / f"{number}", number, 20, longest) for number in range(2)]


@pytest.mark.slow
def test_planted_bug_a_signal_that_is_ignored_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Interrupt, "_receive", lambda self, number, frame: None)
    assert single_signals(tmp_path, IGNORED) == [False, False]


@pytest.mark.slow
def test_planted_bug_a_run_that_ends_as_if_it_were_done_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Interrupt, "exit_code", 0)
    assert single_signals(tmp_path, LONGEST) == [False, False]


@pytest.mark.slow
def test_planted_bug_a_last_step_that_is_not_saved_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SaveCheckpoints, "on_fit_end", lambda self, state: None)
    assert not all(single_signals(tmp_path, LONGEST))


@pytest.mark.slow
def test_planted_bug_a_second_signal_that_changes_nothing_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def note(self: Interrupt, number: int, frame: FrameType | None) -> None:
        self.signal = signal.Signals(number)

    monkeypatch.setattr(Interrupt, "_receive", note)
    with warmed(tmp_path):
        assert not Tally().two_signals(tmp_path / "two", PAIRS[0], IGNORED)
