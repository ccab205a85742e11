"""A long stream of tokens as examples: windows of it, and as targets the tokens one place later.

    input  n = stream[s n     : s n + T]          windows begin every s tokens
    target n = stream[s n + 1 : s n + T + 1]      what comes next, at every place

The stream is held once; windows are views of it, however much they overlap. To learn from, the few
tokens at the end that fill no window are left out. To measure on, every token is scored exactly
once: the last window is moved back to end with the stream, and what was scored before is ignored.

Shapes: L + 1 tokens of the stream, N windows, T tokens of a window.
"""

import torch
from torch import Tensor

from netwright.core.checks import check_positive
from netwright.core.errors import DataError
from netwright.data.dataset import Split
from netwright.data.spec import IGNORED


class WindowSplit(Split):
    """A split of windows of one stream, to learn from.

    Args:
        stream: all tokens in their order (L + 1,) int64.
        window: tokens of a window, T.
        stride: tokens from the beginning of a window to that of the next.
    """

    stream: Tensor
    window: int
    stride: int

    def __init__(self, *, stream: Tensor, window: int, stride: int) -> None:
        check_positive("stride", stride)
        _check_length(stream, window)
        values = {
            "stream": stream,
            "window": window,
            "stride": stride,
            "inputs": stream[:-1].unfold(0, window, stride),
            "targets": stream[1:].unfold(0, window, stride),
            "weights": None,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)  # a split is frozen

    def __repr__(self) -> str:
        length = len(self.stream)
        return f"WindowSplit({len(self)} of {self.window} in {length}, every {self.stride})"

    def check_inputs(self, name: str) -> None:
        """Nothing to do: tokens are whole numbers."""

    def each_target(self) -> Tensor:
        """All tokens but the first, each once: windows may overlap."""
        return self.stream[1:]

    def to(self, device: torch.device) -> "WindowSplit":
        """The stream on another device, and the windows as views of it there."""
        return WindowSplit(stream=self.stream.to(device), window=self.window, stride=self.stride)


def scored_once(stream: Tensor, window: int) -> Split:
    """Windows in which every token of a stream (L + 1,), but the first, is a target exactly once.

    They follow each other without a gap; the last one ends with the stream.
    """
    _check_length(stream, window)
    inputs, targets = (part.unfold(0, window, window) for part in (stream[:-1], stream[1:]))
    rest = (len(stream) - 1) % window
    if not rest:
        return Split(inputs=inputs, targets=targets)
    last = stream[-window:].clone()
    last[: window - rest] = IGNORED
    return Split(
        inputs=torch.cat((inputs, stream[None, -window - 1 : -1])),
        targets=torch.cat((targets, last[None])),
    )


def _check_length(stream: Tensor, window: int) -> None:
    check_positive("window", window)
    if len(stream) <= window:
        raise DataError(
            f"{len(stream)} tokens are too few for a window of {window} and the token after it"
        )
