"""A run's whole state as files: safetensors for tensors, JSON for the rest, sha256 for both.

step-000100/model.safetensors   the weights
step-000100/state.safetensors   optimizer, scaler, average, generators, best weights: their tensors
step-000100/state.json          the same trees, each tensor a reference; counters, history
step-000100/manifest.json       the sha256 of the others

Of a sharded run each rank writes its rows of weights, moments and averages beside them, see
`part_files.py`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from safetensors.torch import load
from torch import Tensor

from netwright.core.checks import nearest
from netwright.core.errors import ConfigError, DataError
from netwright.core.files.json_text import parse_json
from netwright.core.files.manifest import read_folder
from netwright.train.callback import Callback
from netwright.train.engines.engine import Engine
from netwright.train.optimizer_state import (
    advance_schedule,
    find_missing_memory,
    follow_new_batches,
    restore_optimizer,
)
from netwright.train.saving.checkpoint_content import (
    FILES,
    FORMAT,
    PLAIN,
    by_name,
    parts_of,
    take_content,
)
from netwright.train.saving.conditions import (
    LENGTHS,
    READING,
    REGROUPING,
    SOMETIMES,
    STEERING,
    SURROUNDINGS,
    find_changes,
)
from netwright.train.saving.packing import unpack
from netwright.train.saving.part_files import is_common, open_parts, write_folder
from netwright.train.saving.pieces import check_whole, lacks, pieces_of
from netwright.train.saving.shared_save import SharedSave
from netwright.train.saving.state_kinds import (
    check_counts,
    check_like,
    check_memory,
    check_named,
    check_random,
    telling_forgeries,
)
from netwright.train.state import COUNTERS, OF_EACH_RANK, TrainState
from netwright.train.watching.history import read_row

APART = ("optimizer", "schedule")  # changed settings have a part in how these are restored
CHECKPOINTS = "checkpoints"  # the folder of a run that holds them
NOTHING: dict[str, Any] = {"$pairs": []}  # an empty tree


def save_checkpoint(folder: Path, state: TrainState, callbacks: Sequence[Callback] = ()) -> None:
    """Write the state to a new folder, whole or not at all; of several ranks the first writes.

    See `take_content` for what is refused.
    """
    save = begin_save(folder, state, callbacks)
    if save is not None:
        save.finish()


def begin_save(
    folder: Path,
    state: TrainState,
    callbacks: Sequence[Callback] = (),
    *,
    then: Callable[[], None] = lambda: None,
) -> SharedSave | None:
    """Write the state; of a sharded run while training goes on: gives what is to be finished.

    Args:
        folder: of the checkpoint, as the first rank names it.
        state: of the run, between two updates.
        callbacks: those whose states are saved too.
        then: what the first rank does when the checkpoint has its name.
    """
    content, ranks, inside = take_content(state, callbacks), state.ranks, run_around(folder)
    if content.own is not None:
        return SharedSave(folder, content, ranks, inside=inside, then=then)
    if ranks.is_first:
        write_folder(folder, content.files(), inside=inside)
        then()
    return None


@telling_forgeries
def load_checkpoint(
    folder: Path,
    state: TrainState,
    callbacks: Sequence[Callback] = (),
    *,
    allow: Collection[str] = (),
) -> list[str]:
    """Put a freshly started state back to where the checkpoint was written.

    A damaged folder, a missing piece and changed conditions are refused by name.

    Args:
        folder: of the checkpoint.
        state: from `Trainer.start`.
        callbacks: those whose states were saved.
        allow: the conditions that may have changed ("batch_size", "data" ...).

    Returns:
        What should be said: surroundings that differ, and what the allowed changes mean.
    """
    moment = state.state_dict()
    fresh = parts_of(state, moment, callbacks)
    values, saved, weights = _read(folder, fresh, state)
    changes = _find_changes(folder, saved["conditions"], fresh["conditions"], allow)
    own = {name: moment[name] for name in OF_EACH_RANK if name != "recent"}
    fresh["ranks"] = [own] * len(saved["ranks"])  # older checkpoints have no rows by step
    anew = _begun_anew(changes, averaging=fresh["conditions"]["average"])
    for name in anew:
        saved[name] = fresh[name]
    check_whole(folder, {**saved, "conditions": {}}, {**fresh, "conditions": {}})
    named = by_name(callbacks)
    for name in saved["callbacks"]:
        if name not in named:
            raise DataError(f"{folder} holds the state of {name}, which is not among the callbacks")
    check_counts(values, COUNTERS)
    check_like({**saved, "conditions": {}}, fresh)
    if values["accumulated"] and not saved["ranks"][0]["gradients"]:
        raise lacks(folder, "ranks/0/gradients")
    state.load_state_dict(
        {
            **{name: values[name] for name in PLAIN},
            "history": [read_row(row) for row in values["history"]],
            **{name: saved[name] for name in fresh if name in moment and name not in APART},
        }
    )
    _restore_model(folder, state, weights)
    _restore_optimizer(folder, state, saved, anew)
    check_memory(state.optimizer.state_dict(), state.learned_weights())
    follow_new_batches(state.optimizer, fresh["optimizer"])
    for name, kept in saved["callbacks"].items():
        named[name].load_state_dict(kept)
    return _restore_place(state, saved["ranks"], changes)


def _read(
    folder: Path, fresh: dict[str, Any], state: TrainState
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Tensor]]:
    """The plain values, the trees and the weights of a checkpoint that has all of its pieces."""
    files = read_folder(folder, inside=run_around(folder), wanted=is_common)
    values = parse_json(files.get("state.json", b"{}"), folder / "state.json")
    wanted = ("format", *PLAIN, "pieces", *fresh, "ranks")
    lacking = [*(f for f in FILES if f not in files), *(n for n in wanted if n not in values)]
    if lacking:
        raise lacks(folder, lacking[0])
    if values["format"] != FORMAT:
        raise DataError(f"{folder} has format {values['format']!r}, this version reads {FORMAT}")
    tensors, weights = load(files["state.safetensors"]), load(files["model.safetensors"])
    _check_engine(folder, values, state)
    with open_parts(folder, values, state.engine, inside=run_around(folder)) as part:
        saved = {name: unpack(values[name], tensors, part) for name in (*fresh, "ranks")}
        weights |= unpack(values.get("model", NOTHING), {}, part)
    there = set(pieces_of(saved))
    lacking = [piece for piece in values["pieces"] if piece not in there]
    if lacking:
        raise lacks(folder, lacking[0])
    return values, saved, weights


def _check_engine(folder: Path, values: Mapping[str, Any], state: TrainState) -> None:
    """Refuse to shard what was saved as a whole: its moments do not say which rows they are of."""
    if state.engine.shards and not values.get("parts"):
        raise ConfigError(
            f"{folder} cannot be resumed with parallel=shard: it was saved by replicas; resume "
            "with parallel=replicate, or start a new run with --from"
        )


def read_model(folder: Path) -> dict[str, Tensor]:
    """The weights and buffers of a checkpoint, whole, also where ranks divided them."""
    inside = run_around(folder)
    files = read_folder(folder, inside=inside, wanted=is_common)
    for name in ("model.safetensors", "state.json"):
        if name not in files:
            raise lacks(folder, name)
    values = parse_json(files["state.json"], folder / "state.json")
    with open_parts(folder, values, Engine(), inside=inside) as part:
        divided = unpack(values.get("model", NOTHING), {}, part)
    return {**load(files["model.safetensors"]), **divided}


def run_around(folder: Path) -> Path | None:
    """The run that a checkpoint belongs to, by its path; None where it lies elsewhere."""
    return folder.parent.parent if folder.parent.name == CHECKPOINTS else None


def _find_changes(
    folder: Path, before: dict[str, Any], now: dict[str, Any], allow: Collection[str]
) -> dict[str, str]:
    """What has changed, in words; refused where it is not allowed."""
    for name in allow:
        if name not in {*before, *now, *SOMETIMES}:
            hint = nearest(name, now) or f"; there are {', '.join(now)}"
            raise ConfigError(f"unknown condition {name!r} is allowed to change{hint}")
    for name in now:
        if name not in before and name not in SOMETIMES:
            raise lacks(folder, f"conditions/{name}")
    changes = find_changes(before, now)
    if "model" in changes:
        raise ConfigError(f"{folder} cannot be resumed: {changes['model']}")
    decisive = {name: text for name, text in changes.items() if name not in SURROUNDINGS}
    if any(name not in allow for name in decisive):
        raise ConfigError(
            f"{folder} cannot be resumed exactly: {'; '.join(decisive.values())}; to resume "
            f"anyway, allow {','.join(decisive)}"
        )
    return changes


def _begun_anew(changes: Mapping[str, str], *, averaging: str) -> list[str]:
    """The parts that allowed changes make void: the freshly started ones stay."""
    grouped = changes.keys() & set(REGROUPING)
    steered = grouped | changes.keys() & set(STEERING)
    void = {
        "optimizer": bool(grouped),
        "schedule": bool(steered),
        "scaler": "precision" in changes,
        # Only a mean over the last quarter knows how long the run is.
        "average": "average" in changes
        or (averaging == "equal" and bool(changes.keys() & set(LENGTHS))),
    }
    return [name for name, is_void in void.items() if is_void]


def _restore_model(folder: Path, state: TrainState, weights: dict[str, Tensor]) -> None:
    lacking = [name for name in state.model.state_dict() if name not in weights]
    if lacking:  # torch lets a batch norm without its counter pass
        raise DataError(f"{folder} does not fit the model: it has no {lacking[0]!r}")
    try:
        state.model.load_state_dict(weights)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{folder} does not fit the model: {reason:.200}") from None


def _restore_optimizer(
    folder: Path, state: TrainState, saved: dict[str, Any], anew: Collection[str]
) -> None:
    """The optimizer's memory and the schedule; where settings were changed, the new ones hold."""
    if "optimizer" not in anew:
        missing = state.step and find_missing_memory(
            state.model, state.optimizer, saved["optimizer"], unmoved=saved["unmoved"]
        )
        if missing:
            raise lacks(folder, missing)
        try:
            with_settings = "schedule" not in anew
            restore_optimizer(state.optimizer, saved["optimizer"], with_settings=with_settings)
        except ValueError as error:
            raise DataError(f"{folder} does not fit the optimizer: {error}") from None
    if "schedule" in anew:
        advance_schedule(state.schedule, state.step)
    else:
        state.schedule.load_state_dict(saved["schedule"])


def _restore_place(
    state: TrainState, ranks: Sequence[dict[str, Any]], changes: Mapping[str, str]
) -> list[str]:
    """Generators, running sums and gradients; gives what should be said."""
    remarks = [
        f"{text}: results may differ in the last bits"
        for name, text in changes.items()
        if name in SURROUNDINGS
    ]
    own = ranks[state.ranks.rank] if state.ranks.rank < len(ranks) else None
    if own is not None:
        check_random(own["random"])
        check_named(own["gradients"], state.model, "the gradient")
        state.load_state_dict({"random": own["random"]})
    if changes.keys() & set(READING):
        state.position = state.accumulated = 0
        state.passed_over = [place for place in state.passed_over if place[0] < state.epoch]
        remarks.append(f"epoch {state.epoch + 1} starts over, because its batches have changed")
    elif "processes" not in changes and own is not None:
        state.load_state_dict({name: own[name] for name in OF_EACH_RANK if name in own})
    elif state.ranks.is_first:
        state.running.load_states([rank["running"] for rank in ranks])
        if "recent" in ranks[0]:
            state.recent.load_states([rank["recent"] for rank in ranks])
        state.gradients = ranks[0]["gradients"]  # several ranks have none: they save after updates
    return remarks
