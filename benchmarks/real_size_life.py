"""The life of one model at its true size, in two processes of its own.

`begin` trains until a checkpoint is written and some more steps are made; then it is killed as by a
power cut. `finish` takes the run up, ends it, and does all that is done with a run. Each stage that
is over is one JSON object on a line, so that whoever waits knows where it stands.

A model that learns by a rule of its own is killed as soon as it has begun to learn, an ensemble
when its first member has learned.
"""

import json
import os
import signal
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from real_size_models import SIZES, STEPS, Size, data_of

import netwright as nw
from netwright.core.devices import device_of
from netwright.core.errors import NetwrightError
from netwright.core.learner import Learner
from netwright.core.peak_memory import MEBIBYTE, peak_memory
from netwright.data.dataset import Data
from netwright.models.catalog import MODELS
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.run.run import Run
from netwright.train.callback import Callback
from netwright.train.evaluate import predict
from netwright.train.state import TrainState

SAVED_AT, KILLED_AFTER = 18, 21  # steps
WARM_UP = 3  # steps that are not timed
FEW = 8  # rows that are predicted
CPU_SHARE = 16  # so much smaller are batches without a graphics card


class Steps(Callback):
    """Times the steps, and ends the process after one of them.

    Args:
        killed_after: the step; None: never.
    """

    def __init__(self, killed_after: int | None) -> None:
        self.killed_after, self.ends = killed_after, [time.monotonic()]

    def on_step_end(self, state: TrainState) -> None:
        if state.device.type == "cuda":
            torch.cuda.synchronize(state.device)
        self.ends.append(time.monotonic())
        if state.step == self.killed_after:
            tell("trained", step_ms=self.milliseconds)
            die()

    @property
    def milliseconds(self) -> float:
        """Of the step in the middle."""
        pairs = list(zip(self.ends, self.ends[1:], strict=False))[WARM_UP:]
        return 1000 * statistics.median(after - before for before, after in pairs)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_when(there: Callable[[], bool]) -> None:
    """End the process as soon as something is there."""

    def watch() -> None:
        while not there():
            time.sleep(0.002)
        tell("trained")
        die()

    threading.Thread(target=watch, daemon=True).start()


def tell(stage: str, **numbers: Any) -> None:
    """A stage is over: its name, and the most memory that was held so far, in GB."""
    numbers["host_gb"] = round(peak_memory(torch.device("cpu")) * MEBIBYTE / 1e9, 2)
    if torch.cuda.is_available():
        numbers["device_gb"] = round(torch.cuda.max_memory_allocated() / 1e9, 2)
    print(json.dumps({"stage": stage, **numbers}), flush=True)


@contextmanager
def timed(stage: str) -> Iterator[None]:
    """Tell how long a block took."""
    started = time.monotonic()
    yield
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    tell(stage, seconds=round(time.monotonic() - started, 2))


def arguments(name: str, size: Size, folder: Path, device: str) -> tuple[Any, dict[str, Any]]:
    """What `nw.fit` is given: the data, and all settings."""
    batch = size.batch if device == "cuda" else max(2, size.batch // CPU_SHARE)
    data, settings = data_of(size, batch, folder / "data")
    settings |= {"device": device, **size.settings}
    kind = MODELS.load(name)
    if not issubclass(kind, Learner) and size.batch:
        training = {"epochs": 1, "batch_size": batch}
        saving = {} if issubclass(kind, Ensemble) else {"save_steps": SAVED_AT, "keep": 1}
        settings = {**training, **saving, **settings}
    if device != "cuda":
        settings.pop("precision", None)
    return data, settings


def begin(name: str, folder: Path, device: str) -> None:
    """Learn, and be killed on the way."""
    kind, run = MODELS.load(name), folder / "run"
    data, settings = arguments(name, SIZES[name], folder, device)
    tell("loaded")
    callbacks: list[Callback] = []
    if issubclass(kind, Learner):
        die_when((run / "metrics.jsonl").exists)
    elif issubclass(kind, Ensemble):
        die_when((run / "members" / "001" / "manifest.json").exists)
    else:
        callbacks = [Steps(KILLED_AFTER)]
    nw.fit(name, data, out=run, quiet=True, callbacks=callbacks, **settings)
    tell("trained")
    die()  # a rule that was done before anyone saw it begin


def finish(name: str, folder: Path, device: str) -> None:
    """Take the run up, and do with it all that is done with runs."""
    size = SIZES[name]
    with timed("loaded"):
        data, settings = arguments(name, size, folder, device)
    gradual = "save_steps" in settings
    steps = [Steps(None)] if gradual else []
    with timed("resumed"):
        run = nw.fit(
            name, data, out=folder / "run", resume="auto", quiet=True, callbacks=steps, **settings
        )
    if gradual and max(row.step for row in run.history.rows) != STEPS:
        raise SystemExit(f"the run ends at step {run.history.rows[-1].step}, wanted {STEPS}")
    with timed("opened"):
        opened = nw.open_run(folder / "run")
        opened.model.to(device)
        if isinstance(data, Data):
            opened.known_data = data  # a run on arrays does not hold them
    tell("opened", weights=run.results["parameters"])
    with timed("evaluated"):  # vectors of words have nothing to be measured on
        measured = {} if opened.task.unmeasured else opened.evaluate()
    if not all(abs(value) < float("inf") for value in measured.values()):
        raise SystemExit(f"the run measures {measured}")
    with timed("reported"):
        opened.report(folder / "report.html")
    with timed("inspected"):
        for view in size.views:
            nw.inspect(opened, view).save(folder / f"{view}.html")
    with timed("predicted"):
        answer(opened)


def answer(run: Run) -> None:
    """Say something of a few examples."""
    if run.task.unmeasured:
        return
    if run.spec.target == "tokens" and run.spec.inputs == "tokens":
        run.generate("", max_tokens=FEW, seed=0)
        return
    if run.spec.inputs == "pairs":
        run.predict(["Ein Mann liest ein Buch ."])
        return
    split = run.data.split(run.results["split"])
    rows = split.read(torch.arange(min(FEW, len(split))))
    told = predict(run.model, rows.to(device_of(run.model)), run.task)
    if len(told) != len(rows) or not bool(told.isfinite().all()):
        raise SystemExit(f"{len(rows)} rows got the answers {told}")


def live(stage: str, name: str, folder: Path, device: str) -> None:
    """One process; what goes wrong ends it with one sentence."""
    try:
        (begin if stage == "begin" else finish)(name, folder, device)
    except NetwrightError as error:
        sys.exit(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    live(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4])
