"""LeNet-5: the paper's layers, the frame around small images, and the digits."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.vision.lenet import LeNet5, LeNet5Config
from netwright.testing.model_contract import MODEL_CHECKS
from tests.repetition import for_each

PAPER = LeNet5Config(activation="tanh", pooling="average")


def lenet(config: LeNet5Config, *shape: int) -> LeNet5:
    spec = DataSpec(inputs="image", input_shape=shape, target="class", num_outputs=10)
    with seeded(0):
        return LeNet5.build(config, spec).eval()


def drawn(*shape: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


@for_each("shape", [(1, 28, 28), (3, 33, 41)])
@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Any], None], shape: tuple[int, ...]) -> None:
    check(lambda: lenet(LeNet5Config(), *shape))


def test_layers_have_the_sizes_of_the_paper() -> None:
    model = lenet(PAPER, 1, 32, 32)
    sizes = [sum(part.numel() for part in layer.parameters()) for layer in model.children()]
    assert [size for size in sizes if size] == [156, 2_416, 48_120, 10_164, 850]
    assert sum(sizes) == 61_706
    shapes: list[tuple[int, ...]] = []
    for layer in (model.c1, model.s2, model.c3, model.s4, model.c5, model.f6):
        layer.register_forward_hook(lambda _, __, output: shapes.append(tuple(output.shape[1:])))
    assert model(drawn(2, 1, 32, 32)).shape == (2, 10)
    assert shapes == [(6, 28, 28), (6, 14, 14), (16, 10, 10), (16, 5, 5), (120,), (84,)]


@pytest.mark.parametrize("name", ["paper", "default"])
def test_forward_is_the_formula(name: str) -> None:
    model = lenet(PAPER if name == "paper" else LeNet5Config(), 1, 32, 32)
    w = model.state_dict()
    phi, pool = (torch.tanh, F.avg_pool2d) if name == "paper" else (torch.relu, F.max_pool2d)
    x = drawn(3, 1, 32, 32)
    maps = pool(phi(F.conv2d(x, w["c1.weight"], w["c1.bias"])), 2)
    maps = pool(phi(F.conv2d(maps, w["c3.weight"], w["c3.bias"])), 2)
    # C5 is a convolution whose window is the whole map.
    units = phi(F.conv2d(maps, w["c5.weight"].reshape(120, 16, 5, 5), w["c5.bias"])[..., 0, 0])
    units = phi(units @ w["f6.weight"].T + w["f6.bias"])
    torch.testing.assert_close(model(x), units @ w["output.weight"].T + w["output.bias"])


@for_each("sides", [(28, 28), (8, 8), (31, 29), (28, 40)])
def test_small_images_are_set_in_the_middle_of_a_frame(sides: tuple[int, int]) -> None:
    rows, columns = sides
    framed = torch.zeros(2, 1, max(rows, 32), max(columns, 32))
    top, left = max(32 - rows, 0) // 2, max(32 - columns, 0) // 2
    small = drawn(2, 1, rows, columns)
    framed[:, :, top : top + rows, left : left + columns] = small
    model, large = lenet(PAPER, 1, rows, columns), lenet(PAPER, *framed.shape[1:])
    assert torch.equal(model(small), large(framed))
