"""VGG: torchvision's layout, parameters counted, why 3 x 3, and what it refuses."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.models.vision.vgg import VGG, VGG11, VGG13, VGG16, VGG19, VGG11Config, VGG16Config
from netwright.testing.model_contract import MODEL_CHECKS
from tests.models.vision.torchvision_layouts import Layout, vgg16_bn_layout, vgg16_layout
from tests.repetition import for_each

TINY = VGG11Config(width=4, hidden=16)
FAMILY = {"vgg11": VGG11, "vgg13": VGG13, "vgg16": VGG16, "vgg19": VGG19}


def images(channels: int, rows: int, columns: int, classes: int) -> DataSpec:
    shape = (channels, rows, columns)
    return DataSpec(inputs="image", input_shape=shape, target="class", num_outputs=classes)


def on_meta(model: Any, **settings: Any) -> VGG:
    with torch.device("meta"):  # shapes alone: no memory is used
        built: VGG = model.build(model.settings(**settings), images(3, 224, 224, 1000))
    return built


def size_of(model: nn.Module) -> int:
    return sum(part.numel() for part in model.parameters())


@for_each("batch_norm", [False, True])
@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Any], None], batch_norm: bool) -> None:
    config = VGG11Config(width=4, hidden=16, batch_norm=batch_norm)
    check(lambda: VGG11.build(config, images(2, 32, 40, 5)))


@pytest.mark.parametrize(
    ("batch_norm", "layout"), [(False, vgg16_layout()), (True, vgg16_bn_layout())]
)
def test_names_and_shapes_are_those_stored_of_torchvision(batch_norm: bool, layout: Layout) -> None:
    # It stands in for benchmarks/torchvision_parity.py: torchvision is not installed here.
    model = on_meta(VGG16, batch_norm=batch_norm)
    found = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    assert list(found.items()) == list(layout.items())


@for_each(
    ("name", "count"),
    [
        ("vgg11", 132_863_336),
        ("vgg13", 133_047_848),
        ("vgg16", 138_357_544),
        ("vgg19", 143_667_240),
    ],
)
def test_parameters_are_counted_as_in_the_paper(name: str, count: int) -> None:
    assert MODELS.load(name) is FAMILY[name]
    model = on_meta(FAMILY[name])
    assert size_of(model) == count
    weighted = [part for part in model.modules() if isinstance(part, nn.Conv2d | nn.Linear)]
    assert len(weighted) == int(name.removeprefix("vgg"))
    assert model(torch.empty(2, 3, 224, 224, device="meta")).shape == (2, 1000)


@pytest.mark.covers("vgg")
def test_three_small_filters_see_as_far_as_a_large_one_with_fewer_weights() -> None:
    assert (size_of(on_meta(VGG16)), size_of(on_meta(VGG19))) == (138_357_544, 143_667_240)
    last_stage = nn.Sequential(*list(on_meta(VGG16).features)[24:30])
    channels = 512
    small = sum(part.weight.numel() for part in last_stage if isinstance(part, nn.Conv2d))
    large = nn.Conv2d(channels, channels, 7, device="meta").weight.numel()
    assert (small, large) == (27 * channels**2, 49 * channels**2)
    stack = nn.Sequential(*(nn.Conv2d(1, 1, 3, padding=1, bias=False) for _ in range(3)))
    for part in stack.parameters():
        nn.init.ones_(part)
    image = torch.zeros(1, 1, 15, 15, requires_grad=True)
    (seen,) = torch.autograd.grad(stack(image)[0, 0, 7, 7], image)
    window = range(4, 11)  # 7 rows and columns
    assert seen[0, 0].nonzero().tolist() == [[row, column] for row in window for column in window]


def test_weights_start_as_in_torchvision() -> None:
    with seeded(0):
        model = VGG16.build(VGG16Config(width=16, hidden=256), images(3, 32, 32, 10))
    for part in model.modules():
        if isinstance(part, nn.Conv2d):
            spread = math.sqrt(2 / (9 * part.out_channels))  # what goes out, not what comes in
            assert float(part.weight.detach().std()) == pytest.approx(spread, rel=0.15)
        if isinstance(part, nn.Linear):
            assert float(part.weight.detach().std()) == pytest.approx(0.01, rel=0.1)
        if isinstance(part, nn.Conv2d | nn.Linear):
            assert part.bias is not None
            assert not bool(part.bias.any())


def test_dropout_comes_before_the_last_two_dense_layers() -> None:
    kinds = [type(part).__name__ for part in VGG11.build(TINY, images(1, 32, 32, 2)).classifier]
    assert kinds == ["Linear", "ReLU", "Dropout", "Linear", "ReLU", "Dropout", "Linear"]


@for_each("name", FAMILY)
def test_smaller_images_than_32_are_refused_by_name(name: str) -> None:
    sentence = f"^{name} halves an image five times: it must be at least 32 x 32, got 28 x 28$"
    model: Any = FAMILY[name]
    with pytest.raises(ConfigError, match=sentence):
        model.build(model.settings(), images(1, 28, 28, 10))
