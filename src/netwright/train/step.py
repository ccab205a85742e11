"""One update: forward, backward, step; also for optimizers that ask for the loss again.

Shapes: B batch.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from netwright.core.errors import RunError
from netwright.core.outputs import Output, logits_of
from netwright.data.loader import Batch
from netwright.losses.penalty import Penalty, penalized
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.train.callback import Hook
from netwright.train.precision import autocast
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState


class UpdateStep:
    """Takes a batch, leaves its loss in the state; every `accumulate` batches the weights move.

    Args:
        state: the run.
        config: precision, accumulation, compilation, penalties and the kind of optimizer.
        hooks: event -> what is called then.
    """

    def __init__(
        self, state: TrainState, config: TrainConfig, hooks: Mapping[str, list[Hook]]
    ) -> None:
        self.state = state
        self.batch_start, self.before_update = hooks["on_batch_start"], hooks["on_before_update"]
        self.output_noise = config.output_noise
        self.penalty = (
            Penalty(parameters=penalized(state.model, config.penalize), l2=config.l2)
            if config.l2
            else None
        )
        self.precision, self.accumulate = config.precision, config.accumulate
        self.forward = compiled(state.model) if config.compile else state.model
        self.by_closure = OPTIMIZERS.load(config.optimizer).closure
        if state.scaler is not None:
            # torch's fused SGD, told to skip its first step, keeps a momentum that was never set:
            # let the scaler not call it at all.
            state.optimizer._step_supports_amp_scaling = False  # type: ignore[attr-defined]

    def __call__(self, batch: Batch, *, share: float, last: bool) -> Tensor | Output:
        """Use one batch.

        Args:
            batch: the examples.
            share: the part of this update's examples that are in this batch.
            last: the update's last batch: the weights move.
        """
        state = self.state
        state.batch, state.skips_update = batch, False
        for hook in self.batch_start:
            hook(state)
        batch = state.batch
        if self.by_closure:
            return self._closure_update(batch)
        state.is_updating = last
        output = self._backward(batch, share)
        state.accumulated += 1
        if last:
            self._update()
        return output

    def _update(self) -> None:
        """Gradients are whole: look at them, move the weights, forget them."""
        state = self.state
        state.ranks.sum_gradients(state.model)
        if state.scaler is not None:
            state.scaler.unscale_(state.optimizer)  # hooks see the gradients as they are
        for hook in self.before_update:
            hook(state)
        if state.skips_update:
            if state.scaler is not None:
                state.scaler.update()
        elif self._move_weights():
            state.schedule.step()
            state.step += 1
        state.optimizer.zero_grad()
        state.accumulated, state.is_updating = 0, False

    def _backward(self, batch: Batch, share: float) -> Tensor | Output:
        state = self.state
        with autocast(self.precision, state.device):
            output: Tensor | Output = self.forward(batch.inputs)
            loss = state.task.loss(with_noise(output, self.output_noise), batch)
        state.loss = loss.detach()
        if self.penalty is not None:
            loss = loss + self.penalty()
        if share != 1.0:
            loss = loss * share
        if state.scaler is not None:
            loss = state.scaler.scale(loss)
        loss.backward()  # type: ignore[no-untyped-call]
        return output

    def _move_weights(self) -> bool:
        """Step the optimizer; False where float16 overflowed and the step was skipped."""
        state = self.state
        if state.scaler is None:
            state.optimizer.step()
            return True
        before = state.scaler.get_scale()
        state.scaler.step(state.optimizer)
        state.scaler.update()
        return state.scaler.get_scale() >= before

    def _closure_update(self, batch: Batch) -> Tensor | Output:
        """L-BFGS and its kin evaluate the loss several times a step; the first output counts.

        They try weights on the way; an error puts the step's first weights back.
        """
        state = self.state
        state.is_updating = True
        learned = [w for group in state.optimizer.param_groups for w in group["params"]]
        first = [weight.detach().clone() for weight in learned]
        seen: list[tuple[Tensor | Output, Tensor]] = []

        def closure() -> float:
            state.optimizer.zero_grad()
            output = self._backward(batch, 1.0)
            for hook in self.before_update:
                hook(state)
            seen.append((output, state.loss))
            return float(state.loss)

        try:
            state.optimizer.step(closure)
        except BaseException:
            with torch.no_grad():
                torch._foreach_copy_(learned, first)
            raise
        output, state.loss = seen[0]
        state.schedule.step()
        state.step += 1
        state.optimizer.zero_grad()
        state.is_updating = False
        return output


def with_noise(output: Tensor | Output, deviation: float) -> Tensor | Output:
    """The output with normal noise on its logits; 0 leaves it as it is."""
    if not deviation:
        return output
    logits = logits_of(output)
    noisy = logits + deviation * torch.randn_like(logits)
    return replace(output, logits=noisy) if isinstance(output, Output) else noisy


def compiled(model: nn.Module) -> Callable[[Tensor], Tensor | Output]:
    """The model's forward pass by torch.compile; the model itself stays as it is.

    Each size of batch has code of its own: one code for all sizes would take over after the first
    epoch's last batch, and a run that goes on from there might not compute the same bits.
    """
    run = torch.compile(model, dynamic=False)

    def forward(inputs: Tensor) -> Tensor | Output:
        try:
            output: Tensor | Output = run(inputs)
        except torch._dynamo.exc.TorchDynamoException as error:
            reason = str(error).splitlines()[0]
            raise RunError(
                f"the model cannot be compiled: {reason}; leave `compile` off"
            ) from error
        return output

    return forward
