"""A row of a table of things that are handed over, and what must hold of each."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

import netwright as nw

QUICK: dict[str, Any] = {"epochs": 2, "batch_size": 8, "device": "cpu", "quiet": True}


@dataclass(frozen=True, kw_only=True)
class Door:
    """What is handed over.

    Args:
        given: the arguments of `nw.fit` that hold objects, made anew for every run.
        new: inputs to predict, as the caller has them; None where there is nothing to predict.
        model: a name, or a module made anew for every run.
        settings: the other arguments.
        note: a part of a sentence that the data says of itself.
        rows: the number of rows in train, val and test; 0 where there is no such split.
    """

    given: Callable[[], dict[str, Any]]
    new: Callable[[], Any] | None
    model: Callable[[], Any] = lambda: "mlp"
    settings: dict[str, Any] = field(default_factory=lambda: {"hidden": (4,)})
    note: str = ""
    rows: tuple[int, int, int] | None = None

    def fit(self, out: Path, **more: Any) -> nw.Run:
        return nw.fit(self.model(), **self.given(), out=out, **{**QUICK, **self.settings, **more})


def check_door(door: Door, folder: Path) -> nw.Run:
    """It trains, goes on exactly where it was cut short, and predicts, also when opened again."""
    run = door.fit(folder / "whole")
    if door.rows is not None:
        parts = dict(run.data.splits())
        assert door.rows == tuple(len(parts.get(name, ())) for name in ("train", "val", "test"))
    assert any(door.note in note for note in run.data.notes)
    door.fit(folder / "parts", max_steps=3)
    again = door.fit(folder / "parts", resume="auto")
    for one, other in zip(run.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(one, other)
    assert again.results["metrics"] == run.results["metrics"]
    if door.new is not None:
        model = door.model()
        opened = nw.open_run(folder / "whole", None if isinstance(model, str) else model)
        said = np.asarray(run.predict(door.new()))
        assert len(said)
        assert (said == np.asarray(opened.predict(door.new()))).all()
    return run


def check_report(door: Door, folder: Path) -> None:
    """A short run of it has its page."""
    run = door.fit(folder / "run", epochs=1)
    assert "</html>" in run.report(folder / "page.html").read_text(encoding="utf-8")
