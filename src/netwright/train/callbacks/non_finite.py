"""Before NaN or infinity reaches the weights: name its batch and layer; stop, skip or go back."""

import json
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from netwright.core.errors import RunError
from netwright.core.outputs import Output, logits_of
from netwright.core.trees import Tree, cuda_devices, tensors_of
from netwright.train.callback import Callback
from netwright.train.run_setting_groups import Policy
from netwright.train.saving.snapshot import Snapshot
from netwright.train.state import TrainState

MOST_IN_A_ROW = 10  # updates that may be left out one after the other


class GuardNonFinite(Callback):
    """Looks at the loss and the gradients before each update, and does what the policy says.

    stop: the run ends with the guilty batch named; the weights stay as they were.
    skip: the update is left out, and what its batches did to buffers and measures is undone.
    roll-back: everything goes back to the start of the epoch (or to where the run went on), from
    where it takes the same way without the guilty batches.

    The weights never see such a number, on any device. All is added up to one number that is read
    once an update; for that an accelerator is waited for.

    Args:
        policy: what to do.
        watched: the callbacks whose state goes back too.
    """

    def __init__(self, policy: Policy = "stop", watched: Sequence[Callback] = ()) -> None:
        self.policy, self.watched = policy, tuple(watched)
        self.learned: list[Tensor] = []
        self.buffers: list[Tensor] = []
        self.before: list[Tensor] = []
        self.measured: dict[str, Any] = {}
        self.snapshot: Snapshot | None = None
        self.found = ""  # what is wrong with a batch whose update is still to come
        self.in_a_row, self.last_bad = 0, (0, 0)

    def on_fit_start(self, state: TrainState) -> None:
        """Collect the weights once: walking through a model costs as much as looking at it."""
        self.found = ""
        if state.samples == 0:
            self.in_a_row, self.last_bad = 0, (0, 0)
        self.learned = [
            weight for group in state.optimizer.param_groups for weight in group["params"]
        ]
        self.buffers, self.before = list(state.model.buffers()), []

    def on_epoch_start(self, state: TrainState) -> None:
        """Keep what there may be a way back to."""
        if self.policy == "roll-back":
            self.snapshot = Snapshot.of(state, self.watched)
        self._keep(state)

    def on_before_update(self, state: TrainState) -> None:
        """Refuse to step on what is not finite."""
        here = (state.epoch, state.position)
        if not self._looks_bad(state):
            if here > self.last_bad:  # not where a roll-back takes the same way again
                self.in_a_row = 0
            return
        if self.policy == "stop" or self.in_a_row == MOST_IN_A_ROW:
            many = f"{self.in_a_row} updates in a row were skipped; " if self.in_a_row else ""
            sentence = many + _first_cause(state, self.found or _diagnosis(state))
            self._put_back(state)
            raise RunError(sentence)
        self.in_a_row, self.last_bad, self.found = self.in_a_row + 1, here, ""
        state.skips_update = True
        first = state.position - state.accumulated
        state.passed_over += [(state.epoch, place) for place in range(first, state.position)]

    def on_batch_end(self, state: TrainState) -> None:
        """Undo what bad batches did; between those of one update the loss is looked at here."""
        if state.skips_update:
            self._go_back(state)
        elif not state.accumulated:
            self._keep(state)
        elif not math.isfinite(state.loss.item()):
            self.found = self.found or _diagnosis(state)
            self._put_back(state)  # the run may be saved before the update is left out

    def state_dict(self) -> dict[str, Any]:
        """How many updates were left out in a row, and where the last of them was."""
        return {"in_a_row": self.in_a_row, "last_bad": self.last_bad} if self.in_a_row else {}

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        epoch, position = values["last_bad"]
        self.in_a_row, self.last_bad = int(values["in_a_row"]), (int(epoch), int(position))

    def _go_back(self, state: TrainState) -> None:
        if self.snapshot is None:
            self._put_back(state)
            return
        self.snapshot.restore(state, self.watched)
        state.goes_back = True
        if (state.epoch, state.position - 1) in state.passed_over:
            # The run went on in the middle of the update that is left out.
            state.optimizer.zero_grad()
            state.accumulated = 0
            state.recent.drop()

    def _keep(self, state: TrainState) -> None:
        if self.buffers:
            if not self.before:
                self.before = [torch.empty_like(buffer) for buffer in self.buffers]
            torch._foreach_copy_(self.before, self.buffers)  # one call: a copy each costs as many
        self.measured = state.running.state_dict()

    def _put_back(self, state: TrainState) -> None:
        if self.before:
            with torch.no_grad():
                torch._foreach_copy_(self.buffers, self.before)
        if self.measured:
            state.running.load_state_dict(self.measured)
        state.recent.drop()

    def _looks_bad(self, state: TrainState) -> bool:
        """Whether the loss or a gradient is not finite, on any rank."""
        return state.ranks.any(bool(self.found) or not self._is_finite(state))

    def _is_finite(self, state: TrainState) -> bool:
        if state.scaler is not None:  # it looks at the gradients itself, and skips the step
            return math.isfinite(state.loss.item())
        grads = [weight.grad for weight in self.learned if weight.grad is not None]
        state.gradient_norms = list(torch._foreach_norm(grads))
        sizes = [size.float() for size in (state.loss, *state.gradient_norms)]
        if math.isfinite(torch.stack(sizes).sum().item()):
            return True
        # The square of 1e20 is infinite in float32: look closer before anything is refused.
        return all(bool(values.isfinite().all()) for values in (state.loss, *grads))


def _first_cause(state: TrainState, sentence: str) -> str:
    """What the first rank says that has the cause: gradients are bad on all, a loss on its own."""
    own = json.dumps([not bool(state.loss.isfinite()), sentence])
    told = [json.loads(part) for part in state.ranks.gather(own.encode())]
    guilty = next((rank for rank, (is_guilty, _) in enumerate(told) if is_guilty), 0)
    cause: str = told[guilty][1]
    return cause if state.ranks.is_alone else f"rank {guilty}: {cause}"


def _diagnosis(state: TrainState) -> str:
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
    for what, values in (*parts, ("targets", batch.targets)):
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
