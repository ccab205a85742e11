"""The training that the rows of the MNIST table name, as a plain torch loop: the check on ours.

Shapes: N samples, each 784 numbers in [0, 1].
"""

import copy
import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from mnist import Pair
from torch import nn

OPTIMIZERS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}


def build_network(hidden: tuple[int, ...], dropout: float) -> nn.Sequential:
    """Linear, ReLU and dropout a hidden layer, then one linear map; no hidden layer is softmax."""
    layers: list[nn.Module] = []
    for before, after in pairwise((784, *hidden)):
        layers += [nn.Linear(before, after), nn.ReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*layers, nn.Linear((784, *hidden)[-1], 10))


def percent_wrong(network: nn.Module, data: Pair) -> float:
    network.eval()
    inputs, labels = data
    with torch.no_grad():
        return 100 * (network(inputs).argmax(1) != labels).float().mean().item()


def train_by_hand(
    settings: Mapping[str, Any], *, train: Pair, validation: Pair, seed: int
) -> tuple[nn.Module, float]:
    """Train with cosine decay; return the weights of the best validation error, and that error."""
    torch.manual_seed(seed)
    network = build_network(settings.get("hidden", ()), settings.get("dropout", 0.0))
    lr, epochs, batch_size = settings["lr"], settings["epochs"], settings["batch_size"]
    optimizer = OPTIMIZERS[settings["optimizer"]](
        network.parameters(), lr=lr, weight_decay=settings.get("weight_decay", 0.0), fused=True
    )
    inputs, labels = train
    steps = epochs * math.ceil(len(inputs) / batch_size)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: (1 + math.cos(math.pi * step / steps)) / 2
    )
    best, best_error = copy.deepcopy(network.state_dict()), math.inf
    for _ in range(epochs):
        network.train()
        for chosen in torch.randperm(len(inputs)).split(batch_size):
            loss = F.cross_entropy(network(inputs[chosen]), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        error = percent_wrong(network, validation)
        if error < best_error:
            best, best_error = copy.deepcopy(network.state_dict()), error
    network.load_state_dict(best)
    return network, best_error
