"""Whether a network of dense layers trains without oneDNN: measured once on each kind of machine.

On arm64 torch hands x W^T in float32 to oneDNN, which prepares every product anew. For a small
layer that takes many times as long as the product itself, which torch's other library computes at
once. What is measured is remembered in netwright's cache folder with its reason, so that runs on
one machine compute the same bits: the flag may change the last one, as the number of threads may.

Torch has one flag for the process, so all of its threads train without oneDNN while a run does.
"""

import threading
import timeit
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal, get_args

import torch
from torch import nn
from torch.nn.functional import linear

from netwright.core.devices import pick_device
from netwright.core.errors import NetwrightError
from netwright.core.files.inside import has_file
from netwright.core.files.storage import read_json, write_json
from netwright.data.files.locations import home_folder
from netwright.train.profiling.hardware_rates import processor_setup
from netwright.train.ranks import Ranks
from netwright.train.run_setting_groups import OneDnn
from netwright.train.settings import TrainConfig

Use = Literal["on", "off"]
FILE = "onednn.json"
WEIGHTED = (nn.Linear, nn.BatchNorm1d, nn.LayerNorm)  # parts that may hold weights
LARGEST = 2**20  # numbers of a weight; the product by a larger one takes longer than preparing it
ROWS, INPUTS, OUTPUTS = 128, 128, 10  # of the layer that is measured
REPEATS = 9
GAIN = 2.0  # times as fast without it, at least; on a Neoverse-N1 it is 4 to 35 times, by threads


class _Flag:
    """Torch's flag for oneDNN, which is off as long as any block of any thread is without it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # also held while measuring, which enters such a block itself
        self._backend: Any = torch.backends.mkldnn
        self._blocks, self._before = 0, True

    @property
    def is_on(self) -> bool:
        return bool(self._backend.enabled)

    def enter(self) -> None:
        """The first block switches oneDNN off."""
        with self.lock:
            if not self._blocks:
                self._before = self.is_on
                self._backend.enabled = False
            self._blocks += 1

    def leave(self) -> None:
        """The last block restores what the first one found."""
        with self.lock:
            self._blocks -= 1
            if not self._blocks:
                self._backend.enabled = self._before


_FLAG = _Flag()


@contextmanager
def with_onednn(use: OneDnn) -> Iterator[None]:
    """A block without oneDNN where `use` is off, otherwise with the flag as it is.

    Blocks may overlap, also in several threads: oneDNN is off from the start of the first one to
    the end of the last one.
    """
    if use != "off":
        yield
        return
    _FLAG.enter()
    try:
        yield
    finally:
        _FLAG.leave()


def is_dense(model: nn.Module) -> bool:
    """Whether all its weights are those of dense layers of a moderate size, and of norms."""
    parts = [part for part in model.modules() if any(True for _ in part.parameters(recurse=False))]
    return (
        any(isinstance(part, nn.Linear) for part in parts)
        and all(isinstance(part, WEIGHTED) for part in parts)
        and all(weight.numel() <= LARGEST for weight in model.parameters())
        and not any(isinstance(part, nn.GELU) for part in model.modules())  # oneDNN's own is quick
    )


def use_in(model: nn.Module, config: TrainConfig) -> Use:
    """Whether this model trains with oneDNN: as is asked for, or as suits it on this machine."""
    if config.onednn != "auto":
        return config.onednn
    is_usual = config.precision == "fp32" and not config.compile
    on_cpu = pick_device(config.device).type == "cpu"
    return chosen_use() if is_usual and on_cpu and is_dense(model) else "on"


def agreed_use(model: nn.Module, config: TrainConfig, ranks: Ranks) -> Use:
    """What all ranks train with: the choice of rank 0, since each would measure another time."""
    return "off" if ranks.decide(ranks.is_first and use_in(model, config) == "off") else "on"


def chosen_use() -> Use:
    """What a network of dense layers trains with on this machine: as remembered, or measured.

    While the flag is off there is nothing to compare: the answer is off, and is not remembered.
    """
    file, kind = home_folder() / FILE, f"{processor_setup()}, torch {torch.__version__}"
    known = _remembered(file)
    if kind not in known:
        with _FLAG.lock:
            if not _FLAG.is_on:
                return "off"
            use, reason = measured_use()
        known[kind] = {"use": use, "reason": reason}
        with suppress(NetwrightError, OSError):  # where nothing can be kept, it is measured again
            file.parent.mkdir(parents=True, exist_ok=True)
            write_json(file, known)
    return "off" if known[kind]["use"] == "off" else "on"


def measured_use() -> tuple[Use, str]:
    """The faster way, and why."""
    with_it, without = (_layer_seconds(use) * 1e6 for use in get_args(Use))
    layer = f"{ROWS} rows through a layer of {INPUTS} x {OUTPUTS}"
    reason = f"{layer} take {with_it:.0f} us with oneDNN, {without:.0f} us without"
    return ("off" if with_it > GAIN * without else "on"), reason


def _layer_seconds(use: Use) -> float:
    """The least that a small layer took; nothing is drawn for it."""
    inputs, weight = torch.ones(ROWS, INPUTS), torch.ones(OUTPUTS, INPUTS)
    with with_onednn(use), torch.no_grad():
        return min(timeit.repeat(lambda: linear(inputs, weight), number=1, repeat=REPEATS))


def _remembered(file: Path) -> dict[str, dict[str, str]]:
    """What was measured before; entries that no measurement gives are left out."""
    found: Any = None
    with suppress(NetwrightError):
        found = read_json(file) if has_file(file) else None
    entries = found.items() if isinstance(found, dict) else ()
    return {kind: kept for kind, kept in entries if _is_choice(kept)}


def _is_choice(kept: object) -> bool:
    return isinstance(kept, dict) and kept.get("use") in get_args(Use)
