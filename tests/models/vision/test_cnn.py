"""The plain CNN: sizes by hand, features built by hand, images of any size, shapes and digits."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.models.mlp import MLP, MLPConfig
from netwright.models.model import Model
from netwright.models.vision.cnn import CNN, CNNConfig
from netwright.testing.model_contract import MODEL_CHECKS
from tests.repetition import for_each


def images(*shape: int, classes: int = 10) -> DataSpec:
    return DataSpec(inputs="image", input_shape=shape, target="class", num_outputs=classes)


def size_of(model: nn.Module) -> int:
    return sum(part.numel() for part in model.parameters())


@for_each(
    "config",
    [
        CNNConfig(channels=(4, 6), hidden=(8,)),
        CNNConfig(channels=(4, 6), hidden=(), pooling="average", batch_norm=True, kernel=5),
        CNNConfig(channels=(4,), hidden=(8, 8), global_pool=True, pool=3, initializer="he-normal"),
    ],
    ids=["plain", "normalised", "global"],
)
@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Any], None], config: CNNConfig) -> None:
    check(lambda: CNN.build(config, images(2, 9, 11)))


def test_parameters_are_counted_by_hand() -> None:
    model = CNN.build(CNNConfig(), images(1, 28, 28))
    convolutions = (9 * 1 * 32 + 32) + (9 * 32 * 64 + 64)
    assert size_of(model) == convolutions + (64 * 7 * 7 * 128 + 128) + (128 * 10 + 10) == 421_642
    pooled = CNN.build(CNNConfig(global_pool=True), images(1, 28, 28))
    assert size_of(pooled) == convolutions + (64 * 128 + 128) + (128 * 10 + 10)
    assert model.features(torch.zeros(2, 1, 28, 28)).shape == (2, 64, 7, 7)


@pytest.mark.covers("cnn-variable-size")
def test_global_pooling_reads_images_of_any_size_and_flattened_maps_do_not() -> None:
    pooled = CNN.build(CNNConfig(global_pool=True), images(3, 16, 16))
    flattened = CNN.build(CNNConfig(), images(3, 16, 16))
    for sides in ((16, 16), (24, 9), (40, 64)):
        assert pooled(torch.zeros(2, 3, *sides)).shape == (2, 10)
    for sides in ((24, 9), (40, 64)):
        with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
            flattened(torch.zeros(2, 3, *sides))


def picture(*rows: str) -> Tensor:
    """An image (1, 1, I, J) that is on at every "#"."""
    return torch.tensor([[float(sign == "#") for sign in row] for row in rows])[None, None]


@torch.no_grad()
def corner_detector() -> CNN:
    """First the ends of lines that go right, left, down, up; then two of them in one place."""
    config = CNNConfig(channels=(4, 4), pool=1, global_pool=True, hidden=(), dropout=0.0)
    model = CNN.build(config, images(1, 7, 7, classes=1))
    for part in model.parameters():
        nn.init.zeros_(part)
    edges, corners = (stage[0] for stage in model.features)  # type: ignore[index]
    steps = ((0, 1), (0, -1), (1, 0), (-1, 0))
    for line, (down, right) in enumerate(steps):
        edges.weight[line, 0, 1, 1] = 1
        edges.weight[line, 0, 1 + down, 1 + right] = 1
        edges.weight[line, 0, 1 - down, 1 - right] = -1  # a line that goes on is no end
    edges.bias.fill_(-1.5)  # both pixels, and not the one behind: 0.5 is left
    for corner, pair in enumerate(((0, 2), (1, 2), (0, 3), (1, 3))):
        corners.weight[corner, pair, 1, 1] = 1
    corners.bias.fill_(-0.75)  # 0.5 of one line is not enough: AND
    return model


CORNERS = (
    picture(".......", ".####..", ".#.....", ".#.....", ".#....."),
    picture(".......", ".####..", "....#..", "....#..", "....#.."),
    picture(".#.....", ".#.....", ".#.....", ".####..", "......."),
    picture("....#..", "....#..", "....#..", ".####..", "......."),
)
NO_CORNERS = (
    picture(".......", ".......", ".......", ".......", "......."),
    picture(".......", ".......", ".#####.", ".......", "......."),
    picture("...#...", "...#...", "...#...", "...#...", "......."),
    picture("...#...", "...#...", ".#####.", "...#...", "...#..."),
    picture(".......", ".#####.", "...#...", "...#...", "...#..."),
    picture("#......", ".#.....", "..#....", "...#...", "....#.."),
)


@pytest.mark.covers("hierarchical-features")
def test_two_layers_built_by_hand_detect_corners_and_nothing_else() -> None:
    model = corner_detector()
    for corner, image in enumerate(CORNERS):
        ((found, row, column),) = model.features(image)[0].nonzero().tolist()
        assert found == corner
        assert bool(image[0, 0, row, column])
    for image in NO_CORNERS:
        assert not bool(model.features(image).any())


SIDE = 16


def shapes(count: int, most_shift: int, seed: int) -> tuple[Tensor, Tensor]:
    """Bars, crosses and circles of several sizes around the middle, with noise."""
    numbers = torch.Generator().manual_seed(seed)
    kinds = torch.randint(3, (count,), generator=numbers)
    radii = torch.randint(3, 5, (count, 1, 1), generator=numbers)
    shifts = torch.randint(-most_shift, most_shift + 1, (count, 2, 1, 1), generator=numbers)
    places = torch.arange(SIDE) - SIDE // 2
    down = places[:, None] - shifts[:, 0]  # (count, SIDE, SIDE) each
    right = places[None, :] - shifts[:, 1]
    down, right = down.expand(count, SIDE, SIDE), right.expand(count, SIDE, SIDE)
    near = torch.maximum(down.abs(), right.abs()) <= radii
    bars = near & (right == 0)
    crosses = near & ((right == 0) | (down == 0))
    circles = ((down**2 + right**2).sqrt() - radii).abs() < 0.6
    drawn = torch.stack((bars, crosses, circles), dim=1)[torch.arange(count), kinds]
    noise = 0.2 * torch.randn(count, SIDE, SIDE, generator=numbers)
    return (drawn + noise)[:, None], kinds


def learned(model: Model, inputs: Tensor, targets: Tensor, steps: int) -> Model:
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    numbers = torch.Generator().manual_seed(0)
    for _ in range(steps):
        rows = torch.randint(len(inputs), (64,), generator=numbers)
        optimizer.zero_grad()
        torch.autograd.backward(nn.functional.cross_entropy(model(inputs[rows]), targets[rows]))
        optimizer.step()
    return model.eval()


def accuracy(model: Model, inputs: Tensor, targets: Tensor) -> float:
    return float((model(inputs).argmax(dim=1) == targets).float().mean())


@pytest.mark.slow
@pytest.mark.covers("cnn-architecture")
def test_shapes_are_learned_and_found_again_where_they_never_were() -> None:
    spec = images(1, SIDE, SIDE, classes=3)
    config = CNNConfig(channels=(8, 16), hidden=(16,), dropout=0.0, global_pool=True)
    with seeded(0):
        cnn = CNN.build(config, spec)
        mlp = MLP.build(MLPConfig(hidden=(6,), dropout=0.0), spec)
    by_hand = (9 * 8 + 8) + (9 * 8 * 16 + 16) + (16 * 16 + 16) + (16 * 3 + 3)
    assert size_of(cnn) == by_hand == 1_571
    assert size_of(mlp) == 1_563
    assert cnn.features(torch.zeros(2, 1, SIDE, SIDE)).shape == (2, 16, 4, 4)
    centred, shifted = shapes(500, 1, seed=1), shapes(500, 3, seed=2)
    scores = {}
    for name, model in (("cnn", cnn), ("mlp", mlp)):
        learned(model, *shapes(1000, 1, seed=0), steps=150)
        scores[name] = (accuracy(model, *centred), accuracy(model, *shifted))
    assert scores["cnn"][0] >= 0.95
    assert scores["cnn"][1] > scores["mlp"][1] + 0.2


@pytest.mark.slow
def test_digits_are_learned_in_seconds(tmp_path: Path) -> None:
    run = nw.fit("cnn", "digits", epochs=8, lr=3e-3, out=tmp_path / "run", restore_best=False)
    assert run.evaluate()["accuracy"] >= 0.97


@pytest.mark.covers("conv-prior")
def test_most_weights_of_old_networks_are_dense_and_few_of_a_resnet() -> None:
    shares = {}
    for name in ("alexnet", "vgg16", "resnet50"):
        kind = MODELS.load(name)
        with torch.device("meta"):  # shapes alone: no memory is used
            model = kind.build(kind.settings(), images(3, 224, 224, classes=1000))
        dense = sum(size_of(part) for part in model.modules() if isinstance(part, nn.Linear))
        shares[name] = round(100 * dense / size_of(model), 1)
    assert shares == {"alexnet": 96.0, "vgg16": 89.4, "resnet50": 8.0}


def test_refusals() -> None:
    with pytest.raises(ConfigError, match=r"^kernel must be odd, so that it has a middle, got 4$"):
        CNNConfig(kernel=4)
    with pytest.raises(
        ConfigError, match=r"^channels must name at least one convolution, got none$"
    ):
        CNNConfig(channels=())
    sentence = (
        "^pool must be at most 1 for images of 8 x 9, which are divided by it 4 times, got 2$"
    )
    with pytest.raises(ConfigError, match=sentence):
        CNN.build(CNNConfig(channels=(8, 8, 8, 8)), images(1, 8, 9))
    sentence = (
        "^pool must be at most 3 for images of 10 x 9, which are divided by it 2 times, got 4$"
    )
    with pytest.raises(ConfigError, match=sentence):
        CNN.build(CNNConfig(pool=4), images(1, 10, 9))
    assert CNN.build(CNNConfig(pool=3), images(1, 10, 9)).spec.input_shape == (1, 10, 9)
