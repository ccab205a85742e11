"""T30: an error at every place where a caller's code runs; the process is left as it was.

Errors are raised in hooks, in the model, in the loss and in the optimizer, at several moments of a
run. Afterwards the generators, torch's switches, signal handlers, environment, open files, threads,
processes and temporary files must be those of before.
"""

import os
import random
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import netwright as nw
from netwright.core.terminal import interrupts
from netwright.optimizers.eager import LBFGS
from netwright.train import trainer
from netwright.train.callback import EVENTS, Callback
from netwright.train.measuring import Measuring
from netwright.train.step import UpdateStep
from netwright.train.tasks.classification import Classification
from tests.faults.scenario import Figures, Scenario

MOMENTS = (1, 2, 3, 4, 5)  # the how-manieth call of a place raises
EXCEPTIONS: tuple[type[BaseException], ...] = (RuntimeError, KeyboardInterrupt)
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"precision": "bf16-mixed"},
    {"optimizer": "lbfgs", "optimizer_options": {"max_iter": 3}},
)


class Fuse:
    """Raises when it is touched for the given time."""

    def __init__(self, moment: int, kind: type[BaseException]) -> None:
        self.left, self.kind = moment, kind

    def touch(self, *parts: object) -> None:
        self.left -= 1
        if self.left == 0:
            raise self.kind("on purpose")


class Net(nn.Module):
    """A model of the caller's own, with a fuse in its forward pass."""

    def __init__(self, fuse: Fuse | None) -> None:
        super().__init__()
        self.scores, self.fuse = nn.Linear(2, 2), fuse

    def forward(self, x: Tensor) -> Tensor:
        if self.fuse is not None:
            self.fuse.touch()
        scores: Tensor = self.scores(x)
        return scores


def callback_with(event: str, fuse: Fuse) -> Callback:
    """A callback whose one event touches the fuse; for `on_abort` an earlier error is needed."""
    parts: dict[str, Any] = {event: lambda self, state: fuse.touch()}
    if event == "on_abort":
        first = Fuse(1, RuntimeError)
        parts["on_step_end"] = lambda self, state: first.touch()
    kind: type[Callback] = type("Fused", (Callback,), parts)
    return kind()


def fused(method: Callable[..., Any], fuse: Fuse) -> Callable[..., Any]:
    """The method, which touches the fuse before it does its work."""

    def before(*parts: Any, **names: Any) -> Any:
        fuse.touch()
        return method(*parts, **names)

    return before


MOVES = "_move_weights"  # of most optimizers: Adam's kernel is called without its step
PLACES = (*EVENTS, "forward", "loss", "optimizer step", "measurement")


def learn(place: str, fuse: Fuse, out: Path, settings: dict[str, Any]) -> None:
    """A short run with a fuse at a place."""
    with torch.random.fork_rng():  # the weights of a caller's own model are the caller's draws
        torch.manual_seed(0)  # by others L-BFGS may leave what is finite before a fuse blows
        model = Net(fuse if place == "forward" else None)
    with pytest.MonkeyPatch.context() as patch:
        callbacks = [callback_with(place, fuse)] if place in EVENTS else []
        if place == "loss":
            patch.setattr(Classification, "loss", fused(Classification.loss, fuse))
        if place == "optimizer step":
            owner, name = (LBFGS, "step") if "optimizer" in settings else (UpdateStep, MOVES)
            patch.setattr(owner, name, fused(getattr(owner, name), fuse))
        if place == "measurement":
            patch.setattr(Measuring, "take", fused(Measuring.take, fuse))
        nw.fit(
            model,
            "xor",
            n=24,
            epochs=5,
            batch_size=8,
            eval_every=2,
            save_every=5,
            out=out,
            callbacks=callbacks,
            quiet=True,
            **settings,
        )


def state_of_process(temporary: Path) -> dict[str, str]:
    """All that a run could leave changed, by name."""
    return {
        "python's generator": str(hash(random.getstate())),
        "numpy's generator": str(np.random.get_state(legacy=True)),
        "torch's generator": str(torch.get_rng_state().sum()) + str(torch.initial_seed()),
        "default dtype": str(torch.get_default_dtype()),
        "threads of torch": str(torch.get_num_threads()),
        "grad mode": str((torch.is_grad_enabled(), torch.is_inference_mode_enabled())),
        "autocast": str(torch.is_autocast_enabled("cpu")),
        "deterministic": str(torch.are_deterministic_algorithms_enabled()),
        "signal handlers": str([signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]),
        "environment": str(sorted(os.environ.items())),
        "working folder": os.getcwd(),
        "open files": str(len(os.listdir("/proc/self/fd"))),
        "children": Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="utf-8"),
        "threads": str(threading.active_count()),
        "temporary files": str(sorted(temporary.iterdir())),
        "warnings": str(len(warnings.filters)),
        "hooks of python": str((sys.excepthook, sys.unraisablehook, sys.stdout, sys.stderr)),
    }


def leaks_of(place: str, fuse: Fuse, out: Path, temporary: Path, **settings: Any) -> set[str]:
    """What differs after a run that ended by the fuse."""
    _ = random.random(), np.random.rand(), torch.rand(1)  # no two runs begin with the same state
    before = state_of_process(temporary)
    try:
        learn(place, fuse, out, settings)
    except (fuse.kind, nw.NetwrightError):  # the first batch tells a model's error as a sentence
        pass
    after = state_of_process(temporary)
    return {name for name in before if before[name] != after[name]}


@contextmanager
def own_temporary_folder(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        yield folder


def measure(folder: Path, moments: tuple[int, ...] = MOMENTS) -> Figures:
    leaks: list[set[str]] = []
    blown = 0
    with own_temporary_folder(folder / "temporary") as temporary:
        learn("forward", Fuse(-1, RuntimeError), folder / "first", {})  # imports and caches
        for number, (place, moment, kind) in enumerate(product(PLACES, moments, EXCEPTIONS)):
            # Events that come once, and the abort, blow at their first time.
            fuse = Fuse(1 if place in {"on_fit_start", "on_fit_end", "on_abort"} else moment, kind)
            out, settings = folder / f"run-{number}", SETTINGS[number % len(SETTINGS)]
            leaks.append(leaks_of(place, fuse, out, temporary, **settings))
            blown += fuse.left <= 0
    return Figures(
        n=len(leaks),
        passed=sum(not leak for leak in leaks),
        counts={"errors raised": blown, "leaks": sum(map(len, leaks)), "places": len(PLACES)},
    )


SCENARIO = Scenario(
    code="T30", title="an error at every place", measure=measure, least={"errors raised": 100}
)


def test_an_error_anywhere_leaves_the_process_as_it_was(tmp_path: Path) -> None:
    figures = measure(tmp_path, moments=(2,))
    assert figures.passed == figures.n == figures.counts["errors raised"] == 2 * len(PLACES)
    assert figures.counts["leaks"] == 0


@pytest.mark.slow
def test_an_error_at_any_moment_leaves_the_process_as_it_was(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures
    assert figures.counts["errors raised"] == figures.n
    assert figures.counts["leaks"] == 0


@pytest.mark.slow
def test_planted_bug_of_generators_that_are_not_put_back_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def leaking(seed: int) -> Iterator[None]:
        random.seed(seed)
        torch.manual_seed(seed)
        yield

    monkeypatch.setattr(trainer, "seeded", leaking)
    assert measure(tmp_path, moments=(1,)).counts["leaks"] >= 2


def test_planted_bug_of_handlers_and_files_that_stay_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = []

    def leave(self: interrupts.Interrupt, *error: object) -> None:
        kept.append(open(os.devnull, encoding="utf-8"))

    with monkeypatch.context() as patch:
        patch.setattr(interrupts.Interrupt, "__exit__", leave)
        before = [signal.getsignal(number) for number in interrupts.EXIT_CODES]
        fuse = Fuse(1, RuntimeError)
        with own_temporary_folder(tmp_path / "temporary") as temporary:
            leaks = leaks_of("on_step_end", fuse, tmp_path / "run", temporary)
        for number, handler in zip(interrupts.EXIT_CODES, before, strict=True):
            signal.signal(number, handler)
    for file in kept:
        file.close()
    assert leaks == {"signal handlers", "open files"}
