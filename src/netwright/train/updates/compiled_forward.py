"""A model's forward pass by torch.compile."""

import torch

from netwright.core.errors import RunError
from netwright.core.trees import Tree
from netwright.train.tasks.forward_pass import Forward, ModelOutput


def compiled(model: Forward) -> Forward:
    """The model's forward pass by torch.compile; the model itself stays as it is.

    Each size of batch has code of its own: one code for all sizes would take over after the first
    epoch's last batch, and a run that goes on from there might not compute the same bits.
    """
    run = torch.compile(model, dynamic=False)

    def forward(inputs: Tree) -> ModelOutput:
        try:
            output: ModelOutput = run(inputs)
        except torch._dynamo.exc.TorchDynamoException as error:
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise RunError(
                f"the model cannot be compiled: {reason}; set compile to false"
            ) from error
        return output

    return forward
