"""Before NaN or infinity reaches the weights: name its batch and layer; stop, skip or go back."""

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from netwright.core.errors import RunError
from netwright.train.callback import Callback, Part
from netwright.train.run_setting_groups import Policy
from netwright.train.saving.snapshot import Snapshot
from netwright.train.state import SetBack, TrainState, nothing_to_confirm
from netwright.train.updates.culprit import diagnosis, first_cause
from netwright.train.updates.finite_check import FiniteCheck, reason_for_host
from netwright.train.updates.moment import Moment

MOST_IN_A_ROW = 10  # updates that may be left out one after the other


class GuardNonFinite(Callback):
    """Looks at the loss and the gradients before each update, and does what the policy says.

    stop: the run ends with the guilty batch named; the weights stay as they were.
    skip: the update is left out, and what its batches did to buffers and measures is undone.
    roll-back: everything goes back to the start of the epoch (or to where the run went on), from
    where it takes the same way without the guilty batches.

    The weights never see such a number, on any device. All is added up to one number that is read
    once an update; for that an accelerator is waited for. Where the optimizer can leave updates out
    by a number on the device, nothing waits: it is read a few updates later, until when the weights
    stay as they were, and the batches behind a bad one are taken again. The outcome is the same.
    See `updates/finite_check.py`.

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
        self.check: FiniteCheck | None = None  # where the device itself leaves updates out
        self.begun: set[int] = set()  # weights that an update was made of
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
        self.check, self.begun = None, set()
        if not reason_for_host(state, self.policy):
            self.check = FiniteCheck(state, self.buffers, with_draws=self.policy == "skip")
            state.optimizer.found_inf = self.check.bad  # type: ignore[attr-defined]
            state.confirm = partial(self._confirm, state)

    def on_epoch_start(self, state: TrainState) -> None:
        """Keep what there may be a way back to."""
        if self.policy == "roll-back":
            self.snapshot = Snapshot.of(state, self.watched)
        if self.check is None:
            self._keep(state)
        else:
            self.check.begin(state)

    def part_in_update(self, state: TrainState) -> Part:
        """With a number on the device, nothing is read before the update."""
        return "host" if self.check is None else "queued"

    def on_before_update(self, state: TrainState) -> None:
        """Refuse to step on what is not finite."""
        if self.check is not None:
            self.check.look(state.loss, self._grads(state))
            self._begin_moments(state)
            return
        here = (state.epoch, state.position)
        if not self._looks_bad(state):
            if here > self.last_bad:  # not where a roll-back takes the same way again
                self.in_a_row = 0
            return
        if self.policy == "stop" or self.in_a_row == MOST_IN_A_ROW:
            many = f"{self.in_a_row} updates in a row were skipped; " if self.in_a_row else ""
            sentence = many + first_cause(state, self.found or diagnosis(state))
            self._put_back(state)
            raise RunError(sentence)
        self.in_a_row, self.last_bad, self.found = self.in_a_row + 1, here, ""
        state.skips_update = True
        first = state.position - state.accumulated
        state.passed_over += [(state.epoch, place) for place in range(first, state.position)]

    def on_batch_end(self, state: TrainState) -> None:
        """Undo what bad batches did; between those of one update the loss is looked at here."""
        if self.check is not None:
            self.check.note(state)
            self._judge(state, self.check.known())
        elif state.skips_update:
            self._go_back(state)
        elif not state.accumulated:
            self._keep(state)
        elif not math.isfinite(state.loss.item()):
            self.found = self.found or diagnosis(state)
            self._put_back(state)  # the run may be saved before the update is left out

    def on_fit_end(self, state: TrainState) -> None:
        """Leave the optimizer as it was."""
        self._let_go(state)

    def on_abort(self, state: TrainState) -> None:
        """Leave the optimizer as it was."""
        self._let_go(state)

    def state_dict(self) -> dict[str, Any]:
        """How many updates were left out in a row, and where the last of them was."""
        return {"in_a_row": self.in_a_row, "last_bad": self.last_bad} if self.in_a_row else {}

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        epoch, position = values["last_bad"]
        self.in_a_row, self.last_bad = int(values["in_a_row"]), (int(epoch), int(position))

    def _let_go(self, state: TrainState) -> None:
        if self.check is not None:
            del state.optimizer.found_inf  # type: ignore[attr-defined]
            state.confirm, self.check = nothing_to_confirm, None

    def _confirm(self, state: TrainState) -> None:
        """Wait until all batches so far are known."""
        if self.check is not None:
            self._judge(state, self.check.all_known(state))

    def _judge(self, state: TrainState, known: Iterable[tuple[Moment, bool]]) -> None:
        """Act on the first bad batch; whatever is queued behind it moved nothing."""
        for moment, is_bad in known:
            if is_bad:
                self._leave_out(state, moment)
            elif moment.place > self.last_bad:
                self.in_a_row = 0

    def _leave_out(self, state: TrainState, moment: Moment) -> None:
        """End the run at this batch, or go on as if its update had been left out at once."""
        if self.policy == "stop" or self.in_a_row == MOST_IN_A_ROW:
            self._refuse(state, moment)
        self.in_a_row, self.last_bad = self.in_a_row + 1, moment.place
        state.passed_over.append((moment.epoch, moment.position - 1))
        if self.check is not None:
            self.check.clear()
        state.forget_gradients()
        state.accumulated = 0
        if self.snapshot is None:
            moment.pass_over(state)
        else:
            self.snapshot.restore(state, self.watched)
            self.begun = set()
        raise SetBack

    def _refuse(self, state: TrainState, moment: Moment) -> None:
        """Name the batch; the run stands before its update."""
        many = f"{self.in_a_row} updates in a row were skipped; " if self.in_a_row else ""
        moment.put_back(state)
        if state.batch is not None and state.redo is not None:
            state.redo(state.batch)  # its gradients are gone
            state.loss = moment.loss
        sentence = many + diagnosis(state)
        if self.check is not None:
            self.check.held.put_back()
        raise RunError(sentence)

    def _begin_moments(self, state: TrainState) -> None:
        """Wait for an update that is the first of a weight: moments begun by none are noise."""
        now = {id(weight) for weight in self.learned if weight.grad is not None}
        if not now <= self.begun:
            state.confirm()  # where it is a bad one, this is the end of it
            self.begun |= now

    def _grads(self, state: TrainState) -> list[Tensor]:
        return state.engine.own([grad for w in self.learned if (grad := w.grad) is not None])

    def _go_back(self, state: TrainState) -> None:
        if self.snapshot is None:
            self._put_back(state)
            return
        self.snapshot.restore(state, self.watched)
        state.goes_back = True
        if (state.epoch, state.position - 1) in state.passed_over:
            # The run went on in the middle of the update that is left out.
            state.forget_gradients()
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
        grads = self._grads(state)
        if _is_finite(state.loss, grads):
            return True
        # Finite numbers may have an infinite sum: look closer before anything is refused.
        return all(bool(values.isfinite().all()) for values in (state.loss, *grads))


def _is_finite(loss: Tensor, grads: Sequence[Tensor]) -> bool:
    """Whether the sum of all is finite: of a few numbers on a device, of each tensor's on a CPU.

    Gradients may be on the host when the loss is not.
    """
    if (grads[0] if grads else loss).is_cpu:
        return math.isfinite(loss.item() + sum([abs(grad.sum().item()) for grad in grads]))
    sizes = [size.float() for size in (loss, *torch._foreach_norm(list(grads)))]
    return math.isfinite(torch.stack(sizes).sum().item())
