"""Occlusion: how far an answer falls when a part of the input is hidden.

A patch slides over an image; features, steps and tokens are hidden one by one. What is hidden is
replaced by what says nothing: the training mean, or the unknown token. No gradients are needed, so
that it tells of any model. A place under several patches has the mean of their falls.

Shapes: one input (1, ...), P parts that are hidden in turn.
Source: Zeiler and Fergus, "Visualizing and Understanding Convolutional Networks" (2014), section
4.2.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.inspection.attribution.input_map import InputMap, ShownInput, map_values
from netwright.inspection.drawing.wording import number

Answer = Callable[[Tensor], Tensor]
Part = tuple[slice, ...]
MOST_PARTS = 1024  # of a series
MOST_NUMBERS = 2**18  # of inputs that are asked about together
SMALL = 64  # images up to this many pixels a side have patches that overlap


@dataclass(frozen=True, kw_only=True)
class Occlusion(InputMap):
    """What an answer rests on.

    Args:
        quantity: what falls, "probability", or the name of a real.
        answered: what it is with nothing hidden.
        num_parts: how many parts were hidden in turn.
        hidden: what stands in for a hidden part, in words.
    """

    title: ClassVar[str] = "Occlusion"

    quantity: str
    answered: float
    num_parts: int
    hidden: str

    @property
    def unit(self) -> str:
        """What a number is."""
        return f"fall of the {self.quantity}"

    @property
    def caption(self) -> str:
        """How to read it, and what matters most."""
        return (
            f"How far the {self.quantity} of {self.shown.answer}, {number(self.answered)} with "
            f"nothing hidden, falls when a part of the input is replaced by {self.hidden}, for "
            f"{self.num_parts:,} part{'s' * (self.num_parts != 1)} in turn: blue parts hold it up, "
            f"orange ones down. The largest change is at {self.strongest}."
        )


def measure_occlusion(
    ask: Answer,
    inputs: Tensor,
    shown: ShownInput,
    *,
    filling: Tensor,
    parts: Sequence[Part],
    quantity: str,
    hidden: str,
) -> Occlusion:
    """Hide each part in turn.

    Args:
        ask: encoded inputs (B, ...) -> the answer that is explained (B,).
        inputs: one input (1, ...), encoded; of tokens those that are shown come first.
        shown: the input as it is shown.
        filling: what stands in for hidden numbers or tokens, shaped like the input (...).
        parts: places that are hidden together; see `patches` and `single_parts`.
        quantity: what `ask` gives, in words.
        hidden: what the filling is, in words.
    """
    check_shape("filling", filling, *inputs.shape[1:])
    answered = float(ask(inputs)[0])
    falls = answered - _answers(ask, inputs, filling, parts)
    total = torch.zeros(inputs.shape[1:], dtype=torch.float64)
    times = torch.zeros_like(total)
    for part, fall in zip(parts, falls, strict=True):
        total[part] += fall
        times[part] += 1
    values = total / times.clamp(min=1)
    if shown.kind == "image":
        values = values[0]  # a patch covers all channels
    elif shown.kind == "tokens":
        values = values[: len(shown.names)]
    return Occlusion(
        shown=shown,
        values=map_values(shown, values),
        quantity=quantity,
        answered=answered,
        num_parts=len(parts),
        hidden=hidden,
    )


def patches(shape: Sequence[int], patch: int) -> list[Part]:
    """Squares over an image (channels, I, J), each over all channels; small images have more.

    Args:
        shape: of the image.
        patch: pixels along a side.
    """
    step = max(patch // 2, 1) if max(shape[1:]) <= SMALL else patch
    starts = [range(0, max(side - patch, 0) + step, step) for side in shape[1:]]
    return [
        (slice(None), slice(row, row + patch), slice(column, column + patch))
        for row, column in product(*starts)
    ]


def single_parts(shape: Sequence[int], steps: int) -> list[Part]:
    """Every feature (F,), token (T,), or feature of a step (T, F) by itself.

    Of a long series, neighbouring steps are hidden together.

    Args:
        shape: of the input.
        steps: how many of the first axis there are to hide; padding is left alone.
    """
    others = [[slice(place, place + 1) for place in range(size)] for size in shape[1:]]
    width = math.ceil(steps * math.prod(shape[1:]) / MOST_PARTS) if others else 1
    first = [slice(place, min(place + width, steps)) for place in range(0, steps, width)]
    return list(product(first, *others))


def _answers(ask: Answer, inputs: Tensor, filling: Tensor, parts: Sequence[Part]) -> Tensor:
    """The answer (P,) with each part hidden, a batch at a time."""
    batch = max(MOST_NUMBERS // inputs.numel(), 1)
    answers = []
    for first in range(0, len(parts), batch):
        chosen = parts[first : first + batch]
        changed = inputs.repeat(len(chosen), *(1 for _ in inputs.shape[1:]))
        for row, part in zip(changed, chosen, strict=True):
            row[part] = filling[part]
        answers.append(ask(changed).detach().cpu().double())
    return torch.cat(answers)
