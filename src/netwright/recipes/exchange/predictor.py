"""The module that is exported: inputs as a user has them in, predictions as a user reads them out.

probabilities     of classes (B, C), of labels (B, C), of a mask (B, C, I, J), of tags (B, T, C)
values            reals in the units of the target (B, K)
logits            of the next tokens (B, T, V): decoding needs them as they are
"""

import torch
from torch import Tensor, nn

from netwright.core.outputs import logits_of
from netwright.core.trees import Tree
from netwright.data.spec import DataSpec
from netwright.recipes.exchange.input_scaling import InputScaling
from netwright.train.tasks.task import Task


class Predictor(nn.Module):
    """A trained model with the scaling before it and the predictions after it.

    Args:
        model: at rest, on the CPU.
        task: makes predictions of outputs.
        spec: of the data.
        scaling: of raw inputs; None: inputs come encoded.
    """

    def __init__(
        self, model: nn.Module, task: Task, spec: DataSpec, scaling: InputScaling | None
    ) -> None:
        super().__init__()
        self.model, self.scaling, self.task, self.spec = model, scaling, task, spec

    @property
    def output_name(self) -> str:
        """What the outputs are called in the files."""
        names = {"tokens": "logits", "real": "values"}
        return names.get(self.spec.target, "probabilities")

    def forward(self, inputs: Tensor) -> Tensor:
        """Inputs (B, ...), raw where there is a scaling -> predictions, or logits of tokens."""
        return self._predicted(inputs if self.scaling is None else self.scaling(inputs))

    def raw(self, encoded: Tree) -> Tree:
        """What `forward` takes in the place of encoded inputs."""
        return encoded if self.scaling is None else self.scaling.undo(encoded)

    @torch.no_grad()
    def of_run(self, encoded: Tree) -> Tensor:
        """What the run itself says of encoded inputs."""
        return self._predicted(encoded)

    def _predicted(self, encoded: Tree) -> Tensor:
        output = self.model(encoded)
        return logits_of(output) if self.spec.target == "tokens" else self.task.predictions(output)
