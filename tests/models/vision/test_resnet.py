"""Residual networks: torchvision's names and counts, and a forward pass written a second time."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.config import parse
from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.models.mlp import MLP, MLPConfig
from netwright.models.model import Model
from netwright.models.vision.resnet import ResNet18, ResNet18Config, ResNet50
from netwright.testing.model_contract import MODEL_CHECKS, Build
from tests.models.vision.torchvision_resnet_layouts import (
    Layout,
    resnet18_layout,
    resnet50_layout,
)
from tests.repetition import for_each

COUNTS = {
    "resnet18": 11_689_512,
    "resnet34": 21_797_672,
    "resnet50": 25_557_032,
    "resnet101": 44_549_160,
    "resnet152": 60_192_808,
}


def spec(*shape: int, outputs: int = 3) -> DataSpec:
    return DataSpec(inputs="image", input_shape=shape, target="class", num_outputs=outputs)


def on_meta(name: str, **settings: Any) -> Model:
    """A network of full size that takes no memory."""
    kind = MODELS.load(name)
    with torch.device("meta"):
        return kind.build(parse(kind.settings, settings), spec(3, 224, 224, outputs=1000))


def small(name: str, *shape: int, **settings: Any) -> Model:
    kind = MODELS.load(name)
    with seeded(0):
        return kind.build(parse(kind.settings, {"width": 4, **settings}), spec(*shape))


def count(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def fall(model: nn.Module, x: Tensor, y: Tensor, steps: int) -> float:
    """The training loss after a few steps of Adam."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(steps):
        optimizer.zero_grad()
        torch.autograd.backward(functional.cross_entropy(model(x), y))
        optimizer.step()
    return functional.cross_entropy(model(x), y).item()


@pytest.mark.slow
@pytest.mark.covers("resnet")
def test_counts_are_the_published_ones_and_fifty_residual_layers_train_better_than_plain() -> None:
    for name, parameters in COUNTS.items():
        assert count(on_meta(name)) == parameters, name
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(64, 8, generator=numbers)
    y = (x[:, 0] * x[:, 1] > 0).long()
    data = DataSpec(inputs="features", input_shape=(8,), target="class", num_outputs=2)
    losses = {}
    for residual in (True, False):
        config = MLPConfig(hidden=(8,) * 49, activation="tanh", dropout=0.0, residual=residual)
        with seeded(0):
            losses[residual] = fall(MLP.build(config, data), x, y, 40)
    assert losses[True] < 0.5 < losses[False]


@pytest.mark.parametrize(
    ("name", "stored"), [("resnet18", resnet18_layout()), ("resnet50", resnet50_layout())]
)
def test_names_and_shapes_are_those_stored_which_stand_in_for_torchvision(
    name: str, stored: Layout
) -> None:
    ours = {key: tuple(value.shape) for key, value in on_meta(name).state_dict().items()}
    assert list(ours.items()) == list(stored.items())


def reference(state: Mapping[str, Tensor], x: Tensor, *, bottleneck: bool) -> Tensor:
    """The forward pass by the names of the weights alone, in eval mode, imagenet stem."""

    def step(x: Tensor, convolution: str, norm: str, stride: int = 1) -> Tensor:
        weight = state[f"{convolution}.weight"]
        mean, spread, scale, bias = (
            state[f"{norm}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")
        )
        x = functional.conv2d(x, weight, stride=stride, padding=weight.shape[-1] // 2)
        return functional.batch_norm(x, mean, spread, scale, bias)

    x = functional.max_pool2d(step(x, "conv1", "bn1", 2).relu(), 3, 2, 1)
    firsts = [name.removesuffix(".conv1.weight") for name in state if name.endswith("conv1.weight")]
    for block in firsts[1:]:  # the first of all is the stem
        stride = 2 if block.endswith(".0") and block != "layer1.0" else 1
        strides = (1, stride, 1) if bottleneck else (stride, 1)
        out = x
        for number, one in enumerate(strides, start=1):
            out = step(out, f"{block}.conv{number}", f"{block}.bn{number}", one)
            out = out.relu() if number < len(strides) else out
        if f"{block}.downsample.0.weight" in state:
            x = step(x, f"{block}.downsample.0", f"{block}.downsample.1", stride)
        x = (x + out).relu()
    return x.mean(dim=(2, 3)) @ state["fc.weight"].T + state["fc.bias"]


@pytest.mark.parametrize(("name", "bottleneck"), [("resnet18", False), ("resnet50", True)])
def test_the_forward_pass_is_the_one_that_the_names_tell(name: str, bottleneck: bool) -> None:
    model = small(name, 3, 33, 40).double()
    x = torch.randn(2, 3, 33, 40, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    model(x)  # running statistics leave their start
    with torch.no_grad():
        wanted = reference(model.eval().state_dict(), x, bottleneck=bottleneck)
        torch.testing.assert_close(model(x), wanted)


@pytest.mark.parametrize("name", ["resnet34", "resnet50"])
def test_the_plain_twin_has_the_same_convolutions_and_no_shortcuts(name: str) -> None:
    names = on_meta(name).state_dict().keys()
    plain = on_meta(name, residual=False).state_dict().keys()
    assert plain == {key for key in names if "downsample" not in key}


def test_kernels_keep_the_size_of_gradients() -> None:
    with seeded(0):
        model = ResNet18.build(ResNet18Config(width=32), spec(3, 32, 32))
    for part in model.modules():
        if isinstance(part, nn.Conv2d) and part.weight.numel() > 10_000:
            window = part.kernel_size[0] * part.kernel_size[1]
            wanted = (2 / (part.out_channels * window)) ** 0.5
            assert part.weight.std().item() == pytest.approx(wanted, rel=0.05)


@pytest.mark.parametrize(
    ("stem", "sizes"), [("imagenet", [32, 16, 8, 4]), ("small", [128, 64, 32, 16])]
)
def test_the_small_stem_keeps_the_resolution(stem: str, sizes: list[int]) -> None:
    model = small("resnet18", 1, 128, 128, stem=stem, width=1)
    seen: list[int] = []
    for number in range(1, 5):
        stage = model.get_submodule(f"layer{number}")
        stage.register_forward_hook(lambda _part, _given, out: seen.append(out.shape[-1]))
    model(torch.zeros(1, 1, 128, 128))
    assert seen == sizes


@for_each("stem", ["imagenet", "small"])
@for_each("shape", [(1, 1, 1), (2, 3, 5), (3, 28, 28), (4, 32, 17)])
def test_images_of_any_size_and_number_of_channels_go_through(
    stem: str, shape: tuple[int, ...]
) -> None:
    model = small("resnet18", *shape, stem=stem, width=2)
    assert model(torch.randn(2, *shape)).shape == (2, 3)


def test_an_unknown_stem_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^stem must be 'imagenet' or 'small', got 'tiny'$"):
        parse(ResNet18Config, {"stem": "tiny"})


@for_each("name", COUNTS)
def test_the_name_counts_the_layers_with_weights_outside_of_shortcuts(name: str) -> None:
    parts = on_meta(name, residual=False).modules()
    layers = sum(isinstance(part, nn.Conv2d | nn.Linear) for part in parts)
    assert name == f"resnet{layers}"


@for_each("kind", [ResNet18, ResNet50])
@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(kind: type[Model], check: Callable[[Build], None]) -> None:
    check(lambda: kind.build(parse(kind.settings, {"width": 2, "stem": "small"}), spec(2, 5, 6)))
