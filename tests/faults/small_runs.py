"""Short runs that use everything a run can depend on, and all that they leave behind."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.files.manifest import read_folder
from netwright.core.files.storage import read_json
from netwright.data.dataset import Data, Split
from netwright.data.loading.stored import StoredInputs, StoredSplit
from netwright.recipes.fitting.fit import fit
from netwright.train.callback import Callback
from netwright.train.saving.checkpoint_content import FILES
from netwright.train.saving.packing import unpack
from netwright.train.state import TrainState
from netwright.train.watching.history import without_clock
from tests.train.toy_runs import assert_same, toy_data, toy_net

EPOCHS, BATCHES, ROWS = 3, 15, 60
DRAWS = 3


class Witness(Callback):
    """Notes the rows of each batch and a draw of each generator; what it noted is saved too."""

    def __init__(self) -> None:
        self.notes: list[list[float]] = []

    def on_step_end(self, state: TrainState) -> None:
        assert state.batch is not None
        draws = [random.random(), float(np.random.rand()), torch.rand(()).item()]
        self.notes.append([*state.batch.rows.tolist(), *draws])

    def state_dict(self) -> dict[str, Any]:
        return {"notes": self.notes}

    def load_state_dict(self, values: dict[str, Any]) -> None:
        self.notes = values["notes"]


class NoisyInputs(StoredInputs):
    """A mapped array whose rows are read with noise of every generator."""

    def __init__(self, array: NDArray[np.float32]) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape[1:]

    def read(self, rows: Tensor) -> Tensor:
        inputs = torch.from_numpy(self.array[rows.numpy()])
        return inputs + 0.1 * (torch.randn(inputs.shape) + random.random() + np.random.rand())

    def fingerprint(self) -> str:
        return str(self.array.tobytes())


def stored(path: Path, split: Split) -> StoredSplit:
    """The split with its inputs in a file; what reading it gives depends on random numbers."""
    if not path.exists():
        np.save(path, split.inputs.numpy())
    return StoredSplit(stored=NoisyInputs(np.load(path, mmap_mode="r")), targets=split.targets)


def stored_data(folder: Path, rows: int) -> Data:
    """The toy data, in files of this folder."""
    data = toy_data(rows=rows)
    assert data.val is not None
    val = stored(folder / "val.npy", data.val)
    return replace(data, train=stored(folder / "train.npy", data.train), val=val)


def train_small(folder: Path) -> None:
    """A run of 45 steps in this folder, or what is left of it."""
    fit(
        toy_net(batch_norm=True, dropout=0.4),
        toy_data(rows=ROWS, test=8),
        out=folder,
        resume="auto",
        callbacks=[Witness()],
        quiet=True,
        epochs=EPOCHS,
        batch_size=ROWS // BATCHES,
        optimizer="adamw",
        seed=2,  # its second epoch is the best
        lr=0.2,
        schedule="cosine",
        patience=9,
        eval_every=7,
        log_every=4,
        save_steps=2,
        save_every=1,
        device="cpu",
    )


def last_checkpoint(folder: Path) -> Path:
    """Where `last.json` points to."""
    name: str = read_json(folder / "last.json")["checkpoint"]
    return folder / "checkpoints" / name


def content(checkpoint: Path) -> dict[str, Any]:
    """What a checkpoint holds, to the last bit, but for its clock."""
    state = read_json(checkpoint / "state.json")
    del state["elapsed"]
    state["history"] = [without_clock(row) for row in state["history"]]
    tensors = {name: (checkpoint / name).read_bytes() for name in FILES if name != "state.json"}
    return {**tensors, "state": state}


def left_behind(folder: Path) -> dict[str, Any]:
    """Everything that a finished run leaves, to the last bit, but for its clock."""
    newest = last_checkpoint(folder)
    results = read_json(folder / "results.json")
    for name in ("seconds", "load_seconds"):
        del results[name]
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    metrics = [without_clock(json.loads(line)) for line in lines]
    return {
        **content(newest),
        "metrics": metrics,
        "results": results,
        "model": read_folder(folder / "model"),
        "layers": (folder / "layers.jsonl").read_text(),
        "path": (folder / "path.safetensors").read_bytes(),
        "last": newest.name,
        "best": read_json(folder / "best.json"),
    }


def saw_every_row_once(folder: Path) -> bool:
    """Whether each epoch of a small run was a pass over all rows."""
    callbacks = read_json(last_checkpoint(folder) / "state.json")["callbacks"]["$pairs"]
    notes = unpack(dict(callbacks)["Witness"], {})["notes"]
    rows = [row for note in notes for row in note[:-DRAWS]]
    epochs = [sorted(rows[start : start + ROWS]) for start in range(0, len(rows), ROWS)]
    return epochs == [list(range(ROWS))] * EPOCHS


def is_same(got: Any, wanted: Any) -> bool:
    """Whether two trees of tensors and plain values are equal to the last bit."""
    try:
        assert_same(got, wanted)
    except AssertionError:
        return False
    return True
