"""A model's forward pass by torch.compile."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from netwright.core.errors import RunError
from netwright.core.outputs import Output
from netwright.core.trees import Tree


def compiled(model: nn.Module) -> Callable[[Tree], Tensor | Output]:
    """The model's forward pass by torch.compile; the model itself stays as it is.

    Each size of batch has code of its own: one code for all sizes would take over after the first
    epoch's last batch, and a run that goes on from there might not compute the same bits.
    """
    run = torch.compile(model, dynamic=False)

    def forward(inputs: Tree) -> Tensor | Output:
        try:
            output: Tensor | Output = run(inputs)
        except torch._dynamo.exc.TorchDynamoException as error:
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise RunError(
                f"the model cannot be compiled: {reason}; set compile to false"
            ) from error
        return output

    return forward
