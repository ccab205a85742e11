"""AlexNet: torchvision's layout, the sizes of its maps, what it learns and what it refuses."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.inspection.inside.summary import measure_summary
from netwright.layers.initializers import initialize
from netwright.models.vision.alexnet import AlexNet, AlexNetConfig
from netwright.testing.model_contract import MODEL_CHECKS
from tests.models.vision.torchvision_layouts import alexnet_layout
from tests.repetition import for_each

TINY = AlexNetConfig(width=4, hidden=16)


def images(channels: int, rows: int, columns: int, classes: int) -> DataSpec:
    shape = (channels, rows, columns)
    return DataSpec(inputs="image", input_shape=shape, target="class", num_outputs=classes)


def on_meta(config: AlexNetConfig, spec: DataSpec) -> AlexNet:
    with torch.device("meta"):  # shapes alone: no memory is used
        return AlexNet.build(config, spec)


@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Any], None]) -> None:
    check(lambda: AlexNet.build(TINY, images(3, 63, 70, 5)))


def test_names_and_shapes_are_those_stored_of_torchvision() -> None:
    # It stands in for benchmarks/torchvision_parity.py: torchvision is not installed here.
    model = on_meta(AlexNetConfig(), images(3, 224, 224, 1000))
    found = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    assert list(found.items()) == list(alexnet_layout().items())
    assert sum(part.numel() for part in model.parameters()) == 61_100_840


@pytest.mark.parametrize("side", [224, 227])
def test_maps_shrink_from_the_image_to_a_grid_of_six(side: int) -> None:
    model, sides = on_meta(AlexNetConfig(), images(3, side, side, 1000)), []
    x = torch.empty(2, 3, side, side, device="meta")
    for layer in model.features:
        x = layer(x)
        sides.append(x.shape[-1])
    first = 55 if side == 224 else 56  # with padding by 2; unpadded 227 gives 55 as well
    assert sides == [first, first, 27, 27, 27, *([13] * 7), 6]
    assert model.avgpool(x).flatten(1).shape == (2, 9216)
    assert model(torch.empty(2, 3, side, side, device="meta")).shape == (2, 1000)


@pytest.mark.slow
@pytest.mark.covers("alexnet")
def test_scaled_down_it_learns_32_images_by_heart() -> None:
    full = on_meta(AlexNetConfig(), images(3, 224, 224, 1000))
    kinds = [type(part) for part in full.modules()]
    assert (kinds.count(nn.Conv2d), kinds.count(nn.Linear)) == (5, 3)
    assert sum(part.numel() for part in full.parameters()) == 61_100_840
    assert full(torch.empty(1, 3, 224, 224, device="meta")).shape == (1, 1000)
    numbers = torch.Generator().manual_seed(0)
    inputs = torch.randn(32, 3, 63, 63, generator=numbers)
    targets = torch.randint(4, (32,), generator=numbers)
    with seeded(0):
        small = AlexNetConfig(width=4, hidden=32, dropout=0.0)
        model = AlexNet.build(small, images(3, 63, 63, 4))
        initialize(model, "he-normal")  # torch's own weights are too small for so few channels
        optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
        for _ in range(50):
            optimizer.zero_grad()
            torch.autograd.backward(nn.functional.cross_entropy(model(inputs), targets))
            optimizer.step()
    assert bool((model.eval()(inputs).argmax(dim=1) == targets).all())


def test_dropout_comes_before_the_first_two_dense_layers() -> None:
    kinds = [type(part).__name__ for part in AlexNet.build(TINY, images(1, 63, 63, 2)).classifier]
    assert kinds == ["Dropout", "Linear", "ReLU", "Dropout", "Linear", "ReLU", "Linear"]


def test_63_rows_are_the_fewest() -> None:
    assert AlexNet.build(TINY, images(1, 63, 63, 2))(torch.zeros(2, 1, 63, 63)).shape == (2, 2)
    sentence = (
        "^alexnet shrinks an image by a stride and three poolings: it must be at least 63 x 63,"
        " got 62 x 90$"
    )
    with pytest.raises(ConfigError, match=sentence):
        AlexNet.build(TINY, images(1, 62, 90, 2))
    with pytest.raises(RuntimeError, match="too small"):
        AlexNet(TINY, images(1, 62, 62, 2))(torch.zeros(2, 1, 62, 62))


@pytest.mark.covers("alexnet-training-cost")
def test_ninety_epochs_of_imagenet_take_half_an_exaflop() -> None:
    model = AlexNet.build(AlexNetConfig(), images(3, 224, 224, 1000))
    forward = measure_summary(model, torch.zeros(1, 3, 224, 224)).flops
    assert forward == pytest.approx(1.4e9, rel=0.03)  # the round number of the estimate
    training = 3 * forward * 1.2e6 * 90  # the backward pass costs two forward ones
    assert training == pytest.approx(3 * 1.4e9 * 1.2e6 * 90, rel=0.03)
    # Six days for it are a rate that two GPUs of 2012 of 1.6 TFLOP/s each could give.
    assert 0.2 < training / (6 * 86_400) / (2 * 1.58e12) < 0.5
