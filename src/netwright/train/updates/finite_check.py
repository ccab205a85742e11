r"""Whether every loss and gradient so far is finite: a number on the device that nobody waits for.

    bad_t = max(bad_{t-1}, 1 where loss_t or a gradient_t is not finite, else 0)

While it is 1, the fused kernels of torch's optimizers (their `found_inf`) leave weights, moments
and counts as they are, and buffers are put back: all stays as it was before the first bad batch,
whatever is queued behind it. The host reads the number of a batch a few batches later, when the
device has long computed it. Then the run ends, or stands where that batch stood and takes the
batches behind it again, which moved nothing.
"""

from collections import deque
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from netwright.optimizers.eager import torch_kind
from netwright.optimizers.foreach_optimizer import ForeachOptimizer
from netwright.optimizers.held_tensors import HeldTensors
from netwright.train.run_setting_groups import Policy
from netwright.train.state import TrainState
from netwright.train.updates.moment import Before, Moment

WAITED_FOR = ("cuda",)  # devices that compute while the host goes on
LAG = 4  # batches between the one at hand and the one whose number is read
MOST_HELD = 2**27  # weights whose steps are undone on the device, a few GB with their moments
FUSED = (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD, torch.optim.Adagrad)


class FiniteCheck:
    """The number, what hangs on it, and its copies on the host.

    Args:
        state: the run.
        buffers: of the model.
        with_draws: the run may go on behind a bad batch, with the draws that come then.
    """

    def __init__(
        self, state: TrainState, buffers: Sequence[Tensor], *, with_draws: bool = False
    ) -> None:
        device, on_cuda = state.device, state.device.type == "cuda"
        self.bad, self._one = torch.zeros((), device=device), torch.ones((), device=device)
        self.held, self.with_draws = HeldTensors(buffers), with_draws
        self._copies = torch.zeros(LAG + 2, pin_memory=on_cuda)  # the last is for the one at hand
        self._read = self._copies.numpy()
        self._events = [torch.Event(device) for _ in self._copies] if on_cuda else []
        self._queue: deque[tuple[int, Moment]] = deque()
        self._slot = 0
        self._before = Before.of(state)

    def begin(self, state: TrainState) -> None:
        """A pass begins, or what is left of one: between two of them much is moved."""
        self.held.take()
        self._before = Before.of(state)

    def look(self, loss: Tensor, grads: Sequence[Tensor]) -> None:
        """Take a loss and gradients in; they are read once and stay as they are."""
        parts = [loss.float(), *grads]
        torch._amp_foreach_non_finite_check_and_unscale_(parts, self.bad, self._one)
        self.held.settle(self.bad)

    def note(self, state: TrainState) -> None:
        """Have the number brought to the host, for the batch at hand."""
        slot, self._slot = self._slot, (self._slot + 1) % (LAG + 1)
        self._send(slot)
        self._queue.append((slot, self._moment(state)))
        self._before = Before.of(state)

    def known(self) -> Iterator[tuple[Moment, bool]]:
        """The batches that are LAG batches old, and whether each is bad."""
        return self._known(LAG)

    def all_known(self, state: TrainState) -> Iterator[tuple[Moment, bool]]:
        """All batches up to the one at hand, and whether each is bad: the device is waited for."""
        yield from self._known(0)
        self._send(-1)
        if self._arrived(-1):
            yield self._moment(state), True

    def clear(self) -> None:
        """The bad batch is known: from here on all is good."""
        self.bad.zero_()
        self._queue.clear()

    def _known(self, left: int) -> Iterator[tuple[Moment, bool]]:
        while len(self._queue) > left:
            slot, moment = self._queue.popleft()
            yield moment, self._arrived(slot)

    def _send(self, slot: int) -> None:
        """Queue a copy of the number for the host."""
        self._copies[slot].copy_(self.bad, non_blocking=True)
        if self._events:
            self._events[slot].record()

    def _arrived(self, slot: int) -> bool:
        """The copy, when it is there."""
        if self._events:
            self._events[slot].synchronize()
        return bool(self._read[slot])

    def _moment(self, state: TrainState) -> Moment:
        return Moment.of(state, self._before, with_draws=self.with_draws)


def reason_for_host(state: TrainState, policy: Policy = "stop") -> str:
    """Why each update has to be waited for, in a few words; empty where none is.

    Several ranks and float16 agree on the host, and batches of one update are looked at one by one.
    torch's kernel for the check knows float32 and not bfloat16, and works on the current device.

    An optimizer that does not know of such a number is told by the host, too.

    Args:
        state: the run; its optimizer is to leave updates out by a number on the device.
        policy: what is done about a bad batch.
    """
    optimizer, index = state.optimizer, state.device.index
    has_index = state.device.type == "cuda" and index is not None
    rates = [group["lr"] for group in optimizer.param_groups]
    name = type(optimizer).__name__
    reasons = {
        "it needs CUDA": state.device.type not in WAITED_FOR,
        f"{state.device} is not the current device": has_index
        and index != torch.cuda.current_device(),
        "several processes train together": not state.ranks.is_alone,
        "weights are sharded, and a step is the host's work": not state.engine.queues_step(
            optimizer
        ),
        "the scaler of fp16-mixed decides on the host": state.scaler is not None,
        "an update has several batches (accumulate), or is one of training_step": state.redo
        is None,
        f"{name} is not used with a kernel that leaves steps out": not leaves_out(optimizer),
        "there are weights that are not float32": any(
            weight.dtype != torch.float32 for weight in state.learned_weights()
        ),
        "the learning rate is a tensor of your own": any(isinstance(r, Tensor) for r in rates),
        f"on_non_finite is {policy}, and what sees each batch is your own": policy != "stop"
        and not state.may_repeat,
    }
    return next((reason for reason, is_so in reasons.items() if is_so), "")


def leaves_out(optimizer: torch.optim.Optimizer) -> bool:
    """Whether it leaves a step out by a number on the device.

    Ours undo a step, for which they hold what it moves twice more: not of a large model.
    """
    return is_fused(optimizer, FUSED) or (
        isinstance(optimizer, ForeachOptimizer)
        and optimizer.steps_on_device
        and sum(w.numel() for group in optimizer.param_groups for w in group["params"]) <= MOST_HELD
    )


def is_fused(
    optimizer: torch.optim.Optimizer, kinds: Sequence[type[torch.optim.Optimizer]]
) -> bool:
    """Whether it is of one of these kinds and steps by torch's fused kernel."""
    return torch_kind(optimizer) in kinds and all(
        group["fused"] for group in optimizer.param_groups
    )
