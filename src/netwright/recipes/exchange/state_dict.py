"""The weights alone: `model.safetensors`, by the names that they have in the model.

Models for images have torchvision's names, so torchvision reads the file as it is:

    resnet18(num_classes=10).load_state_dict(safetensors.torch.load_file("model.safetensors"))
"""

from copy import deepcopy
from pathlib import Path
from typing import ClassVar

import torch

from netwright.core.files.inside import open_folder
from netwright.core.files.open_tensors import read_tensors
from netwright.core.files.storage import Staging
from netwright.core.files.tensor_content import TensorContent
from netwright.recipes.exchange.export_format import ExportFormat, ExportSource, Reopened
from netwright.recipes.exchange.predictor import Predictor

FILE = "model.safetensors"


class StateDict(ExportFormat):
    """Weights and buffers as safetensors."""

    sentence: ClassVar[str] = "the weights by name (safetensors), for torch code of your own"

    def write(self, source: ExportSource, staging: Staging) -> None:
        """The state_dict of the model."""
        staging.write(FILE, TensorContent(source.model.state_dict()))

    def reopen(self, source: ExportSource, folder: Path) -> Reopened:
        """An emptied copy of the model with the weights of the file."""
        model = deepcopy(source.model)
        with torch.no_grad():
            for weight in model.state_dict().values():
                weight.zero_()
        with open_folder(folder) as here, here.read(FILE) as file:
            model.load_state_dict(read_tensors(file, folder / FILE))
        return Predictor(model, source.predictor.task, source.spec, None).of_run
