"""What every recurrent layer or stack is: a whole sequence at once, or one step after the other.

    outputs, state = layer(inputs)              all steps, for training
    output, state = layer.step(input, state)    one step, for generating

Both compute the same numbers. The state is a tree (tensors and tuples of them) with the batch first
in every tensor, so that rows can be picked, repeated and reordered without knowing the layer.

Shapes: B batch, T steps, D inputs, H outputs.
"""

from abc import ABC, abstractmethod
from typing import Any

from torch import Tensor, nn

State = Any  # a tree of tensors (B, ...); see netwright.core.trees


class Recurrence(nn.Module, ABC):
    """A map from sequences to sequences that reads from left to right and carries a state.

    Args:
        input_size: D.
        output_size: H.
    """

    def __init__(self, input_size: int, output_size: int) -> None:
        super().__init__()
        self.input_size, self.output_size = input_size, output_size

    @abstractmethod
    def start(self, batch: int) -> State:
        """The state before the first step, on the device and in the dtype of the weights."""

    @abstractmethod
    def forward(
        self, inputs: Tensor, state: State = None, lengths: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """All steps: (B, T, D) -> (B, T, H), and the state after the last one.

        Args:
            inputs: (B, T, D).
            state: where to begin; None is `start`.
            lengths: how many steps of each row count (B,); the state is that after the last of
                them, and outputs beyond are zero. None: all.
        """

    @abstractmethod
    def step(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """One step: (B, D) and a state -> (B, H) and the next state."""
