"""The module that is exported: inputs as a user has them in, predictions as a user reads them out.

probabilities     of classes (B, C), of labels (B, C), of a mask (B, C, I, J), of tags (B, T, C), of
                  masked tokens (B, T, V), of spans to begin and to end there (B, T, 2)
values            reals in the units of the target (B, K)
logits            of the next tokens (B, T, V): decoding needs them as they are
"""

import torch
from torch import Tensor, nn

from netwright.core.outputs import Output, logits_of
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
        if self._is_decoded:
            return "logits"
        return "values" if self.spec.target == "real" else "probabilities"

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
        return self.predictions(self.model(encoded))

    def predictions(self, output: Tensor | Output) -> Tensor:
        """What a model gives of a batch, as it is written out."""
        return logits_of(output) if self._is_decoded else self.task.predictions(output)

    @property
    def _is_decoded(self) -> bool:
        """Whether tokens are said one after the other; masked ones are found all at once."""
        return self.spec.target == "tokens" and self.spec.inputs != "masked"
