r"""Whether every loss and gradient so far is finite: a number on the device that nobody waits for.

    bad_t = max(bad_{t-1}, 1 where loss_t or a gradient_t is not finite, else 0)

While it is 1, the fused kernels of torch's optimizers (their `found_inf`) leave weights, moments
and counts as they are, and buffers are put back: all stays as it was before the first bad batch,
whatever is queued behind it. The host reads the number of a batch a few batches later, when the
device has long computed it.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from netwright.core.errors import RunError
from netwright.data.loading.loader import Batch
from netwright.train.state import TrainState
from netwright.train.updates.culprit import diagnosis

WAITED_FOR = ("cuda",)  # devices that compute while the host goes on
LAG = 4  # batches between the one at hand and the one whose number is read
FUSED = (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD, torch.optim.Adagrad)


class Moment(NamedTuple):
    """Where a batch stood in the run, to go back to."""

    epoch: int
    position: int
    step: int
    samples: int
    batch: Batch | None
    loss: Tensor
    rates: tuple[float, ...]

    @classmethod
    def of(cls, state: TrainState, rates: tuple[float, ...]) -> "Moment":
        """The batch at hand, before its update at these rates or after it."""
        made = not state.is_updating
        return cls(
            epoch=state.epoch,
            position=state.position,
            step=state.step - made,
            samples=state.samples - (len(state.batch.rows) if made and state.batch else 0),
            batch=state.batch,
            loss=state.loss,
            rates=rates,
        )

    def put_back(self, state: TrainState) -> None:
        """Let the run stand there again; weights and moments have not moved since."""
        for name in ("epoch", "position", "step", "samples", "batch", "loss"):
            setattr(state, name, getattr(self, name))
        for group, rate in zip(state.optimizer.param_groups, self.rates, strict=True):
            group["lr"] = rate


class HeldBuffers:
    """Keeps what buffers held after the last good batch, and puts it back after a bad one.

    Those of one dtype lie in one tensor, so that it takes three kernels, not three a buffer.

    Args:
        buffers: as they are now.
    """

    def __init__(self, buffers: Sequence[Tensor]) -> None:
        self.parts: list[tuple[list[Tensor], Tensor, Tensor]] = []
        for dtype in dict.fromkeys(buffer.dtype for buffer in buffers):
            alike = [buffer for buffer in buffers if buffer.dtype == dtype]
            kept = torch.cat([buffer.detach().reshape(-1) for buffer in alike])
            self.parts.append((alike, kept, torch.empty_like(kept)))

    @torch.no_grad()
    def settle(self, bad: Tensor) -> None:
        """Take in what the buffers hold, or, where bad is 1, undo it."""
        for buffers, kept, now in self.parts:
            torch._foreach_copy_(_cut(now, buffers), buffers)
            torch.where(bad > 0, kept, now, out=kept)
            torch._foreach_copy_(buffers, _cut(kept, buffers))

    @torch.no_grad()
    def put_back(self) -> None:
        """Undo what was done since."""
        for buffers, kept, _ in self.parts:
            torch._foreach_copy_(buffers, _cut(kept, buffers))


def _cut(flat: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """Views of a flat tensor in the shapes of others."""
    pieces = torch.split(flat, [part.numel() for part in like])
    return [piece.view(part.shape) for piece, part in zip(pieces, like, strict=True)]


class FiniteCheck:
    """The number, what hangs on it, and its copies on the host.

    Args:
        state: the run; its optimizer takes the number.
        buffers: of the model.
    """

    def __init__(self, state: TrainState, buffers: Sequence[Tensor]) -> None:
        device, on_cuda = state.device, state.device.type == "cuda"
        self.bad, self._one = torch.zeros((), device=device), torch.ones((), device=device)
        self.held = HeldBuffers(buffers)
        self._copies = torch.zeros(LAG + 1, pin_memory=on_cuda)
        self._read = self._copies.numpy()
        self._events = [torch.Event(device) for _ in self._copies] if on_cuda else []
        self._queue: deque[tuple[int, Moment]] = deque()
        self._slot = 0
        self._rates = _rates(state)  # of the next update: a schedule moves on after each

    def look(self, loss: Tensor, grads: Sequence[Tensor]) -> None:
        """Take a loss and gradients in; they are read once and stay as they are."""
        parts = [loss.float(), *grads]
        torch._amp_foreach_non_finite_check_and_unscale_(parts, self.bad, self._one)
        self.held.settle(self.bad)

    def note(self, state: TrainState) -> None:
        """Have the number brought to the host, for the batch at hand."""
        slot, self._slot = self._slot, (self._slot + 1) % len(self._copies)
        self._copies[slot].copy_(self.bad, non_blocking=True)
        if self._events:
            self._events[slot].record()
        self._queue.append((slot, Moment.of(state, self._rates)))
        self._rates = _rates(state)

    def first_bad(self, *, newest: bool = False) -> Moment | None:
        """The first batch whose number is 1, among those that are LAG batches old, or among all."""
        while len(self._queue) > (0 if newest else LAG):
            slot, moment = self._queue.popleft()
            if self._events:
                self._events[slot].synchronize()
            if self._read[slot]:
                return moment
        return None

    def confirm(self, state: TrainState) -> None:
        """Wait until all batches so far are known to be good."""
        self.refuse(state, self.first_bad(newest=True))
        if self.bad.item():
            self.refuse(state, Moment.of(state, self._rates))

    def refuse(self, state: TrainState, moment: Moment | None) -> None:
        """Name the batch of this moment, if there is one; what is queued since moved nothing."""
        if moment is None:
            return
        moment.put_back(state)
        if state.batch is not None and state.redo is not None:
            state.redo(state.batch)  # its gradients are gone
            state.loss = moment.loss
        sentence = diagnosis(state)
        self.held.put_back()
        raise RunError(sentence)


def is_checked_on_device(state: TrainState) -> bool:
    """Whether its optimizer can leave an update out by a number on the device.

    Several ranks and float16 agree on the host, batches of one update are looked at one by one, and
    an optimizer without a fused kernel is told by the host, too. torch's kernel for the check knows
    float32 and not bfloat16, and works on the current device.
    """
    weights = state.learned_weights()
    return (
        state.device.type in WAITED_FOR
        and (state.device.index is None or state.device.index == torch.cuda.current_device())
        and all(weight.dtype == torch.float32 for weight in weights)
        and state.ranks.is_alone
        and state.scaler is None
        and state.redo is not None
        and is_fused(state.optimizer, FUSED)
    )


def _rates(state: TrainState) -> tuple[float, ...]:
    return tuple(group["lr"] for group in state.optimizer.param_groups)


def is_fused(
    optimizer: torch.optim.Optimizer, kinds: Sequence[type[torch.optim.Optimizer]]
) -> bool:
    """Whether it is of one of these kinds and steps by torch's fused kernel."""
    return type(optimizer) in kinds and all(group["fused"] for group in optimizer.param_groups)
