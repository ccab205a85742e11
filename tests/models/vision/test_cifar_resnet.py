"""Residual networks for CIFAR-10: counts by the paper's formula, plain twins, small images."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.config import parse
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.models.model import Model
from netwright.models.vision.cifar_resnet import ResNet20, ResNet20Config
from netwright.testing.model_contract import MODEL_CHECKS, Build
from tests.repetition import for_each

COUNTS = {"resnet20": 269_722, "resnet32": 464_154, "resnet44": 658_586, "resnet56": 853_018}
BLOCKS = {"resnet20": 3, "resnet32": 5, "resnet44": 7, "resnet56": 9, "resnet110": 18}


def spec(*shape: int, outputs: int = 10) -> DataSpec:
    return DataSpec(inputs="image", input_shape=shape, target="class", num_outputs=outputs)


def on_meta(name: str, **settings: Any) -> Model:
    kind = MODELS.load(name)
    with torch.device("meta"):
        return kind.build(parse(kind.settings, settings), spec(3, 32, 32))


def small(*, residual: bool = True) -> Model:
    with seeded(0):
        model: Model = ResNet20.build(ResNet20Config(width=4, residual=residual), spec(3, 9, 7))
    return model


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


@for_each("name", BLOCKS)
def test_counts_are_those_of_6n_plus_2_layers_without_projections(name: str) -> None:
    n = BLOCKS[name]
    pairs = [(3, 16)] + [(16, 16)] * 2 * n
    pairs += [(16, 32)] + [(32, 32)] * (2 * n - 1) + [(32, 64)] + [(64, 64)] * (2 * n - 1)
    wanted = sum(9 * before * after + 2 * after for before, after in pairs) + 64 * 10 + 10
    assert len(pairs) + 1 == 6 * n + 2 == int(name.removeprefix("resnet"))
    assert count(on_meta(name)) == COUNTS.get(name, wanted) == wanted


@for_each("name", BLOCKS)
def test_the_plain_twin_has_the_same_parameters(name: str) -> None:
    shapes = {key: value.shape for key, value in on_meta(name).state_dict().items()}
    plain = on_meta(name, residual=False).state_dict()
    assert shapes == {key: value.shape for key, value in plain.items()}


def reference(model: Model, x: Tensor, *, residual: bool) -> Tensor:
    """The forward pass from its convolutions and norms in their order."""
    parts = [part for part in model.modules() if isinstance(part, nn.Conv2d | nn.BatchNorm2d)]
    x = functional.relu(parts[1](parts[0](x)))
    for place in range(2, len(parts), 4):
        first, first_norm, second, second_norm = parts[place : place + 4]
        out = second_norm(second(functional.relu(first_norm(first(x)))))
        if residual:
            kept = x if out.shape == x.shape else x[:, :, ::2, ::2]
            out = torch.cat((out[:, : kept.shape[1]] + kept, out[:, kept.shape[1] :]), dim=1)
        x = functional.relu(out)
    outputs: Tensor = model.get_submodule("fc")(x.flatten(2).mean(dim=2))
    return outputs


@pytest.mark.parametrize("residual", [True, False])
def test_the_forward_pass_is_that_of_the_paper(residual: bool) -> None:
    model = small(residual=residual).double().eval()
    x = torch.randn(2, 3, 9, 7, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    torch.testing.assert_close(model(x), reference(model, x, residual=residual))


@for_each("shape", [(1, 1, 1), (1, 8, 8), (3, 32, 32), (4, 17, 30)])
def test_images_of_any_size_and_number_of_channels_go_through(shape: tuple[int, ...]) -> None:
    model = ResNet20.build(ResNet20Config(width=2), spec(*shape, outputs=5))
    assert model(torch.randn(2, *shape)).shape == (2, 5)


@pytest.mark.slow
def test_learns_a_few_images_by_heart() -> None:
    model = small()
    numbers = torch.Generator().manual_seed(2)
    x, y = torch.randn(16, 3, 9, 7, generator=numbers), torch.arange(16) % 10
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(25):
        optimizer.zero_grad()
        torch.autograd.backward(functional.cross_entropy(model(x), y))
        optimizer.step()
    assert (model(x).argmax(dim=1) == y).all()


@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Build], None]) -> None:
    check(lambda: ResNet20.build(ResNet20Config(width=2), spec(2, 5, 6)))
