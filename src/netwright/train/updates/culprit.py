"""Where a number came from that is not finite: the batch, its row, the weight or the layer."""

import json
from typing import Any

import torch
from torch import Tensor, nn

from netwright.core.outputs import Output, logits_of
from netwright.core.trees import Tree, cuda_devices, tensors_of
from netwright.train.state import TrainState


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
        if not bool(parameter.isfinite().all()):
            return f"the weight {name!r} is not finite"
    layer = None if state.task.unmeasured else _first_bad_layer(state.model, batch.inputs)
    if layer is not None:
        return f"the output of layer {layer!r} is not finite"
    return _bad_loss_or_gradient(state)


def _bad_loss_or_gradient(state: TrainState) -> str:
    if not bool(state.loss.isfinite()):
        return "outputs are finite, the loss is not"
    for name, parameter in state.model.named_parameters():
        if parameter.grad is not None and not bool(parameter.grad.isfinite().all()):
            return f"the loss is finite, the gradient of {name!r} is not"
    return "it could not be reproduced"


def _first_bad_layer(model: nn.Module, inputs: Tree) -> str | None:
    """The innermost module whose output is the first that is not finite: children end first."""
    found: list[str] = []

    def watch(name: str) -> Any:
        def look(module: nn.Module, given: Any, output: Any) -> None:
            if isinstance(output, Tensor | Output) and not bool(logits_of(output).isfinite().all()):
                found.append(name)

        return look

    handles = [
        part.register_forward_hook(watch(name or "model")) for name, part in model.named_modules()
    ]
    try:
        draws = torch.random.fork_rng(cuda_devices(inputs))  # the run may go on: draw nothing
        with torch.no_grad(), draws:
            model(inputs)
    finally:
        for handle in handles:
            handle.remove()
    return found[0] if found else None
