"""One update: forward, backward, step; also for optimizers that ask for the loss again.

Shapes: B batch.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from netwright.backprop.second_order import twice_differentiable
from netwright.core.errors import ConfigError
from netwright.core.outputs import Output, UnscoredTokens, logits_of
from netwright.core.seeding import draw_again, draws_to_come, random_state, set_random_state
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch, Loader
from netwright.data.loading.worker_loader import build_loader
from netwright.losses.penalty import Penalty, add_l2_slope, penalized
from netwright.train.callback import Callback, Hook, overrides
from netwright.train.precision import autocast
from netwright.train.settings import TrainConfig, pace_for
from netwright.train.state import TrainState
from netwright.train.update_shares import UpdateShares
from netwright.train.updates.capture_rules import reason_against
from netwright.train.updates.captured_update import CapturedUpdate
from netwright.train.updates.copies import copies_of, put_back
from netwright.train.updates.device_rates import build_rates, reason_without
from netwright.train.updates.direct_backward import backward
from netwright.train.updates.direct_stack import direct_stack
from netwright.train.updates.direct_step import step_directly
from netwright.train.updates.finite_check import reason_for_host
from netwright.train.updates.training_forward import training_forward


class UpdateStep:
    """Takes a batch, leaves its loss in the state; every `accumulate` batches the weights move.

    Args:
        state: the run.
        config: precision, accumulation, compilation, penalties and the kind of optimizer.
        hooks: event -> what is called then.
        train: all rows, for an optimizer that asks for their gradient.
    """

    def __init__(
        self,
        state: TrainState,
        config: TrainConfig,
        hooks: Mapping[str, list[Hook]],
        train: Split,
    ) -> None:
        self.state, self.config, self.train = state, config, train
        self.batch_start, self.before_update = hooks["on_batch_start"], hooks["on_before_update"]
        self.precision, self.l2 = config.precision, config.l2
        self.penalized = penalized(state.model, config.penalize) if config.l2 else []
        self.stack = direct_stack(state.model, state.task, config)
        self.forward = self.stack or training_forward(state.model, state.task, config)
        self.optimizer, self.rates = config.rule, build_rates(state)
        self.captured: CapturedUpdate | None = None
        self.takers: list[Callback] = []  # of a part in updates
        if state.scaler is not None:
            # torch's fused SGD, told to skip its first step, keeps a momentum that was never set:
            # let the scaler not call it at all.
            state.optimizer._step_supports_amp_scaling = False  # type: ignore[attr-defined]

    def compile(self, loader: Loader, batch_changes: Sequence[Hook]) -> float:
        """Let the compiler see each size of batch that will come; gives the seconds that it took.

        Weights, gradients, statistics and draws are as they were before.

        Args:
            loader: of the batches.
            batch_changes: what changes batches and nothing else: code is made for the order in
                memory that they leave.
        """
        state, started, draws = self.state, time.monotonic(), random_state()
        buffers, parts = list(state.model.buffers()), list(state.model.parameters())
        gradients, before = [part.grad for part in parts], copies_of(buffers)
        sizes = {loader.sizes(place)[0] for place in (0, len(loader) - 1)} - {0}
        rows = torch.arange(max(sizes), device=state.device)
        state.model.zero_grad()
        try:
            for size in sorted(sizes, reverse=True):
                _, loss = self._forward(self._begin(loader.batch_of(rows[:size]), batch_changes))
                loss.backward()  # type: ignore[no-untyped-call]
        finally:
            put_back(buffers, before)
            for part, gradient in zip(parts, gradients, strict=True):
                part.grad = gradient
            set_random_state(draws)
            state.batch = None
        if state.device.type == "cuda":
            torch.cuda.synchronize(state.device)
        return time.monotonic() - started

    def allow_capture(self, callbacks: Sequence[Callback]) -> None:
        """Let updates run as a CUDA graph, where nothing but queued work has a part in them.

        Args:
            callbacks: all of the run, which has begun.
        """
        state, asked = self.state, self.config.capture
        if asked == "off" or (asked == "auto" and state.device.type != "cuda"):
            return
        self.takers = [one for one in callbacks if overrides(one, "on_before_update")]
        reason = state.task.on_host or reason_for_host(state, self.config.on_non_finite)
        if not reason and self.rates is None:
            reason = reason_without(state)
        reason = reason or reason_against(
            state.model,
            state.optimizer,
            callbacks,
            state.task.own_loss,
            trusts_callbacks=asked == "on",
        )
        if reason and asked == "on":
            raise ConfigError(f"capture must be auto or off: {reason}")
        if reason:
            state.notes.append(f"updates ran without a CUDA graph: {reason}")
        else:
            self.captured = CapturedUpdate(state, self._queue_update, always=asked == "on")

    def let_go(self) -> None:
        """No update is to come."""
        if self.captured is not None:
            self.captured.let_go()

    def __call__(self, batch: Batch, *, share: float, last: bool) -> Any:
        """Use one batch.

        Args:
            batch: the examples.
            share: this batch's part of what the update's mean loss is over.
            last: the update's last batch: the weights move.
        """
        state = self.state
        state.skips_update = False
        batch = self._begin(batch, self.batch_start)
        state.lap("data")
        if self.optimizer.closure:
            return self._closure_update(batch)
        state.is_updating = last
        if self.captured is not None and not self._is_looked_into():
            return self._run_captured(self.captured, batch)
        state.engine.begin_batch(state.model, last=last)
        output = self._backward(batch, share)
        state.accumulated += 1
        if last:
            self._update()
        return output

    def redo(self, batch: Batch) -> None:
        """Compute the loss and the gradients of a batch, which the hooks have had, once more."""
        self.state.forget_gradients()
        self._backward(batch, share=1.0)

    def _begin(self, batch: Batch, hooks: Sequence[Hook]) -> Batch:
        """The batch at hand, or what the hooks put in its place."""
        state = self.state
        state.batch = batch
        for hook in hooks:
            hook(state)
        return state.batch

    def _update(self) -> None:
        """Gradients are whole: look at them, move the weights, forget them."""
        state = self.state
        state.engine.sum_gradients(state.model)
        if state.scaler is not None:
            state.scaler.unscale_(state.optimizer)  # hooks see the gradients as they are
        self._add_penalty_slope()
        state.lap("backward")
        for hook in self.before_update:
            hook(state)
        state.lap("callbacks")
        if state.skips_update:
            if state.scaler is not None:
                state.scaler.update()
        elif self._move_weights():
            state.schedule.step()
            state.step += 1
        state.forget_gradients()
        state.lap("optimizer")
        state.accumulated, state.is_updating = 0, False

    def _is_looked_into(self) -> bool:
        """Whether a callback has to see the update at hand between its kernels."""
        return any(taker.part_in_update(self.state) == "host" for taker in self.takers)

    def _run_captured(self, captured: CapturedUpdate, batch: Batch) -> Any:
        state = self.state
        if self.rates is not None:
            self.rates.tell()
        output = captured.run(batch)
        state.schedule.step()
        state.step += 1
        state.is_updating = False
        return output

    def _queue_update(self, batch: Batch) -> Tensor | Output:
        """All of an update that is the device's work."""
        output = self._backward(batch, share=1.0)
        self._add_penalty_slope()
        for taker in self.takers:
            if taker.part_in_update(self.state) == "queued":
                taker.on_before_update(self.state)
        self._move_weights()
        self.state.forget_gradients()
        return output

    def _forward(self, batch: Batch) -> tuple[Tensor | Output, Tensor]:
        """What is measured, and the loss without its penalty, which is left in the state too."""
        state = self.state
        with autocast(self.precision, state.device):
            output = self.forward(state.task.inputs(batch))
            if isinstance(output, UnscoredTokens):
                output, loss = state.task.score(output, batch)
            else:
                loss = state.task.loss(with_noise(output, self.config.output_noise), batch)
        state.loss = loss.detach()
        state.lap("forward")
        return output, loss

    def _add_penalty_slope(self) -> None:
        """L2 once an update: the gradient of a term of the loss, without its passes."""
        if self.penalized:
            add_l2_slope(self.penalized, self.l2)

    def _backward(self, batch: Batch, share: float) -> Tensor | Output:
        output, loss = self._forward(batch)
        if share != 1.0:
            loss = loss * share
        if self.state.scaler is not None:
            loss = self.state.scaler.scale(loss)
        backward(loss)
        if self.stack is not None:
            self.stack.backward()
        self.state.lap("backward")
        return output

    def _move_weights(self) -> bool:
        """Step the optimizer; False where float16 overflowed and the step was skipped."""
        state = self.state
        if state.scaler is None:
            rates = nullcontext() if self.rates is None else self.rates.in_use()
            with state.engine.stepping(state.optimizer), rates:
                if self.rates is not None or not step_directly(state.optimizer):
                    state.optimizer.step()
            return True
        before = state.scaler.get_scale()
        state.scaler.step(state.optimizer)
        state.scaler.update()
        return state.scaler.get_scale() >= before

    def _closure_update(self, batch: Batch) -> Tensor | Output:
        """L-BFGS and its kin evaluate the loss several times a step; the first output counts.

        They try weights on the way; an error puts the step's first weights back. Every look draws
        the same dropout masks, so that losses differ by the weights alone; the first is the one
        that batch norm's running statistics keep.
        """
        state = self.state
        state.is_updating = True
        learned = [w for group in state.optimizer.param_groups for w in group["params"]]
        buffers = list(state.model.buffers())
        before = copies_of([*learned, *buffers])
        seen: list[tuple[Tensor | Output, Tensor, list[Tensor]]] = []
        draws = cache(partial(draws_to_come, state.device))  # those of the first look

        def closure() -> Any:
            state.lap("optimizer")
            draw_again(draws(), state.device)
            state.forget_gradients()
            output, loss = self._forward(batch)
            if not seen:
                seen.append((output, state.loss, copies_of(buffers)))
            # The penalty's curvature counts where it is computed from outputs, as the loss is.
            weights = [weight * 1 for weight in self.penalized]
            if weights:
                loss = loss + Penalty(parameters=weights, l2=self.l2)()
            if torch.is_grad_enabled():  # for weights that are only tried, the loss is enough
                torch.autograd.backward(loss, retain_graph=self.optimizer.graph)
                state.lap("backward")
                for hook in self.before_update:
                    hook(state)
                state.lap("callbacks")
            return (loss, (*heads_of(output), *weights)) if self.optimizer.graph else loss.item()

        step: Any = state.optimizer.step  # torch's types know of no second closure
        closures = (closure, self._full_gradient) if self.optimizer.full_gradient else (closure,)
        try:
            with twice_differentiable() if self.optimizer.graph else nullcontext():
                step(*closures)
        except BaseException:
            put_back([*learned, *buffers], before)
            raise
        output, state.loss, statistics = seen[0]
        put_back(buffers, statistics)
        state.schedule.step()
        state.step += 1
        state.forget_gradients()
        state.lap("optimizer")
        state.is_updating = False
        return output

    def _full_gradient(self) -> None:
        """Leave the gradient of the mean loss over all rows in the weights, batch by batch."""
        state, at_hand = self.state, self.state.batch
        buffers = list(state.model.buffers())
        before = copies_of(buffers)
        state.forget_gradients()
        size = pace_for(self.config, self.train.total).batch_size
        loader = build_loader(
            self.train, size, shuffle=False, workers=self.config.workers, persistent=False
        )
        shares = UpdateShares(loader, state.task, accumulate=len(loader)).of_epoch(0)
        with closing(loader):
            for batch, share in zip(loader.epoch(0), shares, strict=True):
                self._backward(self._begin(batch, self.batch_start), share)
                for hook in self.before_update:
                    hook(state)
        self._add_penalty_slope()
        put_back(buffers, before)
        state.batch = at_hand


def heads_of(output: Tensor | Output) -> tuple[Tensor, ...]:
    """Everything that the loss is computed from: the main output and those of auxiliary heads."""
    return (output.logits, *output.aux) if isinstance(output, Output) else (output,)


def with_noise(output: Tensor | Output, deviation: float) -> Tensor | Output:
    """The output with normal noise on its logits; 0 leaves it as it is."""
    if not deviation:
        return output
    logits = logits_of(output)
    noisy = logits + deviation * torch.randn_like(logits)
    return replace(output, logits=noisy) if isinstance(output, Output) else noisy
