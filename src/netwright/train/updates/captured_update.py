"""A whole update as one CUDA graph: captured once, then started by one call a batch.

Forward pass, loss, backward pass, the look for numbers that are not finite, clipping and the
optimizer's step are some hundred kernels, and starting each costs the host as long as a small one
runs. A graph starts all of them at once. It computes the same bits as the kernels one by one, draws
the same random numbers, and reads learning rates on the device.

Updates that a callback looks into, and batches of another size, run kernel by kernel as before.
"""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from netwright.core.outputs import logits_of
from netwright.core.seeding import random_state, set_random_state
from netwright.core.trees import map_tensors, tensors_of
from netwright.data.loading.loader import Batch
from netwright.train.state import TrainState

WARM = 3  # updates before one is timed: kernels are chosen and memory is found in them
FEWEST = 100  # updates to come that are worth a capture, which takes about a tenth of a second
LONG = 0.3  # seconds of fewer updates that are worth it, too
BUSY = 0.6  # the host's part of an update's time from which on a graph pays


class CapturedUpdate:
    """Captures an update when it is known to pay, and starts it for batches that fit.

    Args:
        state: the run.
        queue: puts an update by a batch into the device's queue and gives the output; the weights
            have moved then.
        always: capture without timing.
    """

    def __init__(
        self, state: TrainState, queue: Callable[[Batch], Any], *, always: bool = False
    ) -> None:
        self.state, self.queue, self.always = state, queue, always
        state.may_capture = True
        self.graph: torch.cuda.CUDAGraph | None = None
        self.batch: Batch | None = None
        self.logits = self.loss = torch.empty(0)
        self.settings: list[dict[str, Any]] = []
        self.memory: object = state.optimizer.state  # in which the optimizer keeps its moments
        self.seconds = 0.0  # that an update takes
        self.one_by_one = self.started = 0  # updates kernel by kernel, and by the graph

    def run(self, batch: Batch) -> Any:
        """Queue an update; gives an output that the next update leaves as it is."""
        if self.memory is not self.state.optimizer.state:
            # It was restored: a graph has the old tensors, and new ones may be yet to be made.
            self.graph, self.one_by_one, self.memory = None, 0, self.state.optimizer.state
        if self.graph is None and self.state.may_capture and self._is_worth_it():
            self._capture(batch)
        if self.graph is None or not self._fits(batch):
            self.one_by_one += 1
            is_timed = self.one_by_one == WARM + 1 and not self.always
            return self._timed(batch) if is_timed else self.queue(batch)
        for ours, theirs in zip(tensors_of(self.batch), tensors_of(batch), strict=True):
            ours.copy_(theirs)
        self.graph.replay()
        self.started += 1
        self.state.by_graph += 1
        self.state.loss = self.loss.clone()
        return self.logits.clone()

    def let_go(self) -> None:
        """Give the memory of the graph back now, not when the collector comes to it."""
        self.graph = self.batch = None
        self.logits = self.loss = torch.empty(0)
        self.state.may_capture = False

    def _timed(self, batch: Batch) -> Any:
        """An update with nothing else in the queue: how long the host takes to fill it."""
        torch.cuda.synchronize(self.state.device)
        started = time.perf_counter()
        output = self.queue(batch)
        queued = time.perf_counter()
        torch.cuda.synchronize(self.state.device)
        self.seconds = time.perf_counter() - started
        self.state.may_capture = queued - started >= BUSY * self.seconds
        return output

    def _is_worth_it(self) -> bool:
        to_come = self.state.all_updates - self.state.step
        is_long = to_come >= FEWEST or to_come * self.seconds >= LONG
        return self.one_by_one > WARM and (self.always or is_long)

    def _fits(self, batch: Batch) -> bool:
        """Whether a batch has the shapes of the captured one, and the optimizer its settings."""
        ours, theirs = tensors_of(self.batch), tensors_of(batch)
        are_alike = len(ours) == len(theirs) and all(
            one.shape == other.shape and one.dtype == other.dtype
            for one, other in zip(ours, theirs, strict=True)
        )
        return are_alike and self.settings == _settings(self.state.optimizer)

    def _capture(self, batch: Batch) -> None:
        """Capture an update by copies of this batch; nothing is computed."""
        state = self.state
        draws, loss = random_state(), state.loss
        groups = state.optimizer.param_groups
        self.batch = map_tensors(torch.clone, batch)
        graph = torch.cuda.CUDAGraph()
        _set(groups, capturable=True)
        try:
            with _captured(graph):
                self.logits = logits_of(self.queue(self.batch)).detach()
                self.loss = state.loss
        except Exception as error:  # whatever it is, the kernels can still be started one by one
            state.may_capture = False
            reason = (str(error) or type(error).__name__).splitlines()[0]
            state.notes.append(f"no CUDA graph was captured of an update: {reason}")
            _end_failed_capture()
            set_random_state(draws)
        else:
            self.graph = graph
        finally:
            _set(groups, capturable=False)
            state.forget_gradients()
            state.loss = loss
        self.settings = _settings(state.optimizer)


@contextmanager
def _captured(graph: torch.cuda.CUDAGraph) -> Iterator[None]:
    """Capture what this thread queues; the one that pins a loader's batches may work meanwhile.

    Nothing is collected: to free a graph or an event of an earlier run would end the capture.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        with torch.cuda.graph(graph, capture_error_mode="thread_local"):
            yield
    finally:
        if collects:
            gc.enable()


def _end_failed_capture() -> None:
    """Capture what can be: torch's generator believes in the failed capture until then."""
    with _captured(torch.cuda.CUDAGraph()):
        torch.zeros(1, device="cuda")


def _settings(optimizer: torch.optim.Optimizer) -> list[dict[str, Any]]:
    """All of the groups that a graph holds as they are: not the rates."""
    return [
        {name: value for name, value in group.items() if name not in {"params", "lr"}}
        for group in optimizer.param_groups
    ]


def _set(groups: Sequence[dict[str, Any]], *, capturable: bool) -> None:
    """Tell an optimizer that asks for it whether it is being captured."""
    for group in groups:
        if "capturable" in group:
            group["capturable"] = capturable
