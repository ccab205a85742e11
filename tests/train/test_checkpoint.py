"""The files of a checkpoint: trees come back whole; what is damaged or lacks is refused by name."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from netwright.core.errors import DataError, RunError
from netwright.core.storage import sha256_of, write_json
from netwright.train.callback import Callback
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.checkpoint import load_checkpoint, pack, save_checkpoint, unpack
from netwright.train.state import TrainState
from tests.train.toy_runs import (
    assert_same,
    toy_data,
    toy_fit,
    toy_net,
    toy_start,
)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: Any) -> Path:
    """A checkpoint in the middle of the second epoch, of Adam with early stopping."""
    early = EarlyStopping()
    folder: Path = tmp_path_factory.mktemp("adam") / "whole"

    class Save(Callback):
        def on_step_end(self, state: TrainState) -> None:
            if state.step == 7:
                save_checkpoint(folder, state, [early])

    toy_fit(toy_net(batch_norm=True), toy_data(), callbacks=[early, Save()])
    return folder


@pytest.fixture
def checkpoint(untouched: Path, tmp_path: Path) -> Path:
    """A copy of it to spoil."""
    return Path(shutil.copytree(untouched, tmp_path / "checkpoint"))


def load(folder: Path, **settings: Any) -> TrainState:
    state = toy_start(toy_net(batch_norm=True), **settings)
    load_checkpoint(folder, state, [EarlyStopping()])
    return state


def rewrite(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change state.json and make the manifest fit, as a forger or an older version would."""
    values = json.loads((folder / "state.json").read_text())
    change(values)
    (folder / "state.json").write_text(json.dumps(values))
    seal(folder)


def seal(folder: Path) -> None:
    sums = {file.name: sha256_of(file) for file in folder.iterdir() if file.name[0] != "m"}
    sums["model.safetensors"] = sha256_of(folder / "model.safetensors")
    write_json(folder / "manifest.json", {"format": 1, "sha256": sums})


def refused(folder: Path, sentence: str, **settings: Any) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        load(folder, **settings)


def test_every_key_is_needed_and_is_named_when_it_is_lacking(checkpoint: Path) -> None:
    whole = (checkpoint / "state.json").read_text()
    keys = list(json.loads(whole))
    assert len(keys) == 13
    for key in keys:
        rewrite(checkpoint, lambda values, key=key: values.pop(key))  # type: ignore[misc]
        refused(checkpoint, f"{checkpoint} lacks {key!r}: it cannot be resumed exactly")
        (checkpoint / "state.json").write_text(whole)
    seal(checkpoint)
    assert load(checkpoint).step == 7


def test_counters_history_and_the_clock_come_back(checkpoint: Path) -> None:
    rewrite(checkpoint, lambda values: values.update(elapsed=500.0))
    state = load(checkpoint)
    assert (state.epoch, state.position, state.step) == (1, 2, 7)
    assert (state.samples, state.running.rows) == (28, 8)
    assert 500 < state.elapsed < 600
    assert [(row.epoch, row.step) for row in state.history] == [(1, 5)] * 4


INNER = [
    "random/python",
    "random/numpy",
    "random/torch",
    "random/cuda",
    "running/loss",
    "running/headline",
    "running/rows",
    "running/held",
    "schedule/last_epoch",
    "optimizer/state",
    "optimizer/param_groups",
    "optimizer/param_groups/0/lr",
    "callbacks/EarlyStopping",
    "callbacks/EarlyStopping/best",
    "callbacks/EarlyStopping/weights",
]


@pytest.mark.parametrize("path", INNER)
def test_every_part_of_a_part_is_needed_too(checkpoint: Path, path: str) -> None:
    def drop(values: dict[str, Any]) -> None:
        *way, last = path.split("/")
        tree = values[way[0]]
        for key in way[1:]:
            tree = tree["$list"][int(key)] if key == "0" else dict(tree["$pairs"])[key]
        tree["$pairs"] = [pair for pair in tree["$pairs"] if pair[0] != last]

    rewrite(checkpoint, drop)
    refused(checkpoint, f"{checkpoint} lacks {path!r}: it cannot be resumed exactly")


def test_every_tensor_is_needed_and_is_named_when_it_is_lacking(checkpoint: Path) -> None:
    tensors = load_file(checkpoint / "state.safetensors")
    assert {"optimizer/state/0/exp_avg", "random/torch", "running/loss"} < set(tensors)
    for name in tensors:
        rest = {other: tensor for other, tensor in tensors.items() if other != name}
        save_file(rest, checkpoint / "state.safetensors")
        seal(checkpoint)
        refused(checkpoint, f"the tensor {name!r} is missing")


@pytest.mark.parametrize("name", ["0.weight", "1.running_mean", "1.num_batches_tracked"])
def test_weights_and_buffers_are_all_needed(checkpoint: Path, name: str) -> None:
    weights = load_file(checkpoint / "model.safetensors")
    weights.pop(name)
    save_file(weights, checkpoint / "model.safetensors")
    seal(checkpoint)
    refused(checkpoint, f"{checkpoint} does not fit the model: it has no {name!r}")


@pytest.mark.parametrize("file", ["model.safetensors", "state.safetensors", "state.json"])
def test_one_flipped_bit_is_refused(checkpoint: Path, file: str) -> None:
    path = checkpoint / file
    content = path.read_bytes()
    for place in (0, len(content) // 3, len(content) // 2, len(content) - 1):
        for bit in (1, 128):
            changed = bytearray(content)
            changed[place] ^= bit
            path.write_bytes(changed)
            refused(checkpoint, f"{path} is damaged: its sha256 is not the one in the manifest")
    path.write_bytes(content[:-1])
    refused(checkpoint, f"{path} is damaged: its sha256 is not the one in the manifest")
    path.unlink()
    refused(checkpoint, f"{path} is missing, the manifest lists it")


@pytest.mark.parametrize("file", ["model.safetensors", "state.safetensors", "state.json"])
def test_a_file_that_the_manifest_does_not_vouch_for_is_refused(
    checkpoint: Path, file: str
) -> None:
    manifest = json.loads((checkpoint / "manifest.json").read_text())
    del manifest["sha256"][file]
    write_json(checkpoint / "manifest.json", manifest)
    refused(checkpoint, f"{checkpoint} lacks {file!r}: it cannot be resumed exactly")


def test_what_does_not_fit_is_refused_in_one_sentence(checkpoint: Path) -> None:
    wider = nn.Sequential(nn.Linear(3, 7), nn.BatchNorm1d(7), nn.ReLU(), nn.Flatten())
    wider.append(nn.Linear(7, 3))
    with pytest.raises(DataError, match=r"does not fit the model: .*size mismatch for 0\.weight"):
        load_checkpoint(checkpoint, toy_start(wider), [EarlyStopping()])
    refused(
        checkpoint,
        f"{checkpoint} lacks 'scaler/scale': it cannot be resumed exactly",
        precision="fp16-mixed",
    )
    state = toy_start(toy_net(batch_norm=True))
    with pytest.raises(DataError, match="holds the state of EarlyStopping, which is not among"):
        load_checkpoint(checkpoint, state)
    rewrite(checkpoint, lambda values: values.update(format=2))
    refused(checkpoint, f"{checkpoint} has format 2, this version reads 1")


def test_a_scaler_has_to_go_somewhere(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "half", toy_start(precision="fp16-mixed"))
    sentence = f"{tmp_path / 'half'} was written with precision 'fp16-mixed', go on with the same"
    with pytest.raises(DataError, match=re.escape(sentence)):
        load_checkpoint(tmp_path / "half", toy_start())


def test_two_callbacks_of_one_kind_keep_their_own_states(tmp_path: Path) -> None:
    watch = [EarlyStopping("val/loss"), EarlyStopping("val/accuracy")]
    state = toy_fit(toy_net(), toy_data(), callbacks=watch)
    save_checkpoint(tmp_path / "two", state, watch)
    again = [EarlyStopping("val/loss"), EarlyStopping("val/accuracy")]
    load_checkpoint(tmp_path / "two", toy_start(), again)
    assert_same([call.state_dict() for call in again], [call.state_dict() for call in watch])
    assert again[0].best != again[1].best


@pytest.mark.parametrize("accumulate", [1, 3])
def test_gradients_that_wait_for_their_update_are_not_lost_but_refused(
    tmp_path: Path, accumulate: int
) -> None:
    class TooEarly(Callback):
        def on_before_update(self, state: TrainState) -> None:
            save_checkpoint(tmp_path / "early", state)

    sentence = "a checkpoint must wait for the update: '0.weight' has a gradient left"
    with pytest.raises(RunError, match=f"^{re.escape(sentence)}$"):
        toy_fit(toy_net(), toy_data(), accumulate=accumulate, callbacks=[TooEarly()])
    assert list(tmp_path.iterdir()) == []


def test_weights_that_are_not_finite_are_not_saved(tmp_path: Path) -> None:
    state = toy_start()
    with torch.no_grad():
        next(state.model.parameters())[1, 2] = torch.inf
    with pytest.raises(RunError, match="a checkpoint must hold finite weights"):
        save_checkpoint(tmp_path / "bad", state)
    assert list(tmp_path.iterdir()) == []


TENSORS = st.sampled_from(
    [
        torch.tensor(1.5),
        torch.arange(6).reshape(2, 3).T,  # not contiguous
        torch.tensor([True, False]),
        torch.tensor([0.1, torch.nan], dtype=torch.bfloat16),
        torch.zeros(0, 2, dtype=torch.uint8),
        torch.ones(2, dtype=torch.float64).expand(3, 2),
    ]
)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
KEYS = st.integers(-3, 12) | st.sampled_from(["", "0", "1", "a", "a/b", "b", "/", "$tensor", "$x"])
TREES = st.recursive(
    PLAIN | TENSORS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(derandomize=True, deadline=None, max_examples=200)
@given(TREES)
@example({"a/b": torch.ones(1), "a": {"b": torch.zeros(1)}, 0: torch.ones(2), "0": torch.zeros(2)})
def test_packed_trees_come_back_as_they_were(tree: Any) -> None:
    tensors: dict[str, Tensor] = {}
    packed = json.loads(json.dumps(pack(tree, "part", tensors), allow_nan=False))
    assert_same(unpack(packed, tensors), tree)


@pytest.mark.parametrize(
    ("tree", "sentence"),
    [
        ({"a": [1, {2}]}, "part/a/1 cannot be saved: a set is no plain value"),
        ({"a": {(1, 2): 3}}, "part/a cannot be saved: its key (1, 2) is neither text nor a whole"),
        ([nn.Linear(1, 1)], "part/0 cannot be saved: a Linear is no plain value"),
    ],
)
def test_what_is_not_plain_is_refused_by_its_place(tree: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}"):
        pack(tree, "part", {})
