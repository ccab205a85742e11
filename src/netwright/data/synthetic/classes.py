"""Made-up classes in the plane and beyond: xor, moons, circles, spirals and blobs.

Example i belongs to class i modulo the number of classes, so the classes are equally large. Noise
is Gaussian, with the same standard deviation in every direction.

Shapes: N examples, F features, C classes.
Source: Minsky and Papert, "Perceptrons" (1969) for xor; Lang and Witbrock, "Learning to tell two
spirals apart" (1988).
"""

import math
from dataclasses import dataclass
from typing import Annotated

import torch
from annotated_types import Ge, Interval
from torch import Tensor

from netwright.core.config import Doc, NotNegative, Positive, Size
from netwright.data.dataset import Data
from netwright.data.source import Source
from netwright.data.synthetic.base import LICENCE, SyntheticConfig, as_data, stream

CANDIDATES = 20  # random places that are tried for each blob's centre

Several = Annotated[int, Ge(2)]


def _shaken(points: Tensor, noise: float, random: torch.Generator) -> Tensor:
    return points + noise * torch.randn(points.shape, generator=random, dtype=points.dtype)


def _uniform(count: int, random: torch.Generator) -> Tensor:
    return torch.rand(count, generator=random, dtype=torch.float64)


@dataclass(frozen=True, kw_only=True)
class XorConfig(SyntheticConfig):
    """The truth table of exclusive or: n=4, noise=0 and no rows held out give just its rows."""

    noise: Annotated[NotNegative, Doc("standard deviation around each corner")] = 0.1


def load_xor(config: XorConfig) -> Data:
    """The corners (0,0), (0,1), (1,0), (1,1) in turn; the class is 1 where the two differ."""
    row = torch.arange(config.n)
    first, second = row % 4 // 2, row % 2
    corners = torch.stack((first, second), dim=1).double()  # (N, 2)
    inputs = _shaken(corners, config.noise, stream(config, "xor"))
    return as_data("xor", config, inputs, first ^ second, kind="class", classes=2)


@dataclass(frozen=True, kw_only=True)
class MoonsConfig(SyntheticConfig):
    """Two half circles of radius 1 that reach into each other."""

    noise: Annotated[NotNegative, Doc("standard deviation around each arc")] = 0.1


def load_moons(config: MoonsConfig) -> Data:
    """Class 0 on (cos t, sin t), class 1 on (1 - cos t, 1/2 - sin t), with t in [0, pi]."""
    random = stream(config, "moons")
    label = torch.arange(config.n) % 2
    angle = math.pi * _uniform(config.n, random)
    upper = torch.stack((angle.cos(), angle.sin()), dim=1)
    lower = torch.stack((1 - angle.cos(), 0.5 - angle.sin()), dim=1)
    arcs = torch.where(label[:, None] == 0, upper, lower)  # (N, 2)
    inputs = _shaken(arcs, config.noise, random)
    return as_data("moons", config, inputs, label, kind="class", classes=2)


@dataclass(frozen=True, kw_only=True)
class CirclesConfig(SyntheticConfig):
    """Two circles around the origin, one inside the other."""

    radius: Annotated[
        float, Interval(gt=0, lt=1), Doc("radius of the inner circle; the outer one has 1")
    ] = 0.5
    noise: Annotated[NotNegative, Doc("standard deviation around each circle")] = 0.1


def load_circles(config: CirclesConfig) -> Data:
    """Class 0 on the outer circle, class 1 on the inner one."""
    random = stream(config, "circles")
    label = torch.arange(config.n) % 2
    angle = 2 * math.pi * _uniform(config.n, random)
    radius = torch.where(label == 0, 1.0, config.radius)
    rings = radius[:, None] * torch.stack((angle.cos(), angle.sin()), dim=1)  # (N, 2)
    inputs = _shaken(rings, config.noise, random)
    return as_data("circles", config, inputs, label, kind="class", classes=2)


@dataclass(frozen=True, kw_only=True)
class SpiralsConfig(SyntheticConfig):
    """Arms that wind around the origin out to radius 1."""

    arms: Annotated[Several, Doc("number of arms, one class each")] = 2
    turns: Annotated[Positive, Doc("number of turns of each arm")] = 1.5
    noise: Annotated[NotNegative, Doc("standard deviation around each arm")] = 0.02


def load_spirals(config: SpiralsConfig) -> Data:
    """Arm k is the curve of radius r and angle 2 pi (turns r + k / arms), with r in [0.1, 1]."""
    random = stream(config, "spirals")
    label = torch.arange(config.n) % config.arms
    radius = 0.1 + 0.9 * _uniform(config.n, random)  # the arms would meet at the origin
    angle = 2 * math.pi * (config.turns * radius + label / config.arms)
    curves = radius[:, None] * torch.stack((angle.cos(), angle.sin()), dim=1)  # (N, 2)
    inputs = _shaken(curves, config.noise, random)
    return as_data("spirals", config, inputs, label, kind="class", classes=config.arms)


@dataclass(frozen=True, kw_only=True)
class BlobsConfig(SyntheticConfig):
    """Gaussian clouds around random centres."""

    centres: Annotated[Several, Doc("number of clouds, one class each")] = 3
    features: Annotated[Size, Doc("dimensions of the space")] = 2
    separation: Annotated[Positive, Doc("distance between the two nearest centres")] = 6.0
    noise: Annotated[NotNegative, Doc("standard deviation around each centre")] = 1.0


def load_blobs(config: BlobsConfig) -> Data:
    """Class k around centre k."""
    random = stream(config, "blobs")
    label = torch.arange(config.n) % config.centres
    centres = blob_centres(config.centres, config.features, config.separation, random)
    inputs = _shaken(centres[label], config.noise, random)
    return as_data("blobs", config, inputs, label, kind="class", classes=config.centres)


def blob_centres(count: int, features: int, separation: float, random: torch.Generator) -> Tensor:
    """Well spread random points (C, F); the nearest two are exactly `separation` apart.

    Each is the farthest from the others among a few candidates: drawn at once, two of them would
    often fall together, and scaling them apart would throw the rest far out.
    """
    centres = torch.zeros(1, features, dtype=torch.float64)
    while len(centres) < count:
        candidates = torch.randn(CANDIDATES, features, generator=random, dtype=torch.float64)
        gap = torch.cdist(candidates, centres).amin(dim=1)
        centres = torch.cat((centres, candidates[gap.argmax()][None]))
    return centres * separation / torch.nn.functional.pdist(centres).min()


XOR = Source(
    config=XorConfig,
    load=load_xor,
    sentence="the four corners of a square; the class tells whether the two coordinates differ",
    origin="Minsky and Papert, Perceptrons (1969)",
    licence=LICENCE,
)
MOONS = Source(
    config=MoonsConfig,
    load=load_moons,
    sentence="two interleaved half circles with noise: 2 features, 2 classes",
    origin="drawn by formula",
    licence=LICENCE,
)
CIRCLES = Source(
    config=CirclesConfig,
    load=load_circles,
    sentence="a circle inside a circle with noise: 2 features, 2 classes",
    origin="drawn by formula",
    licence=LICENCE,
)
SPIRALS = Source(
    config=SpiralsConfig,
    load=load_spirals,
    sentence="spiral arms around the origin: 2 features, one class per arm",
    origin="Lang and Witbrock, Learning to tell two spirals apart (1988)",
    licence=LICENCE,
)
BLOBS = Source(
    config=BlobsConfig,
    load=load_blobs,
    sentence="Gaussian clouds whose nearest centres are a known distance apart",
    origin="drawn by formula",
    licence=LICENCE,
)
