"""A deep recurrence that trains: blocks around a shortcut, each a recurrence and a gate after it.

    block    x + dropout(glu(W silu(recurrence(norm(x)))))
    stack    norm(block(... block(M x)))

The recurrence mixes steps and, being linear in its state, cannot bend it; the gate mixes features
within a step and brings the nonlinearity. The shortcut lets gradients reach every block.

Shapes: B batch, T steps, D inputs, H features of the stack.
Source: Orvieto et al., "Resurrecting Recurrent Neural Networks for Long Sequences" (2023),
figure 1, with SiLU in the place of GELU, whose gradient takes several times as long on a CPU;
Dauphin et al., "Language Modeling with Gated Convolutional Networks" (2017), for the gate.
"""

from collections.abc import Sequence
from typing import cast

from torch import Tensor, nn
from torch.nn import functional

from netwright.layers.recurrence.counted_steps import zero_beyond
from netwright.layers.recurrence.recurrence import Recurrence, State


class ResidualRecurrence(Recurrence):
    """One block; outputs are as wide as inputs.

    Args:
        recurrence: H features to H.
        dropout: share of what the block adds that is dropped while training.
    """

    def __init__(self, recurrence: Recurrence, *, dropout: float = 0.0) -> None:
        size = recurrence.input_size
        super().__init__(size, recurrence.output_size)
        self.norm = nn.LayerNorm(size)
        self.recurrence = recurrence
        self.gate = nn.Linear(recurrence.output_size, 2 * size)
        self.dropout = nn.Dropout(dropout)

    def start(self, batch: int) -> State:
        """That of the recurrence."""
        return self.recurrence.start(batch)

    def forward(
        self, inputs: Tensor, state: State = None, lengths: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """(B, T, H) -> (B, T, H), and the state after the last step that counts."""
        if lengths is not None:
            inputs = zero_beyond(inputs, lengths)
        hidden, state = self.recurrence(self.norm(inputs), state, lengths)
        return inputs + self._added(hidden), state

    def step(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """(B, H) and a state -> (B, H) and the next state."""
        hidden, state = self.recurrence.step(self.norm(inputs), state)
        return inputs + self._added(hidden), state

    def _added(self, hidden: Tensor) -> Tensor:
        gated = functional.glu(self.gate(functional.silu(hidden)), dim=-1)
        added: Tensor = self.dropout(gated)
        return added


class RecurrenceStack(Recurrence):
    """Blocks on top of each other, all H wide; the state is a tuple with one entry a block.

    Args:
        input_size: D; where it is not H, a linear map leads there.
        blocks: from the lowest to the highest, at least one.
    """

    def __init__(self, input_size: int, blocks: Sequence[ResidualRecurrence]) -> None:
        size = blocks[0].input_size
        super().__init__(input_size, output_size=size)
        self.widen: nn.Module = nn.Identity() if input_size == size else nn.Linear(input_size, size)
        self.blocks = cast("Sequence[ResidualRecurrence]", nn.ModuleList(blocks))
        self.norm = nn.LayerNorm(size)

    def start(self, batch: int) -> State:
        """One state a block."""
        return tuple(block.start(batch) for block in self.blocks)

    def forward(
        self, inputs: Tensor, state: State = None, lengths: Tensor | None = None
    ) -> tuple[Tensor, State]:
        """(B, T, D) -> (B, T, H), and the states after the last step that counts."""
        if lengths is not None:
            inputs = zero_beyond(inputs, lengths)
        hidden = self.widen(inputs)
        before = (None,) * len(self.blocks) if state is None else state
        after = []
        for block, own in zip(self.blocks, before, strict=True):
            hidden, own_after = block(hidden, own, lengths)
            after.append(own_after)
        outputs = self.norm(hidden)
        return outputs if lengths is None else zero_beyond(outputs, lengths), tuple(after)

    def step(self, inputs: Tensor, state: State) -> tuple[Tensor, State]:
        """(B, D) and the states -> (B, H) and the next states."""
        hidden = self.widen(inputs)
        after = []
        for block, own in zip(self.blocks, state, strict=True):
            hidden, own_after = block.step(hidden, own)
            after.append(own_after)
        outputs: Tensor = self.norm(hidden)
        return outputs, tuple(after)
