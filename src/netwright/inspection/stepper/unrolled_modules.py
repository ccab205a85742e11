"""Recurrent layers written out in time: each step is computed by operations that can be seen.

Torch computes all steps in one kernel. Here the same weights go through the pure step of the cell,
one step after the other, and a clock says which step it is.

Shapes: B batch, T steps, D inputs, H units, L layers times directions.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from netwright.core.errors import ConfigError
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import (
    ELMAN,
    ELMAN_RELU,
    GRU,
    LSTM,
    Cell,
    States,
    Weights,
)

_KERNELS = (nn.RNN.forward, nn.LSTM.forward, nn.GRU.forward)


class Clock:
    """Which step in time is computed, in words ("t = 3"); empty outside of recurrences."""

    now = ""


def unroll_in_time(model: nn.Module) -> Clock:
    """Change the recurrent layers of a model in place to run step by step; gives their clock.

    Layers stay the modules that they were: others may ask them for their sizes and weights. One
    with a forward of its own is left as it is.
    """
    clock = Clock()
    parts = list(model.modules())
    stacks = [part for part in parts if isinstance(part, RecurrentStack)]
    inner = {stack.rnn for stack in stacks}  # kernels, which are no longer asked
    for stack in stacks:
        _TimedSteps(stack, clock)
    for part in parts:
        if isinstance(part, nn.RNNBase) and type(part).forward in _KERNELS and part not in inner:
            part.forward = _InSteps(part, clock)
    return clock


class _TimedSteps:
    """Takes the place of a stack's cell and weights, and turns the clock.

    A stack asks for the weights of a layer and direction before it goes through its steps.
    """

    def __init__(self, stack: RecurrentStack, clock: Clock) -> None:
        self._clock, self._step, self._weights = clock, stack.cell.step, stack.weights
        self._before, self._length = 0, 0
        self._times: Iterator[int] = iter(())
        stack.fused = False
        stack.cell = replace(stack.cell, step=self.step)
        stack.weights = self.weights  # type: ignore[method-assign]
        stack.register_forward_pre_hook(self.begin)

    def begin(self, _: nn.Module, given: tuple[Any, ...]) -> None:
        """A call goes on where the last one ended: decoders call once a step."""
        self._before += self._length
        self._length = given[0].shape[1]

    def weights(self, layer: int, *, backward: bool = False) -> Weights:
        """The weights of one pass through time, which begins."""
        times = range(self._before + 1, self._before + self._length + 1)
        self._times = iter(times[::-1] if backward else times)
        return self._weights(layer, backward=backward)

    def step(self, x: Tensor, state: States, weights: Weights) -> States:
        """The cell's step, while the clock shows its time."""
        self._clock.now = f"t={next(self._times)}"
        try:
            return self._step(x, state, weights)
        finally:
            self._clock.now = ""


class _InSteps:
    """The forward of torch's RNN, LSTM or GRU in steps."""

    def __init__(self, rnn: nn.RNNBase, clock: Clock) -> None:
        if rnn.proj_size:
            raise ConfigError("an LSTM with a projection of its output cannot be unrolled in time")
        self._batch_first = rnn.batch_first
        self._stack = RecurrentStack(
            _cell_of(rnn),
            rnn.input_size,
            rnn.hidden_size,
            rnn.num_layers,
            bidirectional=rnn.bidirectional,
            fused=False,
        )
        self._stack.rnn = rnn
        _TimedSteps(self._stack, clock)

    def __call__(self, input: Tensor, hx: Any = None) -> tuple[Tensor, Any]:  # noqa: A002 - torch's
        """As torch's: (T, B, D), (B, T, D) or (T, D) -> outputs and the state after the last."""
        inputs = input
        if isinstance(inputs, PackedSequence):
            raise ConfigError(
                "packed sequences cannot be unrolled in time: give one sequence without packing"
            )
        single = inputs.dim() == 2
        state = None
        if hx is not None:
            parts = hx if isinstance(hx, tuple) else (hx,)
            state = tuple(part.unsqueeze(0) if single else part.transpose(0, 1) for part in parts)
        if single:
            inputs = inputs.unsqueeze(0)
        elif not self._batch_first:
            inputs = inputs.transpose(0, 1)
        outputs, end = self._stack(inputs, state)
        last = tuple(part.squeeze(0) if single else part.transpose(0, 1) for part in end)
        if single:
            outputs = outputs.squeeze(0)
        elif not self._batch_first:
            outputs = outputs.transpose(0, 1)
        return outputs, last if len(last) > 1 else last[0]


def _cell_of(rnn: nn.RNNBase) -> Cell:
    if isinstance(rnn, nn.LSTM):
        return LSTM
    if isinstance(rnn, nn.GRU):
        return GRU
    return ELMAN_RELU if rnn.nonlinearity == "relu" else ELMAN
