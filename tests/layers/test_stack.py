"""Which networks are known as a stack of layers, and which are not."""

from collections.abc import Sequence
from typing import cast

import pytest
import torch
from torch import Tensor, nn

from netwright.data.spec import DataSpec
from netwright.layers.stack import layers_in_order
from netwright.models.linear.classification import SoftmaxRegression, SoftmaxRegressionConfig
from netwright.models.linear.regression import (
    ClosedForm,
    LinearRegression,
    LinearRegressionConfig,
)
from netwright.models.mlp import MLP, MLPConfig

IMAGES = DataSpec(inputs="image", input_shape=(1, 2, 3), target="class", num_outputs=4)
TABLE = DataSpec(
    inputs="features", input_shape=(3,), target="class", num_outputs=2, feature_levels=(0, 0, 5)
)


class Doubled(MLP):
    """A network of somebody's own, which does more."""

    def forward(self, x: Tensor) -> Tensor:
        return 2 * super().forward(x)


class Attribute(nn.Module):
    """A network whose layers happen to be called a stack."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = nn.Sequential(nn.Linear(2, 1))

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.stack(x))


class Method(nn.Module):
    """One with a method of that name, which means something else."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 1)

    def stack(self) -> list[nn.Module]:
        return [self.first, self.second]

    def forward(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.second(x + self.first(x)))


def kinds(layers: Sequence[nn.Module] | None) -> list[str] | None:
    return None if layers is None else [type(layer).__name__ for layer in layers]


def test_containers_are_opened_in_order() -> None:
    inner = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU(), nn.Dropout(0.1)))
    network = nn.Sequential(inner, nn.Linear(3, 1))
    assert kinds(layers_in_order(network)) == ["Linear", "ReLU", "Dropout", "Linear"]


@pytest.mark.parametrize(
    "network",
    [
        MLP(MLPConfig(hidden=(5, 3), dropout=0.1), IMAGES),
        MLP(MLPConfig(hidden=(), activation="tanh"), IMAGES),
        SoftmaxRegression(SoftmaxRegressionConfig(), IMAGES),
        LinearRegression(LinearRegressionConfig(), IMAGES),
    ],
    ids=["mlp", "no-hidden-layer", "softmax-regression", "linear-regression"],
)
def test_layers_of_a_model_called_one_by_one_give_what_it_gives(network: nn.Module) -> None:
    network.eval()
    layers = layers_in_order(network)
    assert layers is not None
    inputs = torch.randn(6, 1, 2, 3, generator=torch.Generator().manual_seed(0))
    x = inputs
    for layer in layers:
        x = layer(x)
    assert torch.equal(x, cast(Tensor, network(inputs)))
    assert sum(w.numel() for layer in layers for w in layer.parameters()) == sum(
        w.numel() for w in network.parameters()
    )


def test_a_model_that_does_more_is_no_stack() -> None:
    own = nn.Sequential(nn.Linear(2, 1))
    own.forward = lambda x: own[0](x) + 1  # type: ignore[method-assign]
    others = [
        nn.Linear(2, 1),
        Attribute(),
        Method(),
        cast(nn.Module, torch.compile(MLP(MLPConfig(), IMAGES), backend="eager")),
        own,
        Doubled(MLPConfig(), IMAGES),
        MLP(MLPConfig(), TABLE),
        ClosedForm(LinearRegressionConfig(), IMAGES),
    ]
    assert [layers_in_order(network) for network in others] == [None] * len(others)
