"""What safe checkpoints cost: the share of a run's time that hashing, flushing and saving take.

Measured: runs with the default interval in a fresh folder on this disk; wall seconds of the whole
training, of all saves in it, and within them of sha256 and of fsync. The promise is that hashing
and flushing take less than 5% of training.

    share = (seconds in sha256 + seconds in fsync) / seconds of training
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from reporting import add_json_option, show

COLUMNS = {
    "run": ("name", ""),
    "training s": ("training_s", ".2f"),
    "saves": ("saves", "d"),
    "MB a save": ("megabytes", ".2f"),
    "saving s": ("saving_s", ".3f"),
    "sha256 s": ("sha256_s", ".3f"),
    "fsync s": ("fsync_s", ".3f"),
    "hash + fsync": ("share", ".2%"),
    "all saving": ("saving_share", ".2%"),
}
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "mlp on digits, 30 epochs": ("digits", {}),
    "mlp on digits, every epoch saved": ("digits", {"save_every": 1}),
    "mlp on MNIST, 3 epochs": ("mnist", {"epochs": 3}),
    "mlp 2048-2048 on MNIST, 1 epoch": ("mnist", {"epochs": 1, "hidden": (2048, 2048)}),
}


class Clock:
    """Adds up the seconds that calls take."""

    def __init__(self) -> None:
        self.seconds, self.calls = 0.0, 0

    def timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def around(*given: Any, **named: Any) -> Any:
            started = time.perf_counter()
            try:
                return call(*given, **named)
            finally:
                self.seconds += time.perf_counter() - started
                self.calls += 1

        return around


@contextmanager
def clocks() -> Iterator[dict[str, Clock]]:
    """Clocks on training, saving, sha256 and fsync for the block."""
    from netwright.core.files import storage
    from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
    from netwright.train.trainer import Trainer

    places = {
        "training": (Trainer, "fit"),
        "saving": (SaveCheckpoints, "_write"),
        "sha256": (storage, "_add"),
        "fsync": (os, "fsync"),
    }
    found = {name: Clock() for name in places}
    with ExitStack() as stack:
        for name, (owner, attribute) in places.items():
            call = found[name].timed(getattr(owner, attribute))
            stack.enter_context(patch.object(owner, attribute, call))
        yield found


def measure(name: str) -> dict[str, Any]:
    import netwright as nw

    data, settings = RUNS[name]
    with tempfile.TemporaryDirectory() as folder, clocks() as clock:
        run = nw.fit("mlp", data, out=Path(folder) / "run", quiet=True, **settings)
        checkpoints = list((Path(folder) / "run" / "checkpoints").iterdir())
        size = sum(file.stat().st_size for file in checkpoints[-1].iterdir())
    seconds = {part: one.seconds for part, one in clock.items()}
    return {
        "name": name,
        "training_s": seconds["training"],
        "saves": clock["saving"].calls,
        "megabytes": size / 1e6,
        "saving_s": seconds["saving"],
        "sha256_s": seconds["sha256"],
        "fsync_s": seconds["fsync"],
        "share": (seconds["sha256"] + seconds["fsync"]) / seconds["training"],
        "saving_share": seconds["saving"] / seconds["training"],
        "status": run.results["status"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_json_option(parser)
    options = parser.parse_args()
    rows = []
    for name, (data, _) in RUNS.items():
        try:
            rows.append(measure(name))
        except OSError as error:  # no MNIST here
            rows.append({"name": f"{name}: {data} is not here ({error})"})
    show(rows, COLUMNS, title="what checkpoints cost", as_json=options.json)


if __name__ == "__main__":
    main()
