"""Where a number came from that is not finite: the batch, its row, the weight or the layer."""

import json
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from netwright.core.outputs import Output, UnscoredTokens, logits_of
from netwright.core.trees import cuda_devices, split_rows, tensors_of
from netwright.data.loading.loader import Batch
from netwright.train.state import TrainState
from netwright.train.tasks.forward_pass import forward_for


def first_cause(state: TrainState, sentence: str) -> str:
    """What the first rank says that has the cause: gradients are bad on all, a loss on its own."""
    own = json.dumps([not bool(state.loss.isfinite()), sentence])
    told = [json.loads(part) for part in state.ranks.gather(own.encode())]
    guilty = next((rank for rank, (is_guilty, _) in enumerate(told) if is_guilty), 0)
    cause: str = told[guilty][1]
    return cause if state.ranks.is_alone else f"rank {guilty}: {cause}"


def diagnosis(state: TrainState) -> str:
    """The place of the number in the run, where it came from, and what often helps."""
    batch = state.batch
    rows = [] if batch is None else batch.rows[:5].tolist()
    where = f"step {state.step + 1}, epoch {state.epoch + 1}, batch {state.position}"
    return (
        f"non-finite value at {where} (rows {rows} ...): {find_culprit(state)}; "
        f"the learning rate is {state.lr:g}, a smaller one often helps"
    )


def find_culprit(state: TrainState) -> str:
    """The first that is not finite, along the way: input, target, weight, layer, loss, gradient."""
    batch = state.batch
    if batch is None:
        return "the loss is not finite"
    parts = [("inputs", part) for part in tensors_of(batch.inputs)]
    parts += [("targets", part) for part in tensors_of(batch.targets)]
    for what, values in parts:
        bad = ~values.isfinite().reshape(len(values), -1).all(dim=1)  # (B,)
        if bool(bad.any()):
            return f"the {what} of row {int(batch.rows[bad][0])} are not finite"
    for name, parameter in state.model.named_parameters():
        if not _is_finite(state, parameter):
            return f"the weight {name!r} is not finite"
    # A sharded model runs on all ranks or on none, and the others may have found their cause.
    is_run = not state.task.unmeasured and not state.engine.shards
    layer = _first_bad_layer(state, batch) if is_run else None
    if layer is not None:
        return f"the output of layer {layer!r} is not finite"
    return _bad_loss_or_gradient(state)


def _bad_loss_or_gradient(state: TrainState) -> str:
    if not bool(state.loss.isfinite()):
        return "outputs are finite, the loss is not"
    for name, parameter in state.model.named_parameters():
        if parameter.grad is not None and not _is_finite(state, parameter.grad):
            return f"the loss is finite, the gradient of {name!r} is not"
    return "it could not be reproduced"


def _is_finite(state: TrainState, tensor: Tensor) -> bool:
    """Whether what this rank holds of a tensor is finite."""
    return all(bool(part.isfinite().all()) for part in state.engine.own([tensor]))


def _first_bad_layer(state: TrainState, batch: Batch) -> str | None:
    """The innermost module whose output is the first that is not finite: children end first.

    Logits that training makes in parts are looked at a few rows at a time.
    """
    model, found = state.model, list[str]()
    forward = forward_for(model, state.task)

    def watch(name: str) -> Any:
        def look(module: nn.Module, given: Any, output: Any) -> None:
            if isinstance(output, Tensor | Output) and not bool(logits_of(output).isfinite().all()):
                found.append(name)

        return look

    handles = [
        part.register_forward_hook(watch(name or "model"))
        for name, part in model.named_modules()
        if part is not model or forward is model  # else it would be called as a whole
    ]
    try:
        draws = torch.random.fork_rng(cuda_devices(batch.inputs))  # the run may go on: draw nothing
        with torch.no_grad(), draws:
            output = forward(batch.inputs)
            if isinstance(output, UnscoredTokens) and not found:
                found += _bad_head(model, output, state.task.rows_at_once(batch))
    finally:
        for handle in handles:
            handle.remove()
    return found[0] if found else None


def _bad_head(model: nn.Module, tokens: UnscoredTokens, rows: int) -> list[str]:
    """The layer that makes the logits, or the model, where they are not finite."""
    places = tokens._replace(first=None)
    parts = (places._replace(vectors=part).logits for part in split_rows(tokens.vectors, rows))
    said = parts if tokens.first is None else chain((tokens.first,), parts)
    if all(bool(part.isfinite().all()) for part in said):
        return []
    layers = [(name, part) for name, part in model.named_modules() if isinstance(part, nn.Linear)]
    return [*(name for name, part in layers if part.weight is tokens.weight), "model"]
