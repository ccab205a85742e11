"""Data made by hand for the checks: a few rows, each with its class."""

from collections.abc import Sequence

import torch
from torch import Tensor

from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data, Split
from netwright.data.spec import DataSpec


def data_of(
    train: tuple[Tensor, Sequence[int]],
    test: tuple[Tensor, Sequence[int]] | None = None,
    *,
    num_classes: int = 2,
) -> Data:
    """Features (N, F) and classes, as they are."""
    names = tuple(f"x{place}" for place in range(train[0].shape[1]))
    classes = tuple("abcdefghij"[:num_classes])
    spec = DataSpec(
        inputs="features",
        input_shape=(len(names),),
        target="class",
        num_outputs=num_classes,
        class_names=classes,
        target_names=("y",),
        feature_names=names,
    )
    encoder = ArrayEncoder(
        input_shape=spec.input_shape, target="class", num_outputs=num_classes, class_names=classes
    )
    splits = [
        None if part is None else Split(inputs=part[0], targets=torch.tensor(part[1]))
        for part in (train, test)
    ]
    assert splits[0] is not None
    return Data(name="rows", spec=spec, train=splits[0], test=splits[1], preprocessor=encoder)


def numbered(count: int, start: int = 0) -> Tensor:
    """Rows (N, 2) that all differ."""
    places = torch.arange(start, start + count, dtype=torch.float32)
    return torch.stack([places, places.square()], dim=1)


def clouds(count: int, distance: float, *, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Two round clouds (N, 2) of deviation 1, so far apart, and their classes."""
    generator = torch.Generator().manual_seed(seed)
    classes = torch.arange(count) % 2
    points = torch.randn(count, 2, generator=generator)
    points[:, 0] += distance * classes
    return points, classes
