"""Small pictures of ten shapes that lie anywhere under noise, and the networks that learn them.

Shapes: N pictures, S shapes, I = J pixels a side, P pixels a side of a shape.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from netwright.data.arrays import ArraysConfig, from_arrays
from netwright.data.dataset import Data
from netwright.theory.held_out import held_out

SHAPES = {
    "bar": "..... ..... ##### ..... .....",
    "pillar": "..#.. ..#.. ..#.. ..#.. ..#..",
    "plus": "..#.. ..#.. ##### ..#.. ..#..",
    "times": "#...# .#.#. ..#.. .#.#. #...#",
    "box": "##### #...# #...# #...# #####",
    "corner": "#.... #.... #.... #.... #####",
    "tee": "##### ..#.. ..#.. ..#.. ..#..",
    "cup": "#...# #...# #...# #...# #####",
    "zed": "##### ...#. ..#.. .#... #####",
    "ladder": "#...# #...# ##### #...# #...#",
}
EDGE = 5  # P
SIDE = 12  # I and J
NOISE = 0.2  # standard deviation of what is added to each pixel; a shape has the brightness 1
TESTED = 1000

# A dense network; and eight filters as large as a shape, of whose maps the largest value in each
# quarter of the picture is kept.
NETWORKS: dict[str, dict[str, Any]] = {
    "mlp": {"hidden": (256,), "dropout": 0.0},
    "cnn": {"channels": (8,), "kernel": EDGE, "pool": SIDE // 2, "hidden": (), "dropout": 0.0},
}
TRAINING = {"lr": 2e-2, "batch_size": 50}


def bitmaps(names: Sequence[str]) -> Tensor:
    """The shapes as 0 and 1, (S, P, P)."""
    return torch.tensor(
        [[[float(dot == "#") for dot in row] for row in SHAPES[name].split()] for name in names]
    )


def draw_shapes(
    names: Sequence[str], count: int, rng: torch.Generator, *, shifted: bool = True
) -> tuple[Tensor, Tensor]:
    """Pictures (N, 1, I, J) of equally many of each shape, and which shape it is (N,).

    Args:
        names: of the shapes; class k is names[k].
        count: N.
        rng: draws the places and the noise.
        shifted: whether a shape lies anywhere; else it lies in the middle.
    """
    classes = torch.arange(count) % len(names)
    corners = torch.randint(SIDE - EDGE + 1, (2, count), generator=rng)
    if not shifted:
        corners = torch.full_like(corners, (SIDE - EDGE) // 2)
    rows, columns = corners[:, :, None] + torch.arange(EDGE)  # (N, P) each
    images = NOISE * torch.randn(count, SIDE, SIDE, generator=rng)
    places = (torch.arange(count)[:, None, None], rows[:, :, None], columns[:, None, :])
    images[places] += bitmaps(names)[classes]
    return images[:, None], classes


def shape_data(
    names: Sequence[str], count: int, rng: torch.Generator, *, shifted: bool = True
) -> Data:
    """So many pictures to learn from, and others for the test."""
    learned, tested = (draw_shapes(names, n, rng, shifted=shifted) for n in (count, TESTED))
    config = ArraysConfig(kind="class", val_size=0.0)
    return from_arrays(*learned, config=config, name="shapes", test=tested)


def percent_right(model: str, data: Data, *, seed: int, steps: int) -> float:
    """The accuracy of one of the networks on the test pictures, after so many steps."""
    train = {**TRAINING, "epochs": steps, "max_steps": steps}
    found = held_out(model, data, seed=seed, settings=NETWORKS[model], train=train)
    return found.percent_right
