"""How a recurrent stack starts, so that it remembers before it has learned to.

Shapes: H units.
Source: Le, Jaitly and Hinton, "A simple way to initialize recurrent networks of rectified linear
units" (2015); Gers, Schmidhuber and Cummins (2000) and Jozefowicz, Zaremba and Sutskever (2015) for
the forget gate.
"""

from collections.abc import Iterator

import torch
from torch import nn

from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import Weights


@torch.no_grad()
def start_as_identity(stack: RecurrentStack) -> None:
    """Each unit takes over its own last value: U = 1, b = 0; of ReLU units this is the IRNN."""
    for weights in _layers(stack):
        nn.init.eye_(weights["weight_hh"])
        weights["bias_ih"].zero_()
        weights["bias_hh"].zero_()


@torch.no_grad()
def start_remembering(stack: RecurrentStack) -> None:
    """The forget gates of an LSTM start with a bias of 1: they keep 73 % of the cell a step."""
    forget = slice(stack.hidden, 2 * stack.hidden)
    for weights in _layers(stack):
        weights["bias_ih"][forget] = 1.0
        weights["bias_hh"][forget] = 0.0


def _layers(stack: RecurrentStack) -> Iterator[Weights]:
    for layer in range(stack.layers):
        for backward in (False, True) if stack.bidirectional else (False,):
            yield stack.weights(layer, backward=backward)
