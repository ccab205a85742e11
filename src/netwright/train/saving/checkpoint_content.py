"""What a checkpoint holds, taken from a run between two updates: tensors, and JSON for the rest."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from netwright.core.checks import is_finite
from netwright.core.errors import RunError
from netwright.core.files.storage import Content
from netwright.core.files.tensor_content import TensorContent
from netwright.train.callback import Callback
from netwright.train.engines.part import Part
from netwright.train.optimizer_state import unmoved_weights
from netwright.train.saving.packing import from_bytes, pack, to_bytes
from netwright.train.saving.pieces import pieces_of
from netwright.train.state import COUNTERS, OF_EACH_RANK, TrainState

FORMAT = 1
FILES = ("model.safetensors", "state.safetensors", "state.json")
PLAIN = (*COUNTERS, "elapsed", "history")  # they stand in state.json as they are
Tensors = Mapping[str, Tensor]


@dataclass(frozen=True, kw_only=True)
class CheckpointContent:
    """The content of a checkpoint's files; its tensors are the run's own until they are copied.

    Args:
        weights: those that all ranks have in common.
        state: the tensors of the rest, of all ranks.
        values: the trees, and what is plain.
        own: this rank's rows of what ranks divide; None: they divide nothing.
    """

    weights: Tensors
    state: Tensors
    values: bytes
    own: Tensors | None

    def files(self) -> dict[str, Content]:
        """The files of all ranks, by their names."""
        contents = (TensorContent(self.weights), TensorContent(self.state), self.values)
        return dict(zip(FILES, contents, strict=True))


def take_content(state: TrainState, callbacks: Sequence[Callback] = ()) -> CheckpointContent:
    """The present moment; every rank calls it.

    Between gradients and their update there is no exact place to go on from: it is refused, as are
    weights that are not finite.
    """
    if state.is_updating:
        raise RunError(
            "a checkpoint cannot be saved between backward and update: gradients are pending"
        )
    moment = state.state_dict()
    _check_finite(state, moment["model"])
    parts = parts_of(state, moment, callbacks)
    own = to_bytes({name: moment[name] for name in OF_EACH_RANK})
    parts["ranks"] = [from_bytes(part) for part in state.ranks.gather(own)]
    pieces = list(pieces_of(parts))
    weights, parts = state.engine.taken_apart((moment["model"], parts))
    tensors: dict[str, Tensor] = {}
    divided: dict[str, Tensor] = {}
    model = {name: part for name, part in weights.items() if isinstance(part, Part)}
    whole = len(state.history) - state.unfinished_rows
    values = {
        "format": FORMAT,
        **{name: moment[name] for name in PLAIN},
        "history": [vars(row) for row in moment["history"][:whole]],
        "pieces": pieces,
        **({"parts": state.ranks.world} if model else {}),
        **({"model": pack(model, "model", {}, divided)} if model else {}),
        **{name: pack(part, name, tensors, divided) for name, part in parts.items()},
    }
    return CheckpointContent(
        weights={name: part for name, part in weights.items() if name not in model},
        state=tensors,
        # Of a long history that takes a while, and the first rank writes it.
        values=json.dumps(values, allow_nan=False).encode() if state.ranks.is_first else b"",
        own=divided if model else None,
    )


def _check_finite(state: TrainState, weights: Mapping[str, Tensor]) -> None:
    """Refuse, on all ranks, weights of which one holds a number that is not finite."""
    names = [name for name, _ in state.model.named_parameters()]
    own = zip(names, state.engine.own(weights[name] for name in names), strict=True)
    bad = next((name for name, part in own if not is_finite(part)), "")
    # Replicas have the same weights: each of them knows.
    if state.ranks.any(bool(bad)) if state.engine.shards else bad:
        which = repr(bad) if bad else "one of another process"
        raise RunError(f"a checkpoint must have finite weights: {which} is not finite")


def parts_of(
    state: TrainState, moment: Mapping[str, Any], callbacks: Sequence[Callback]
) -> dict[str, Any]:
    """What all ranks have in common beside weights and plain values: trees of tensors."""
    elsewhere = {*PLAIN, *OF_EACH_RANK, "model"}
    return {
        "conditions": state.conditions(),
        "unmoved": unmoved_weights(state.model, state.optimizer),
        **{name: part for name, part in moment.items() if name not in elsewhere},
        "callbacks": {
            name: kept for name, call in by_name(callbacks).items() if (kept := call.state_dict())
        },
    }


def by_name(callbacks: Sequence[Callback]) -> dict[str, Callback]:
    """Callbacks by their class's name; the second of a class is "EarlyStopping 2"."""
    named: dict[str, Callback] = {}
    for call in callbacks:
        kind = type(call).__name__
        before = sum(type(other).__name__ == kind for other in named.values())
        named[f"{kind} {before + 1}" if before else kind] = call
    return named
