"""The contestants by name, in the order of the table. A row's library is imported on its turn."""

import importlib
from collections.abc import Callable

from contest import YARDSTICK, Contestant, Problem, Turn

FIT = "what fit() itself sets up is timed"
DEFAULTS = "defaults on, one sample at a time"


def _lazily(module: str, function: str) -> Callable[[Problem], Turn]:
    def prepare(problem: Problem) -> Turn:
        return getattr(importlib.import_module(f"peers.{module}"), function)(problem)

    return prepare


def _row(name: str, place: str, note: str = "", *, own_adam: bool = False) -> Contestant:
    module, function = place.split(":")
    return Contestant(name=name, prepare=_lazily(module, function), note=note, own_adam=own_adam)


CONTESTANTS = [
    _row(YARDSTICK, "by_hand:by_hand", "randperm and indexing"),
    _row("netwright", "netwright:netwright_run", "defaults on"),
    _row("dataloader-batches", "by_hand:dataloader_batches", "one indexing a batch"),
    _row("dataloader", "by_hand:dataloader", "DataLoader(TensorDataset)"),
    _row("skorch", "skorch:fastest", "fastest: no callbacks, batches"),
    _row("skorch-defaults", "skorch:defaults", DEFAULTS),
    _row("fastai", "fastai:fastest", "fastest: no bar, batches"),
    _row("fastai-defaults", "fastai:defaults", DEFAULTS),
    _row("lightning", "lightning:fastest", f"fastest: barebones, batches; {FIT}"),
    _row("lightning-defaults", "lightning:defaults", f"{DEFAULTS}; {FIT}"),
    _row("keras", "keras:fastest", "fastest: no bar", own_adam=True),
    _row("keras-defaults", "keras:defaults", "bar on", own_adam=True),
    _row("hf-trainer", "transformers:fastest", f"fastest: all off, batches; {FIT}"),
    _row("hf-trainer-defaults", "transformers:defaults", f"{DEFAULTS}; {FIT}"),
    _row("scikit-learn", "scikit_learn:fastest", "numpy; own first weights", own_adam=True),
]
