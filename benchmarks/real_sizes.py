"""Whether every model of the catalog works at its published size, from the first step to an answer.

Each model trains 30 steps in a process of its own, which is killed (SIGKILL) after a checkpoint. A
second process takes the run up, ends it, opens it from its folder, evaluates, reports, looks into
it and predicts. What the sizes and the data are stands in `real_size_models.py`; models that learn
by a rule of their own learn all 60,000 rows of MNIST by it.

    step ms           the step in the middle, of those before the kill; the device is waited for
    peak GB           the most that torch held on the graphics card, else of the process
    begun             seconds until the kill, with Python's start and the data
    the other columns seconds of each stage in the second process
    result            ok, or what went wrong; one model's failure does not stop the others

Without a graphics card, batches are a sixteenth as large and the larger models take long:

    python benchmarks/real_sizes.py --only lenet5 lstm ridge --device cpu
"""

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from reporting import Row, add_json_option, show

LIFE = Path(__file__).with_name("real_size_life.py")
COLUMNS = {
    "model": ("name", ""),
    "weights": ("weights", ",d"),
    "step ms": ("step_ms", ".1f"),
    "peak GB": ("peak_gb", ".2f"),
    "begun": ("begun_s", ".1f"),
    "load data": ("loaded_s", ".1f"),
    "resume and end": ("resumed_s", ".1f"),
    "open": ("opened_s", ".1f"),
    "evaluate": ("evaluated_s", ".1f"),
    "report": ("reported_s", ".1f"),
    "inspect": ("inspected_s", ".1f"),
    "predict": ("predicted_s", ".1f"),
    "all s": ("seconds", ".1f"),
    "result": ("result", ""),
}
STAGES = ("loaded", "resumed", "opened", "evaluated", "reported", "inspected", "predicted")
HUGE = 200  # of weight: such checkpoints fill a disk, and are written one after the other
LONGEST_SENTENCE = 300


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--only", nargs="+", metavar="NAME", help="these models, not all")
    options.add_argument("--device", help="cuda where there is one, unless told")
    options.add_argument("--jobs", type=int, default=1, help="models side by side (1)")
    options.add_argument(
        "--most-seconds", type=float, default=300, help="of one model; more is a failure (300)"
    )
    options.add_argument("--work", type=Path, help="folder for the runs, which are deleted")
    add_json_option(options)
    return options


class Life:
    """One model's two processes, and what they told.

    Args:
        name: of the model.
        device: cpu or cuda.
        folder: for its runs; it is deleted.
        until: the moment at which it has taken too long.
    """

    def __init__(self, name: str, device: str, folder: Path, most_seconds: float) -> None:
        self.name, self.device, self.folder = name, device, folder
        self.started, self.most_seconds = time.monotonic(), most_seconds
        self.row: dict[str, Any] = {"name": name}

    def run(self) -> Row:
        try:
            began = time.monotonic()
            failure = self._process("begin", -signal.SIGKILL)
            self.row["begun_s"] = time.monotonic() - began
            failure = failure or self._process("finish", 0)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)
        return {
            **self.row,
            "seconds": time.monotonic() - self.started,
            "result": failure or "ok",
        }

    def _process(self, stage: str, wanted: int) -> str:
        """Run one process to its end; gives what went wrong."""
        left = self.most_seconds - (time.monotonic() - self.started)
        command = [sys.executable, str(LIFE), stage, self.name, str(self.folder), self.device]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=max(left, 1), check=False
            )
        except subprocess.TimeoutExpired as error:
            told = error.stdout.decode() if isinstance(error.stdout, bytes) else error.stdout or ""
            last = self._take(told)
            return f"{stage}: longer than {self.most_seconds:g} s, after {last or 'the start'}"
        last = self._take(done.stdout)
        if done.returncode == wanted:
            return ""
        lines = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        return f"{stage}, after {last or 'the start'}: {lines[-1]:.{LONGEST_SENTENCE}}"

    def _take(self, told: str) -> str:
        """Read what a process said of its stages; gives the last of them."""
        last = ""
        for line in told.splitlines():
            if not line.startswith("{"):
                continue
            said = json.loads(line)
            last = said["stage"]
            if "seconds" in said:
                self.row[f"{last}_s"] = said["seconds"]
            self.row |= {key: said[key] for key in ("step_ms", "weights") if key in said}
            peak = said.get("device_gb", said["host_gb"])
            self.row["peak_gb"] = max(peak, self.row.get("peak_gb", 0.0))
        return last


def in_order(names: Sequence[str]) -> list[str]:
    """The largest first: they take longest."""
    from real_size_models import SIZES

    return sorted(names, key=lambda name: -SIZES[name].weight)


def main() -> None:
    arguments = parser().parse_args()
    from real_size_models import SIZES, check_complete
    from torch.cuda import is_available

    check_complete()
    names = in_order(arguments.only or list(SIZES))
    device = arguments.device or ("cuda" if is_available() else "cpu")
    alone = threading.Lock()
    rows: dict[str, Row] = {}
    with tempfile.TemporaryDirectory(dir=arguments.work) as work:

        def live(name: str) -> None:
            folder = Path(work) / name
            folder.mkdir()
            life = Life(name, device, folder, arguments.most_seconds)
            rows[name] = life.run()
            # At once: a benchmark that is cut short has shown what it saw.
            print(json.dumps(rows[name]), file=sys.stderr, flush=True)

        def live_alone(several: Sequence[str]) -> None:
            with alone:
                for name in several:
                    live(name)

        huge = [name for name in names if SIZES[name].weight > HUGE]
        with ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
            waiting = [pool.submit(live_alone, huge)] if huge else []
            waiting += [pool.submit(live, name) for name in names if name not in huge]
            for one in waiting:
                one.result()
    ordered = [rows[name] for name in names]
    failed = [row for row in ordered if row["result"] != "ok"]
    title = f"{len(ordered)} models at their sizes on {device}, {len(failed)} failed"
    show(ordered, COLUMNS, title=title, as_json=arguments.json)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
