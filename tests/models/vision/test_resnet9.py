"""ResNet-9: its forward pass written a second time, its count, and what it refuses."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.config import Config
from netwright.core.errors import ConfigError
from netwright.core.seeding import generator, seeded
from netwright.data.spec import DataSpec
from netwright.models.model import Model
from netwright.models.vision.cnn import CNN, CNNConfig
from netwright.models.vision.resnet9 import ResNet9, ResNet9Config
from netwright.testing.model_contract import MODEL_CHECKS, Build
from tests.repetition import for_each


def spec(*shape: int, outputs: int = 10) -> DataSpec:
    return DataSpec(inputs="image", input_shape=shape, target="class", num_outputs=outputs)


def small(*shape: int, scale: float = 0.125) -> ResNet9:
    with seeded(0):
        return ResNet9.build(ResNet9Config(width=4, scale=scale), spec(*shape))


def images(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


def test_count_is_that_of_eight_convolutions_and_a_map_without_bias() -> None:
    with torch.device("meta"):
        model = ResNet9.build(ResNet9Config(), spec(3, 32, 32))
    pairs = [(3, 64), (64, 128), (128, 128), (128, 128), (128, 256), (256, 512)]
    pairs += [(512, 512), (512, 512)]
    wanted = sum(9 * before * after + 2 * after for before, after in pairs) + 512 * 10
    assert sum(parameter.numel() for parameter in model.parameters()) == wanted == 6_573_120


def test_the_forward_pass_is_that_of_the_description() -> None:
    model, x = small(3, 19, 16).double(), images(2, 3, 19, 16).double()  # batch norm at work
    parts = [part for part in model.modules() if isinstance(part, nn.Conv2d | nn.BatchNorm2d)]

    def step(x: Tensor, place: int, *, halve: bool = False) -> Tensor:
        convolution, norm = parts[2 * place : 2 * place + 2]
        x = convolution(x)
        return functional.relu(norm(functional.max_pool2d(x, 2) if halve else x))

    out = step(step(x, 0), 1, halve=True)
    out = out + step(step(out, 2), 3)
    out = step(step(out, 4, halve=True), 5, halve=True)
    out = out + step(step(out, 6), 7)
    logits = out.flatten(2).max(dim=2).values @ model.head.weight.T / 8
    torch.testing.assert_close(model(x), logits)


def test_the_scale_multiplies_the_outputs() -> None:
    x = images(2, 1, 8, 8)
    torch.testing.assert_close(4 * small(1, 8, 8)(x), small(1, 8, 8, scale=0.5)(x))


def test_an_image_that_cannot_be_halved_three_times_is_refused() -> None:
    sentence = r"^resnet9 halves an image three times: it must be at least 8 x 8, got 7 x 20$"
    with pytest.raises(ConfigError, match=sentence):
        small(3, 7, 20)


def test_works_in_half_precision_with_channels_last() -> None:
    model = small(3, 16, 16)
    x = images(4, 3, 16, 16).to(memory_format=torch.channels_last)
    with torch.autocast("cpu", torch.bfloat16):
        inside = model.layer3(model.layer2(model.layer1(model.prep(x))))
        outputs = model(x)
    assert inside.is_contiguous(memory_format=torch.channels_last)
    assert outputs.dtype == inside.dtype == torch.bfloat16
    torch.testing.assert_close(outputs.float(), model(x), rtol=0.1, atol=0.05)


@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Build], None]) -> None:
    check(lambda: ResNet9.build(ResNet9Config(width=2), spec(2, 8, 9)))


ANGLES = 6  # classes of textures


def textures(count: int, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Waves of one of six directions, of any phase, length and colour, under noise; 3 x 32 x 32."""
    phases, lengths = torch.rand(2, count, 1, 1, generator=rng)
    colours = torch.rand(count, 3, 1, 1, generator=rng)
    classes = torch.randint(ANGLES, (count,), generator=rng)
    angles, places = (classes * math.pi / ANGLES)[:, None, None], torch.arange(32.0)
    along = places[:, None] * angles.cos() + places * angles.sin()
    waves = torch.sin((0.9 + 0.5 * lengths) * along + 2 * math.pi * phases)
    noise = torch.randn(count, 3, 32, 32, generator=rng)
    return waves[:, None] * colours + 0.5 * noise, classes


def validation_accuracy(kind: type[Model], config: Config) -> float:
    """Of a network after four epochs."""
    rng = generator(0, "textures")
    (images, classes), (new, told) = textures(240, rng), textures(300, rng)
    with seeded(0):
        model = kind.build(config, spec(3, 32, 32, outputs=ANGLES))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(4):
        for rows in torch.randperm(len(images), generator=rng).reshape(-1, 30):
            optimizer.zero_grad()
            functional.cross_entropy(model(images[rows]), classes[rows]).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    with torch.no_grad():
        said: Tensor = model.eval()(new).argmax(dim=1)
    return (said == told).float().mean().item()


@pytest.mark.slow
@pytest.mark.covers("cifar10-resnet-result")
def test_skips_and_batch_norm_learn_textures_better_than_four_plain_convolutions() -> None:
    four = CNNConfig(channels=(8, 16, 16, 32), hidden=(), dropout=0.0)
    plain = validation_accuracy(CNN, four)
    assert validation_accuracy(ResNet9, ResNet9Config(width=4)) > plain + 0.1
    assert plain > 1.5 / ANGLES  # it has learned something
