"""What a trained model says of its validation rows, read in parts: all may not fit the memory."""

import torch
from torch import Tensor, nn

from netwright.core.devices import device_of
from netwright.core.trees import move
from netwright.data.dataset import Split
from netwright.train.evaluate import predict
from netwright.train.tasks.task import Task

ROWS_AT_ONCE = 1024


def validation_answers(model: nn.Module, val: Split, task: Task) -> Tensor:
    """Probabilities (N, C) of rows that are on the model's device."""
    rows = torch.arange(len(val), device=val.targets.device)
    return torch.cat(
        [
            predict(model, move(val.read(part), device_of(model)), task)
            for part in torch.split(rows, ROWS_AT_ONCE)
        ]
    )
