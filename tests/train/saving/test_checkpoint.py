"""The files of a checkpoint: trees come back whole; what is damaged or lacks is refused by name."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from netwright.core.errors import ConfigError, DataError, RunError
from netwright.core.files.storage import sha256_of, write_json
from netwright.data.dataset import Data
from netwright.train.callback import Callback
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.ranks import Ranks
from netwright.train.saving.checkpoint import load_checkpoint, save_checkpoint
from netwright.train.saving.packing import from_bytes, to_bytes
from netwright.train.state import TrainState
from tests.odd_files import is_untouched, outside_of, plant, refusal
from tests.train.toy_runs import (
    assert_same,
    copy_of,
    toy_data,
    toy_fit,
    toy_net,
    toy_start,
    toy_trainer,
    weighed,
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
    assert len(keys) == 18
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
    "ranks/0/random",
    "ranks/0/random/python",
    "ranks/0/random/numpy",
    "ranks/0/random/torch",
    "ranks/0/random/cuda",
    "ranks/0/running/loss",
    "ranks/0/running/headline",
    "ranks/0/running/rows",
    "ranks/0/running/held",
    "ranks/0/gradients",
    "conditions/seed",
    "conditions/batch_size",
    "conditions/data",
    "schedule/last_epoch",
    "optimizer/state",
    "optimizer/state/0/exp_avg",
    "optimizer/state/3/exp_avg_sq",
    "optimizer/state/5/step",
    "optimizer/param_groups",
    "optimizer/param_groups/0/lr",
    "callbacks/EarlyStopping",
    "callbacks/EarlyStopping/best",
    "callbacks/EarlyStopping/weights",
]


def drop(values: dict[str, Any], path: str) -> None:
    """Take a part of a part away."""
    *way, last = path.split("/")
    tree = values[way[0]]
    for key in way[1:]:
        pairs = tree.get("$pairs")
        inner = {str(name): value for name, value in pairs or ()}
        tree = tree["$list"][int(key)] if pairs is None else inner[key]
    tree["$pairs"] = [pair for pair in tree["$pairs"] if pair[0] != last]


@pytest.mark.parametrize("path", INNER)
def test_every_part_of_a_part_is_needed_too(checkpoint: Path, path: str) -> None:
    rewrite(checkpoint, lambda values: drop(values, path))
    refused(checkpoint, f"{checkpoint} lacks {path!r}: it cannot be resumed exactly")


def test_a_piece_that_only_a_run_on_its_way_has_is_needed_too(tmp_path: Path) -> None:
    """A fresh state has no waiting gradients and no average: what is listed has to be there."""

    class Average(Callback):
        def __init__(self) -> None:
            self.kept: dict[str, Any] = {}

        def state_dict(self) -> dict[str, Any]:
            return dict(self.kept)

        def load_state_dict(self, values: dict[str, Any]) -> None:
            self.kept = values

    class Stop(Callback):
        def on_batch_end(self, state: TrainState) -> None:
            if state.samples == 4:
                average.kept = {"weights": torch.ones(2)}
                save_checkpoint(tmp_path / "mid", state, [average])

    average = Average()
    toy_fit(toy_net(), toy_data(), accumulate=2, callbacks=[Stop()])
    again = Average()  # has nothing to keep yet, and takes back what was kept
    load_checkpoint(tmp_path / "mid", toy_start(accumulate=2), [again])
    assert_same(again.kept, average.kept)
    for path in ("ranks/0/gradients/0.weight", "callbacks/Average"):
        copy = Path(shutil.copytree(tmp_path / "mid", tmp_path / path.replace("/", " ")))
        rewrite(copy, lambda values, path=path: drop(values, path))  # type: ignore[misc]
        with pytest.raises(DataError, match=re.escape(f"lacks {path!r}: it cannot be resumed")):
            load_checkpoint(copy, toy_start(accumulate=2), [Average()])


def test_every_tensor_is_needed_and_is_named_when_it_is_lacking(checkpoint: Path) -> None:
    tensors = load_file(checkpoint / "state.safetensors")
    wanted = {"optimizer/state/0/exp_avg", "ranks/0/random/torch", "ranks/0/running/loss"}
    assert wanted < set(tensors)
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
            refused(checkpoint, f"{path} is damaged: its sha256 differs from the manifest")
    path.write_bytes(content[:-1])
    refused(checkpoint, f"{path} is damaged: its sha256 differs from the manifest")
    path.unlink()
    refused(checkpoint, f"{path} is missing, but the manifest lists it")


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
    sentence = (
        f"{checkpoint} cannot be resumed: the model has changed: "
        "'0.weight' was 5x3 torch.float32, is 7x3 torch.float32"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        load_checkpoint(checkpoint, toy_start(wider), [EarlyStopping()])
    state = toy_start(toy_net(batch_norm=True))
    with pytest.raises(DataError, match="holds the state of EarlyStopping, which is not among"):
        load_checkpoint(checkpoint, state)
    rewrite(checkpoint, lambda values: values.update(format=2))
    refused(checkpoint, f"{checkpoint} has format 2, this version reads 1")


def test_an_optimizer_that_remembers_nothing_at_all_is_not_taken_for_a_whole_one(
    checkpoint: Path,
) -> None:
    names = [name for name, _ in toy_net(batch_norm=True).named_parameters()]

    def forget(values: dict[str, Any]) -> None:
        pairs = dict(values["optimizer"]["$pairs"])
        pairs["state"]["$pairs"] = []
        values["unmoved"] = {"$list": names}
        values["pieces"] = [p for p in values["pieces"] if not p.startswith("optimizer/state/")]

    rewrite(checkpoint, forget)
    refused(checkpoint, f"{checkpoint} lacks 'optimizer/state': it cannot be resumed exactly")


@pytest.mark.parametrize(
    ("settings", "difference", "name"),
    [
        ({"batch_size": 5}, "batch_size was 4, is 5", "batch_size"),
        ({"accumulate": 2}, "accumulate was 1, is 2", "accumulate"),
        ({"optimizer": "adamw"}, "optimizer was adam, is adamw", "optimizer"),
        ({"lr": 0.5}, "lr was not set, is 0.5", "lr"),
        ({"precision": "bf16-mixed"}, "precision was fp32, is bf16-mixed", "precision"),
        ({"seed": 3}, "seed was 0, is 3", "seed"),
    ],
)
def test_changed_settings_are_refused_with_the_difference_or_allowed_by_name(
    checkpoint: Path, settings: dict[str, Any], difference: str, name: str
) -> None:
    sentence = (
        f"{checkpoint} cannot be resumed exactly: {difference}; to resume anyway, allow {name}"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        load(checkpoint, **settings)
    data = toy_data()
    trainer = toy_trainer(data, **settings)
    state = trainer.start(toy_net(batch_norm=True), data)
    load_checkpoint(checkpoint, state, [EarlyStopping()], allow=[name])
    assert (state.epoch, state.step) == (1, 7)
    starts_over = name in {"batch_size", "accumulate", "seed"}
    assert state.position == (0 if starts_over else 2)
    trainer.fit(state, data)
    assert state.epoch == 3
    if name == "lr":
        assert state.lr == 0.5


def test_only_what_there_is_can_be_allowed(checkpoint: Path) -> None:
    state = toy_start(toy_net(batch_norm=True))
    with pytest.raises(ConfigError, match="'batchsize' is allowed to change; did you mean 'batch"):
        load_checkpoint(checkpoint, state, [EarlyStopping()], allow=["batchsize"])


def test_gradients_that_wait_are_the_first_ranks_when_others_join(tmp_path: Path) -> None:
    class Save(Callback):
        def on_batch_end(self, state: TrainState) -> None:
            if state.samples == 4:
                save_checkpoint(tmp_path / "mid", state)

    toy_fit(toy_net(), toy_data(), accumulate=2, callbacks=[Save()])
    waiting = []
    for rank in range(2):
        state = toy_start(accumulate=2)
        state.ranks = Ranks(rank, 2)
        before = state.conditions()
        state.conditions = lambda before=before: {**before, "processes": 2}  # type: ignore[misc]
        load_checkpoint(tmp_path / "mid", state, allow=["processes"])
        assert state.accumulated == 1
        waiting.append(len(state.gradients))
    assert waiting == [4, 0]


def test_a_longer_run_is_the_same_run_where_the_schedule_does_not_know_its_end(
    checkpoint: Path,
) -> None:
    assert load(checkpoint, epochs=9).epochs == 9
    state = toy_start(toy_net(batch_norm=True), epochs=9, schedule="cosine")
    with pytest.raises(ConfigError, match="schedule was constant, is cosine"):
        load_checkpoint(checkpoint, state, [EarlyStopping()])


def changed_data(change: str) -> Data:
    data = toy_data()
    train = data.train
    if change == "order":
        return replace(data, train=train.take(torch.arange(len(train)).flip(0)))
    if change == "one number":
        inputs = train.inputs.clone()
        inputs[7, 1] += 1e-6
        return replace(data, train=replace(train, inputs=inputs))
    if change == "rows":
        return replace(data, train=train.take(torch.arange(len(train) - 1)))
    if change == "weights":
        return replace(data, train=weighed(train, [1.0] * len(train)))
    if change == "no validation":
        return replace(data, val=None)
    return replace(data, spec=replace(data.spec, class_names=("a", "b", "d")))


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ("order", "the train split has its rows in a different order; .*allow data$"),
        ("one number", "the train split has different rows; .*allow data$"),
        ("rows", "the train split had 20 rows, has 19; .*allow data$"),
        ("weights", "the train split has different rows; .*allow data$"),
        ("no validation", "the val split was present, is absent; .*allow data$"),
        ("classes", "the classes were a, b, c, are a, b, d; .*allow classes$"),
    ],
)
def test_changed_data_is_refused_with_the_difference(
    checkpoint: Path, change: str, difference: str
) -> None:
    data = changed_data(change)
    state = toy_trainer(data).start(toy_net(batch_norm=True), data)
    with pytest.raises(ConfigError, match=difference):
        load_checkpoint(checkpoint, state, [EarlyStopping()])


def test_other_surroundings_are_said_and_not_refused(checkpoint: Path) -> None:
    def move(values: dict[str, Any]) -> None:
        pairs = values["conditions"]["$pairs"]
        values["conditions"]["$pairs"] = [
            [name, 99 if name == "threads" else value] for name, value in pairs
        ]

    rewrite(checkpoint, move)
    state = toy_start(toy_net(batch_norm=True))
    (remark,) = load_checkpoint(checkpoint, state, [EarlyStopping()])
    threads = torch.get_num_threads()
    assert remark == f"threads was 99, is {threads}: results may differ in the last bits"


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

    sentence = "a checkpoint cannot be saved between backward and update: gradients are pending"
    with pytest.raises(RunError, match=f"^{re.escape(sentence)}$"):
        toy_fit(toy_net(), toy_data(), accumulate=accumulate, callbacks=[TooEarly()])
    assert list(tmp_path.iterdir()) == []


def test_weights_that_are_not_finite_are_not_saved(tmp_path: Path) -> None:
    state = toy_start()
    with torch.no_grad():
        next(state.model.parameters())[1, 2] = torch.inf
    with pytest.raises(RunError, match="a checkpoint must have finite weights"):
        save_checkpoint(tmp_path / "bad", state)
    assert list(tmp_path.iterdir()) == []


class SaveEpoch(Callback):
    """Saves after the first epoch; notes what training had learned, and what the model held."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.learned: dict[str, Any] = {}
        self.held: dict[str, Any] = {}

    def on_step_end(self, state: TrainState) -> None:
        if state.step == 5:
            self.learned = copy_of(state.model)

    def on_epoch_end(self, state: TrainState) -> None:
        if state.epoch == 1:
            self.held = copy_of(state.model)
            save_checkpoint(self.folder, state)


def test_weights_are_those_of_training_though_the_model_holds_their_average(tmp_path: Path) -> None:
    save = SaveEpoch(tmp_path / "mean")
    toy_fit(toy_net(), toy_data(), average="exponential", callbacks=[save])
    saved = load_file(tmp_path / "mean" / "model.safetensors")
    for name, tensor in save.learned.items():
        assert torch.equal(saved[name], tensor)
        assert not torch.equal(save.held[name], tensor)
    again = toy_start(average="exponential")
    load_checkpoint(tmp_path / "mean", again)
    assert again.average is not None
    assert again.average.count == 5
    assert_same(again.average.mean, save.held)

    rewrite(tmp_path / "mean", lambda values: values["average"]["$pairs"].pop(0))
    with pytest.raises(DataError, match=r"lacks 'average/mean': it cannot be resumed exactly$"):
        load_checkpoint(tmp_path / "mean", toy_start(average="exponential"))


def test_an_average_that_was_not_there_before_begins_where_it_is_allowed(tmp_path: Path) -> None:
    save = SaveEpoch(tmp_path / "plain")
    toy_fit(toy_net(), toy_data(), callbacks=[save])
    again = toy_start(average="exponential")
    with pytest.raises(ConfigError, match=r"average was none, is exponential"):
        load_checkpoint(tmp_path / "plain", again)
    load_checkpoint(tmp_path / "plain", again, allow=["average"])
    assert again.average is not None
    assert (again.step, again.average.count) == (5, 0)
    assert_same(copy_of(again.model), save.learned)


@pytest.mark.parametrize("setting", [("penalize", "weights"), ("layer_decay", 0.5)])
def test_other_groups_of_weights_let_the_optimizer_begin_anew(
    setting: tuple[str, Any], tmp_path: Path
) -> None:
    toy_fit(toy_net(), toy_data(), weight_decay=0.1, callbacks=[SaveEpoch(tmp_path / "all")])
    again = toy_start(weight_decay=0.1, **dict([setting]))
    load_checkpoint(tmp_path / "all", again, allow=[setting[0]])
    assert again.step == 5
    assert not again.optimizer.state
    assert len(again.optimizer.param_groups) == 2


@pytest.mark.parametrize(("average", "count"), [("exponential", 5), ("equal", 0)])
def test_a_longer_run_voids_only_a_mean_over_its_last_quarter(
    average: str, count: int, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"average": average, "schedule": "cosine"}
    toy_fit(toy_net(), toy_data(), epochs=1, callbacks=[SaveEpoch(tmp_path / "short")], **settings)
    again = toy_start(epochs=9, **settings)
    load_checkpoint(tmp_path / "short", again, allow=["epochs"])
    assert again.average is not None
    assert again.average.count == count


def test_svrg_takes_a_snapshot_an_epoch_also_with_other_batches(tmp_path: Path) -> None:
    toy_fit(toy_net(), toy_data(), optimizer="svrg", callbacks=[SaveEpoch(tmp_path / "svrg")])
    again = toy_start(optimizer="svrg", batch_size=10)
    load_checkpoint(tmp_path / "svrg", again, allow=["batch_size"])
    assert again.optimizer.param_groups[0]["period"] == again.steps_per_epoch == 2
    same = toy_start(optimizer="svrg")
    load_checkpoint(tmp_path / "svrg", same)
    assert same.optimizer.param_groups[0]["period"] == 5


KINDS: list[Any] = [None, True, -1, "text", [], {"a": 1}]


def test_a_value_of_another_kind_anywhere_is_refused_or_goes_on(checkpoint: Path) -> None:
    """Every key of the state, replaced by every kind that JSON has: a sentence, or a whole run."""
    whole = (checkpoint / "state.json").read_text()
    kept = json.loads(whole)
    refusals = 0
    for key in kept:
        for other in KINDS:
            rewrite(checkpoint, lambda values, key=key, other=other: values.update({key: other}))  # type: ignore[misc]
            try:
                load(checkpoint)
            except (DataError, ConfigError):
                refusals += 1
            (checkpoint / "state.json").write_text(whole)
    # What is left: a clock that shows another time, and parts that are None or empty in this run.
    assert refusals >= len(kept) * len(KINDS) - 12


def leaves(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of packed values with the key of each of its leaves."""
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        if isinstance(value, dict | list) and value:
            yield from leaves(value)
        else:
            yield tree, key


@pytest.mark.slow
@pytest.mark.parametrize("other", [None, "text", {"$list": []}, {"$float": "nan"}, 2**70])
def test_a_forged_leaf_is_refused_or_goes_on(checkpoint: Path, other: Any) -> None:
    values = json.loads((checkpoint / "state.json").read_text())
    for part in ("optimizer", "schedule", "callbacks", "ranks"):
        for held, key in list(leaves(values[part])):
            was, held[key] = held[key], other
            (checkpoint / "state.json").write_text(json.dumps(values))
            seal(checkpoint)
            with suppress(DataError, ConfigError):
                load(checkpoint)
            held[key] = was


@pytest.mark.parametrize("content", [b"[]", b"1", b"{", b"[" * 10**5, b'"\xff"', b"null"])
def test_a_state_that_is_no_object_is_refused(checkpoint: Path, content: bytes) -> None:
    (checkpoint / "state.json").write_bytes(content)
    seal(checkpoint)
    with pytest.raises(DataError, match=f"^{re.escape(str(checkpoint))}"):
        load(checkpoint)


@pytest.mark.parametrize("name", ["model", "state"])
@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xff" * 100, bytes(100)])
def test_tensors_that_are_none_behind_a_right_sum_are_refused(
    checkpoint: Path, name: str, content: bytes
) -> None:
    (checkpoint / f"{name}.safetensors").write_bytes(content)
    seal(checkpoint)
    with pytest.raises(DataError, match=f"^{re.escape(str(checkpoint))}"):
        load(checkpoint)


@pytest.mark.parametrize("path", ["schedule/last_epoch", "ranks/0/random", "ranks/0/running/rows"])
def test_a_part_that_an_older_version_did_not_write_is_named(checkpoint: Path, path: str) -> None:
    def forget(values: dict[str, Any]) -> None:
        drop(values, path)
        values["pieces"] = [piece for piece in values["pieces"] if not piece.startswith(path)]

    rewrite(checkpoint, forget)
    refused(checkpoint, f"{checkpoint} lacks {path!r}: it cannot be resumed exactly")


def test_groups_of_weights_that_are_not_the_optimizers_are_refused(checkpoint: Path) -> None:
    def double(values: dict[str, Any]) -> None:
        groups = dict(values["optimizer"]["$pairs"])["param_groups"]["$list"]
        groups.append(groups[0])

    rewrite(checkpoint, double)
    with pytest.raises(DataError, match="does not fit the optimizer: "):
        load(checkpoint)


def test_no_checkpoint_is_written_through_a_link_in_the_run(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    outside = outside_of(run)
    plant(run / "checkpoints", "link to a folder", outside)
    with pytest.raises(DataError, match=refusal(run / "checkpoints", "link")):
        save_checkpoint(run / "checkpoints" / "step-000000", toy_start())
    assert is_untouched(outside)


def test_a_memory_of_other_shapes_than_the_weights_is_refused(checkpoint: Path) -> None:
    tensors = load_file(checkpoint / "state.safetensors")
    tensors["optimizer/state/0/exp_avg"] = torch.zeros(2, 2)
    save_file(tensors, checkpoint / "state.safetensors")
    seal(checkpoint)
    with pytest.raises(DataError, match=r"optimizer/state/0/exp_avg has the wrong type"):
        load(checkpoint)


def test_the_state_of_no_generator_is_refused_before_training_goes_on(checkpoint: Path) -> None:
    def forge(values: dict[str, Any]) -> None:
        rank = dict(values["ranks"]["$list"][0]["$pairs"])
        dict(rank["random"]["$pairs"])["python"]["$list"][0] = 99  # Python's is of version 3

    rewrite(checkpoint, forge)
    with pytest.raises(DataError, match=r"does not contain a valid training state: .*version 99"):
        load(checkpoint)


class OfTwo(Ranks):
    """One of two ranks, of which both say what this one says, but that rank 1 has seen one row."""

    def gather(self, content: bytes, work: str = "") -> list[bytes]:
        other = from_bytes(content)
        other["running"]["rows"] = 1
        return [content, to_bytes(other)]


def test_each_rank_goes_on_with_its_own_sums(tmp_path: Path) -> None:
    state = toy_fit(toy_net(), toy_data(), callbacks=[StopIn(2)])
    state.ranks = OfTwo(0, 2)
    save_checkpoint(tmp_path / "both", state)
    found = []
    for rank in range(2):
        again = toy_start()
        again.ranks = OfTwo(rank, 2)
        load_checkpoint(tmp_path / "both", again)
        found.append(again.running.rows)
    assert found == [state.running.rows, 1] == [8, 1]
    alone = toy_start()
    load_checkpoint(tmp_path / "both", alone)
    assert alone.running.rows == 8


class StopIn(Callback):
    """Ends a run after a step."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, state: TrainState) -> None:
        if state.step == self.step:
            state.stop_reason = "enough"
