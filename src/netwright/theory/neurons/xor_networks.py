"""Networks for exclusive or: one that is written down, and many that learn it side by side.

Shapes: 4 rows of the truth table, H hidden units, S networks.
Source: Goodfellow, Bengio and Courville, "Deep Learning" (2016), section 6.1.
"""

import torch
from torch import Tensor, nn

from netwright.core.seeding import derive_seed, seeded
from netwright.data.spec import DataSpec, TargetKind
from netwright.models.mlp import MLP, MLPConfig

CORNERS = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
XOR = torch.tensor([0.0, 1.0, 1.0, 0.0], dtype=torch.float64)
OR = torch.tensor([0.0, 1.0, 1.0, 1.0], dtype=torch.float64)


def spec(target: TargetKind, outputs: int) -> DataSpec:
    """Two features, and what is predicted from them."""
    return DataSpec(inputs="features", input_shape=(2,), target=target, num_outputs=outputs)


def affine_maps(model: MLP) -> list[nn.Linear]:
    """Its two affine maps: to the hidden units, and to the output."""
    return [layer for layer in model.modules() if isinstance(layer, nn.Linear)]


def two_unit_network(activation: str) -> MLP:
    """1 - 2 phi(x1 + x2 - 3/2) - 2 phi(1/2 - x1 - x2)."""
    config = MLPConfig(hidden=(2,), activation=activation, dropout=0.0)
    model = MLP.build(config, spec("real", 1)).double().eval()
    first, second = affine_maps(model)
    with torch.no_grad():
        first.weight.copy_(torch.tensor([[1.0, 1.0], [-1.0, -1.0]]))
        first.bias.copy_(torch.tensor([-1.5, 0.5]))
        second.weight.fill_(-2.0)
        second.bias.fill_(1.0)
    return model


def trained_answers(models: list[MLP], lr: float, steps: int) -> Tensor:
    """The logits (S, 4) of networks of one hidden layer, trained side by side by descent.

    They learn the cross-entropy on rows of -1 and +1, as standardised data has them; the slopes
    are written out, so that forty networks take the time of one.
    """
    x = (2 * CORNERS - 1).float()
    layers = [affine_maps(model) for model in models]
    w = torch.stack([first.weight.detach() for first, _ in layers])  # (S, H, 2)
    b = torch.stack([first.bias.detach() for first, _ in layers])[:, None]  # (S, 1, H)
    v = torch.stack([second.weight.detach() for _, second in layers])  # (S, 1, H)
    c = torch.stack([second.bias.detach() for _, second in layers])[:, None]  # (S, 1, 1)
    logits = torch.zeros(len(models), 4, 1)
    for _ in range(steps):
        hidden = (x @ w.mT + b).relu()  # (S, 4, H)
        logits = hidden @ v.mT + c  # (S, 4, 1)
        slope = (logits.sigmoid() - XOR[:, None].float()) / len(x)
        back = slope * v * (hidden > 0)  # (S, 4, H)
        v = v - lr * slope.mT @ hidden
        c = c - lr * slope.sum(dim=1, keepdim=True)
        w = w - lr * back.mT @ x
        b = b - lr * back.sum(dim=1, keepdim=True)
    return logits[..., 0]


def random_networks(width: int, count: int, seed: int) -> list[MLP]:
    """Networks of one hidden ReLU layer with torch's own first weights."""
    config = MLPConfig(hidden=(width,), dropout=0.0)
    with seeded(derive_seed(seed, "networks", width)):
        return [MLP.build(config, spec("labels", 1)) for _ in range(count)]


def near_solution(model: MLP) -> MLP:
    """The network with its first two units moved next to a solution for rows of -1 and +1."""
    first, second = affine_maps(model)
    with torch.no_grad():
        first.weight[:2] = 0.9 * torch.tensor([[1.0, -1.0], [-1.0, 1.0]])
        first.bias[:2] = 0.1
        second.weight[:, :2] = 1.0
        second.bias.fill_(-0.5)
    return model
