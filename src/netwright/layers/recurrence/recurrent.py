"""Recurrent layers, one above the other, in one direction or both.

    z_{t,l} = cell(z_{t,l-1}, z_{t-1,l}),   z_{t,0} = x_t

Two paths compute the same numbers from the same weights: torch's fused kernels where torch has the
cell, and a loop over its pure step (`fused = False`), to be read, taken apart and compared with.

Shapes: B batch, T steps, D inputs, H units, L layers times directions.
Source: Schuster and Paliwal (1997) for both directions; Graves (2013) for depth.
"""

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from netwright.core.errors import ConfigError
from netwright.core.evaluation import differentiable
from netwright.layers.recurrence.counted_steps import zero_beyond
from netwright.layers.recurrence.recurrence import Recurrence
from netwright.layers.recurrence.recurrent_cells import Cell, States, Weights
from netwright.layers.recurrence.unrolled import unroll


class RecurrentStack(Recurrence):
    """Layers of one kind of cell.

    A state is a tuple of tensors (B, L, H): for each layer forward, then backward where the stack
    is bidirectional. An LSTM has two, h and c; other cells one.

    Args:
        cell: what each layer computes a step.
        input_size: D.
        hidden: H, a direction; outputs are twice as wide in both directions.
        layers: how many lie one above the other.
        bidirectional: each layer also reads from the end, and both outputs are joined.
        dropout: share of outputs dropped between layers while training.
        fused: take torch's kernel where it has one.
    """

    def __init__(
        self,
        cell: Cell,
        input_size: int,
        hidden: int,
        layers: int = 1,
        *,
        bidirectional: bool = False,
        dropout: float = 0.0,
        fused: bool = True,
    ) -> None:
        directions = 2 if bidirectional else 1
        super().__init__(input_size, hidden * directions)
        self.cell, self.hidden, self.layers = cell, hidden, layers
        self.bidirectional, self.fused = bidirectional, fused
        self.dropout = dropout if layers > 1 else 0.0  # torch warns of a dropout that does nothing
        self.rnn: nn.Module = (
            _OwnWeights(cell, input_size, hidden, layers, directions)
            if cell.fused is None
            else cell.fused(
                input_size,
                hidden,
                layers,
                batch_first=True,
                bidirectional=bidirectional,
                dropout=self.dropout,
            )
        )

    def start(self, batch: int) -> States:
        """All zeros."""
        weight = next(self.rnn.parameters())
        shape = (batch, self.layers * (2 if self.bidirectional else 1), self.hidden)
        return tuple(weight.new_zeros(shape) for _ in range(self.cell.states))

    def weights(self, layer: int, *, backward: bool = False) -> Weights:
        """The weights of one layer and direction, by the names that `Cell.step` knows."""
        end = _end(layer, backward)
        return {
            name.removesuffix(end): weight
            for name, weight in self.rnn.named_parameters()
            if name.endswith(end)
        }

    def forward(
        self, inputs: Tensor, state: States | None = None, lengths: Tensor | None = None
    ) -> tuple[Tensor, States]:
        """All steps: (B, T, D) -> (B, T, H), and the state after the last; see `Recurrence`."""
        state = self.start(inputs.shape[0]) if state is None else state
        # A traced graph does not know the lengths, by which torch's kernels pack rows.
        packs = lengths is not None and torch.compiler.is_exporting()
        if self.fused and isinstance(self.rnn, nn.RNNBase) and not packs:
            if inputs.device.type == "cpu" and torch.is_autocast_enabled("cpu"):
                return _run_without_autocast(self.rnn, inputs, state, lengths)
            if torch.is_grad_enabled() and not self.rnn.training:  # a frozen part, or one looked at
                with differentiable(self.rnn):
                    return _run_fused(self.rnn, inputs, state, lengths)
            return _run_fused(self.rnn, inputs, state, lengths)
        return self._run_unrolled(inputs, state, lengths)

    def step(self, inputs: Tensor, state: States) -> tuple[Tensor, States]:
        """One step: (B, D) and a state -> (B, H) and the next state."""
        if self.bidirectional:
            raise ConfigError(
                "a bidirectional recurrence reads from both ends: it cannot be stepped"
            )
        outputs, state = self(inputs[:, None], state)
        return outputs[:, 0], state

    def _run_unrolled(
        self, outputs: Tensor, state: States, lengths: Tensor | None
    ) -> tuple[Tensor, States]:
        places = iter(zip(*(part.unbind(1) for part in state), strict=True))
        ends: list[States] = []
        for layer in range(self.layers):
            if layer:
                outputs = dropout(outputs, self.dropout, self.training)
            found = []
            for backward in (False, True) if self.bidirectional else (False,):
                step = partial(self.cell.step, weights=self.weights(layer, backward=backward))
                read, end = unroll(step, outputs, next(places), lengths, backward=backward)
                found.append(read)
                ends.append(end)
            outputs = torch.cat(found, dim=-1)
        return outputs, tuple(torch.stack(part, dim=1) for part in zip(*ends, strict=True))


class _OwnWeights(nn.Module):
    """The weights of a cell that torch lacks, under torch's names and drawn as torch draws."""

    def __init__(
        self, cell: Cell, input_size: int, hidden: int, layers: int, directions: int
    ) -> None:
        super().__init__()
        for layer in range(layers):
            for backward in range(directions):
                width = hidden * directions if layer else input_size
                for name, shape in cell.shapes(width, hidden).items():
                    weight = torch.empty(shape).uniform_(-(hidden**-0.5), hidden**-0.5)
                    self.register_parameter(
                        name + _end(layer, bool(backward)), nn.Parameter(weight)
                    )


def _end(layer: int, backward: bool) -> str:
    """How torch ends the names of this layer's and direction's weights."""
    return f"_l{layer}_reverse" if backward else f"_l{layer}"


def _run_without_autocast(
    rnn: nn.RNNBase, inputs: Tensor, state: States, lengths: Tensor | None
) -> tuple[Tensor, States]:
    """In the format of the weights: many CPUs lack what torch's LSTM needs for half formats."""
    wide = next(rnn.parameters()).dtype
    with torch.autocast("cpu", enabled=False):
        return _run_fused(rnn, inputs.to(wide), tuple(part.to(wide) for part in state), lengths)


def _run_fused(
    rnn: nn.RNNBase, inputs: Tensor, state: States, lengths: Tensor | None
) -> tuple[Tensor, States]:
    """All steps by torch's kernel, which has the layers of a state first and packs short rows."""
    first = tuple(part.transpose(0, 1).contiguous() for part in state)
    given = first if len(first) > 1 else first[0]
    if lengths is None:
        outputs, last = rnn(inputs, given)
    else:
        counts = lengths.cpu()
        # Torch packs no empty row: it is read as one step of zeros, of which nothing is kept.
        has_empty = bool((counts == 0).any())
        rows = pack_padded_sequence(
            zero_beyond(inputs, lengths) if has_empty else inputs,
            counts.clamp(min=1),
            batch_first=True,
            enforce_sorted=False,
        )
        packed, last = rnn(rows, given)
        outputs, _ = pad_packed_sequence(packed, batch_first=True, total_length=inputs.shape[1])
    end = tuple(part.transpose(0, 1) for part in (last if len(first) > 1 else (last,)))
    if lengths is None or not has_empty:
        return outputs, end
    counted = (lengths > 0)[:, None, None]
    return outputs.masked_fill(~counted, 0), tuple(
        torch.where(counted, now, was) for now, was in zip(end, state, strict=True)
    )
