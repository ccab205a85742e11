r"""Linear regions: how many pieces a ReLU network can have, in width and in depth.

Each ReLU is on at one side of a hyperplane. m hyperplanes in R^n make at most

    sum_{i=0}^{n} binom(m, i)                                  regions (one layer),
    floor(m / n)^{n (L - 1)} sum_{i=0}^{n} binom(m, i)         at least at best (L layers),

the first with equality in general position. Depth multiplies, because a layer can fold its input:
with n = 1 and m units it lays m copies of [0, 1] onto each other, and whatever the next layers do
is done m times.

Shapes: m hyperplanes or units a layer, n inputs, L layers.
Source: Zaslavsky, "Facing up to arrangements" (1975); Montufar, Pascanu, Cho and Bengio, "On the
number of linear regions of deep neural networks" (2014).
"""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import torch
from annotated_types import Interval
from numpy.typing import NDArray
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.errors import ConfigError
from netwright.core.seeding import derive_seed, generator, seeded
from netwright.data.spec import DataSpec
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.models.mlp import MLP, MLPConfig
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, equals, estimate, no_violations

Array = NDArray[np.float64]

ARRANGEMENTS = ((3, 2), (5, 2), (10, 2), (4, 3))  # m hyperplanes in R^n
DRAWS = {"quick": 1, "full": 20}
RANDOM_NETS = {"quick": 10, "full": 200}
MOST_PIECES = 100_000  # that are counted
FAR = 1000.0  # random networks are looked at from -FAR to FAR; their kinks are of size 1


def most_regions(planes: int, inputs: int) -> int:
    """sum_{i=0}^{n} binom(m, i)."""
    return sum(math.comb(planes, i) for i in range(inputs + 1))


def count_regions(normals: Tensor, offsets: Tensor) -> int:
    """The regions of the hyperplanes normals (m, n) x + offsets (m) = 0, by linear programs.

    Hyperplane after hyperplane: every region so far is asked for a place on either side of it.
    """
    planes, heights = normals.numpy(), offsets.numpy()
    regions = [(np.empty(0), np.zeros(planes.shape[1]))]  # the signs that make it, a place in it
    for last in range(len(planes)):
        split = []
        for signs, place in regions:
            height = planes[last] @ place + heights[last]
            for side in (1.0, -1.0):
                now = np.append(signs, side)
                inside: Array | None = place
                if side * height < 1e-9:  # the place is not on this side: look for another
                    inside = _place_inside(now, planes[: last + 1], heights[: last + 1])
                if inside is not None:
                    split.append((now, inside))
        regions = split
    return len(regions)


def _place_inside(signs: Array, normals: Array, offsets: Array) -> Array | None:
    """The middle of a ball on which every sign * (normal x + offset) is positive, if there is one.

    By a linear program over the middle x and the radius t: normal x + offset >= t |normal|, each
    on its right side, with t as large as can be.
    """
    from scipy.optimize import linprog  # noqa: PLC0415 - it costs half a second

    inputs = normals.shape[1]
    found = linprog(
        c=[0.0] * inputs + [-1.0],
        A_ub=np.hstack([-signs[:, None] * normals, np.linalg.norm(normals, axis=1)[:, None]]),
        b_ub=signs * offsets,
        bounds=[(None, None)] * inputs + [(None, 1.0)],
    )
    return found.x[:-1] if found.x is not None and found.x[-1] > 1e-9 else None


@dataclass(frozen=True, kw_only=True)
class ZaslavskyConfig(Config):
    """How the hyperplanes lie."""

    general_position: Annotated[
        bool, Assumption("no two are parallel and no n + 1 meet; without it, all meet in a point")
    ] = True


def measure_zaslavsky(given: ZaslavskyConfig, seed: int, effort: Effort) -> Verdict:
    """Count the regions of random hyperplanes."""
    rng, draws = generator(seed, "hyperplanes"), DRAWS[effort]

    def count(planes: int, inputs: int) -> int:
        normals = torch.randn(planes, inputs, generator=rng, dtype=torch.float64)
        offsets = torch.randn(planes, generator=rng, dtype=torch.float64)
        if not given.general_position:
            offsets = -normals @ torch.ones(inputs, dtype=torch.float64)
        return count_regions(normals, offsets)

    counts = [[count(*sizes) for _ in range(draws)] for sizes in ARRANGEMENTS]
    formula = [most_regions(*sizes) for sizes in ARRANGEMENTS]
    wrong = sum(
        number != most for drawn, most in zip(counts, formula, strict=True) for number in drawn
    )
    places = range(len(ARRANGEMENTS))
    return Verdict(
        findings=(
            no_violations(
                "arrangements with another number of regions", wrong, n=draws * len(ARRANGEMENTS)
            ),
        ),
        chart=ClaimChart(
            x_label="m hyperplanes in n dimensions",
            y_label="regions",
            series=(
                predicted("sum of binom(m, i), i = 0 ... n", places, formula),
                measured(
                    "counted by linear programs", places, [sum(drawn) / draws for drawn in counts]
                ),
            ),
            explanation="Fewer than 2^m: not every pattern of ReLUs that are on and off can occur.",
            categories=tuple(f"m = {planes}, n = {inputs}" for planes, inputs in ARRANGEMENTS),
        ),
    )


ZASLAVSKY = Claim(
    card=Card(
        sentence="m hyperplanes in general position cut n-dimensional space into as many regions "
        "as there are subsets of at most n of them.",
        formula=r"R(m, n) = \sum_{i=0}^{n} \binom{m}{i}",
        symbols={"m": "hyperplanes, one a ReLU", "n": "dimensions", "R": "regions"},
        source="Zaslavsky (1975), Memoirs of the American Mathematical Society 154",
    ),
    topic="Approximation and depth",
    kind="theorem",
    settings=ZaslavskyConfig,
    experiment=measure_zaslavsky,
)


def build_net(width: int, layers: int) -> MLP:
    """A network of one input and one output, with torch's random weights."""
    config = MLPConfig(hidden=(width,) * layers, dropout=0.0)
    spec = DataSpec(inputs="features", input_shape=(1,), target="real", num_outputs=1)
    return MLP.build(config, spec).double()


def linear_layers(net: nn.Module) -> list[nn.Linear]:
    """The affine maps, from the input to the output."""
    return [module for module in net.modules() if isinstance(module, nn.Linear)]


@torch.no_grad()
def write_folds(layers: list[nn.Linear], width: int) -> Tensor:
    """Make each layer fold [0, 1] m times; gives the weights (1, m) that read the last fold.

    The fold is relu(m x) - 2 relu(m x - 1) + 2 relu(m x - 2) - ...: up, down, up ...
    """
    signs = 1.0 - 2.0 * (torch.arange(width, dtype=torch.float64) % 2)
    reading = torch.ones(1, 1, dtype=torch.float64)
    for layer in layers:
        layer.weight.copy_(width * reading.expand(width, -1))
        layer.bias.copy_(-torch.arange(width, dtype=torch.float64))
        reading = (signs * torch.where(torch.arange(width) == 0, 1.0, 2.0))[None]
    return reading


@torch.no_grad()
def build_sawtooth(width: int, layers: int) -> MLP:
    """Every layer folds: m^L pieces between 0 and 1 with m L units."""
    net = build_net(width, layers)
    *hidden, head = linear_layers(net)
    head.weight.copy_(write_folds(hidden, width))
    head.bias.zero_()
    return net


@torch.no_grad()
def build_folding_net(width: int, layers: int) -> MLP:
    """All layers but the last fold; the last has m kinks between 0 and 1, in each of the copies."""
    net = build_net(width, layers)
    *folding, last, head = linear_layers(net)
    reading = write_folds(folding, width)
    # The first unit is on left of its kink: neighbouring copies meet where it has a slope.
    steps = torch.arange(1, width + 1, dtype=torch.float64)
    sides = torch.where(steps == 1, -1.0, 1.0)
    last.weight.copy_((width + 1) * sides[:, None] * reading)
    last.bias.copy_(-sides * steps)
    head.weight.copy_((torch.where(steps <= 2, 1.0, 2.0) * (1 - 2 * (steps % 2)) * sides)[None])
    head.bias.zero_()
    return net


@torch.no_grad()
def count_pieces(net: MLP, low: float, high: float) -> int:
    """The straight pieces between two places of a ReLU network of one input, exactly.

    Between two neighbouring kinks of the layers before it, a unit is a straight line: its own kink
    is where this line crosses 0.
    """
    places = torch.tensor([low, high], dtype=torch.float64)
    *hidden, _ = linear_layers(net)
    for depth, layer in enumerate(hidden):
        units = places[:, None]
        for before in hidden[:depth]:
            units = before(units).relu()
        left, right = layer(units)[:-1], layer(units)[1:]
        at, unit = (left * right < 0).nonzero(as_tuple=True)
        share = left[at, unit] / (left[at, unit] - right[at, unit])
        places = torch.cat([places, places[at] + share * places.diff()[at]]).sort().values
        places = places[torch.cat([places.diff() > 1e-9 * (high - low), torch.tensor([True])])]
    slopes = net(places[:, None])[:, 0].diff() / places.diff()
    return 1 + int((slopes.diff().abs() > 1e-6 * slopes.abs().max()).sum())


@dataclass(frozen=True, kw_only=True)
class MontufarConfig(Config):
    """The networks, of one input."""

    width: Annotated[int, Interval(ge=1, le=64), Doc("m, units of a layer")] = 4
    layers: Annotated[
        int, Interval(ge=1, le=16), Doc("L, hidden layers of the deepest network")
    ] = 4
    folding: Annotated[
        bool, Assumption("the weights fold the input onto itself; without it, they are random")
    ] = True

    def __post_init__(self) -> None:
        """Refuse networks with more pieces than can be counted in a while."""
        super().__post_init__()
        if (pieces := self.pieces(self.layers)) > MOST_PIECES:
            raise ConfigError(
                f"width and layers must give at most {MOST_PIECES:,} pieces, (m + 1) m^(L-1), "
                f"got {pieces:,}"
            )

    def pieces(self, layers: int) -> int:
        """What a folding network of so many layers has."""
        return int(most_regions(self.width, 1) * self.width ** (layers - 1))


def measure_montufar(given: MontufarConfig, seed: int, effort: Effort) -> Verdict:
    """Count the pieces of a folding and of random networks of 1, 2 ... layers."""
    depths, width = range(1, given.layers + 1), given.width
    with seeded(derive_seed(seed, "nets")):
        random = [
            [count_pieces(build_net(width, depth), -FAR, FAR) for _ in range(RANDOM_NETS[effort])]
            for depth in depths
        ]
    means = [estimate(drawn) for drawn in random]
    folded = [count_pieces(build_folding_net(width, depth), 0, 1) for depth in depths]
    two_folds = build_sawtooth(width, 2)
    counts = folded if given.folding else [max(drawn) for drawn in random]
    formula = [given.pieces(depth) for depth in depths]
    places = range(len(depths))
    which = "the folding network" if given.folding else "the best random network"
    return Verdict(
        findings=(
            *(
                equals(f"pieces of {which}, L = {depth}", least, count, n=1)
                for depth, least, count in zip(depths, formula, counts, strict=True)
            ),
            equals("pieces after two folds", width**2, count_pieces(two_folds, 0, 1), n=1),
        ),
        chart=ClaimChart(
            x_label="hidden layers, L",
            y_label="straight pieces",
            series=(
                predicted(f"{width + 1} · {width}^(L-1)", places, formula),
                measured("folding network", places, folded),
                measured(
                    f"random networks, mean of {means[0].n}",
                    places,
                    [mean.mean for mean in means],
                    [mean.interval for mean in means],
                ),
            ),
            explanation=f"Each layer of {width} units multiplies the pieces by {width} if it folds "
            "its input. Random weights do not fold: the bound is for the best network.",
            log="y",
            categories=tuple(str(depth) for depth in depths),
        ),
    )


MONTUFAR = Claim(
    card=Card(
        sentence="Depth multiplies: L layers of m ReLUs whose weights fold the input reach a "
        "number of linear regions that is exponential in L.",
        formula=r"\max_{\theta} R(\theta) \geq \left\lfloor \frac{m}{n} \right\rfloor^{n (L-1)}"
        r" \sum_{i=0}^{n} \binom{m}{i}",
        symbols={
            r"\theta": "the weights",
            "R": "linear regions of the network with these weights",
            "m": "units of a layer",
            "n": "inputs, here 1",
            "L": "hidden layers",
        },
        source="Montufar, Pascanu, Cho and Bengio (2014), NIPS 27",
        misprint="It is often said of every network; it is the largest number over all weights.",
    ),
    topic="Approximation and depth",
    kind="theorem",
    settings=MontufarConfig,
    experiment=measure_montufar,
)
