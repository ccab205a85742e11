"""Stop before NaN or infinity reaches the weights, and say which batch and layer it came from."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from netwright.core.errors import RunError
from netwright.core.outputs import Output, logits_of
from netwright.train.callback import Callback
from netwright.train.state import TrainState

LOOK_EVERY = 50  # steps, on devices where looking means waiting


class StopOnNonFinite(Callback):
    """Looks at the loss and the gradients before each update.

    On the CPU that is every step, so the weights stay as they were. On an accelerator reading a
    number makes the loop wait, so the loss is looked at every 50 steps; there the weights may be
    spoilt, and the last checkpoint is the newest good one.
    """

    def __init__(self) -> None:
        self.suspect: Tensor | None = None
        self.learned: list[Tensor] = []

    def on_fit_start(self, state: TrainState) -> None:
        """Collect the weights once: walking through a model costs as much as looking at it."""
        self.suspect = None
        self.learned = [
            weight for group in state.optimizer.param_groups for weight in group["params"]
        ]

    def on_before_update(self, state: TrainState) -> None:
        """Refuse to step on what is not finite."""
        if state.device.type == "cpu":
            if not math.isfinite(state.loss.item()) or not self._gradients_finite(state):
                raise RunError(_diagnosis(state))
            return
        bad = ~state.loss.isfinite()
        self.suspect = bad if self.suspect is None else self.suspect | bad
        if state.step % LOOK_EVERY == LOOK_EVERY - 1 and bool(self.suspect):
            raise RunError(_diagnosis(state))

    def _gradients_finite(self, state: TrainState) -> bool:
        if state.scaler is not None:  # the scaler looks itself, and skips the step
            return True
        grads = [weight.grad for weight in self.learned if weight.grad is not None]
        norms = torch._foreach_norm(grads)
        if math.isfinite(sum(norm.item() for norm in norms)):
            return True
        return all(bool(grad.isfinite().all()) for grad in grads)  # the square of 1e20 is infinite


def _diagnosis(state: TrainState) -> str:
    batch = state.batch
    rows = [] if batch is None else batch.rows[:5].tolist()
    where = f"step {state.step + 1}, epoch {state.epoch + 1}, batch {state.position}"
    return (
        f"not a finite number at {where} (rows {rows} ...): {_culprit(state)}; "
        f"the learning rate is {state.lr:g}, a smaller one often helps"
    )


def _culprit(state: TrainState) -> str:
    """The first that is not finite, along the way: input, target, weight, layer, loss, gradient."""
    batch = state.batch
    if batch is None:
        return "the loss is not finite"
    for what, values in (("inputs", batch.inputs), ("targets", batch.targets)):
        bad = ~values.isfinite().reshape(len(values), -1).all(dim=1)  # (B,)
        if bool(bad.any()):
            return f"the {what} of row {int(batch.rows[bad][0])} hold it"
    for name, parameter in state.model.named_parameters():
        if not bool(parameter.isfinite().all()):
            return f"the weight {name!r} holds it"
    layer = _first_bad_layer(state.model, batch.inputs)
    if layer is not None:
        return f"layer {layer!r} puts it out"
    return _bad_loss_or_gradient(state)


def _bad_loss_or_gradient(state: TrainState) -> str:
    if not bool(state.loss.isfinite()):
        return "outputs are finite, the loss is not"
    for name, parameter in state.model.named_parameters():
        if parameter.grad is not None and not bool(parameter.grad.isfinite().all()):
            return f"the loss is finite, the gradient of {name!r} is not"
    return "it was there, and is gone when looked at again"


def _first_bad_layer(model: nn.Module, inputs: Tensor) -> str | None:
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
        with torch.no_grad():
            model(inputs)
    finally:
        for handle in handles:
            handle.remove()
    return found[0] if found else None
