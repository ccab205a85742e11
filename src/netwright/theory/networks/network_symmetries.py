r"""Different weights, the same network: what can be changed without changing the function.

    tanh z = 2 sigma(2z) - 1,    phi(P z) = P phi(z) for a permutation P

The first turns every tanh network into a sigmoid network and back, the second gives (n!)^l sets of
weights for one function.

Shapes: B inputs, D features, l hidden layers of n units.
Source: Hecht-Nielsen, "On the Algebraic Structure of Feedforward Network Weight Spaces" (1990).
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import torch
from annotated_types import Interval
from torch import Tensor, nn
from torch.func import functional_call

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.core.errors import ConfigError
from netwright.core.seeding import derive_seed, generator, seeded
from netwright.data.spec import DataSpec
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.models.mlp import MLP, MLPConfig
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, equals, no_violations

ROUNDING = 1e-12  # outputs are of size 1, in float64
NETS = {"quick": 20, "full": 200}
MOST_ORDERS = 50_000  # that are tried


def random_net(features: int, hidden: Sequence[int], activation: str, seed: int) -> MLP:
    """An MLP with one output and the weights that torch's layers start with, in float64."""
    config = MLPConfig(hidden=tuple(hidden), activation=activation, dropout=0.0)
    spec = DataSpec(inputs="features", input_shape=(features,), target="real", num_outputs=1)
    with seeded(derive_seed(seed, "net", *hidden)):
        return MLP.build(config, spec).double()


def affine_maps(net: MLP) -> list[nn.Linear]:
    """The linear layers, inputs first."""
    return [part for part in net.modules() if isinstance(part, nn.Linear)]


class Rewriting(NamedTuple):
    """phi(z) = outer psi(inner z) + shift."""

    psi: str
    inner: float
    outer: float
    shift: float


REWRITINGS = {
    "tanh": Rewriting("sigmoid", inner=2, outer=2, shift=-1),
    "sigmoid": Rewriting("tanh", inner=0.5, outer=0.5, shift=0.5),
}


@torch.no_grad()
def rewritten(net: MLP) -> MLP:
    """The same function with the other activation: scales go to the weights, shifts to biases."""
    rule = REWRITINGS[net.config.activation]  # type: ignore[attr-defined]
    maps = affine_maps(net)
    widths = [layer.out_features for layer in maps[:-1]]
    copy = random_net(maps[0].in_features, widths, rule.psi, seed=0)
    for place, (old, new) in enumerate(zip(maps, affine_maps(copy), strict=True)):
        outer, shift = (rule.outer, rule.shift) if place else (1.0, 0.0)  # of what comes in
        inner = rule.inner if new is not copy.head else 1.0
        new.weight.copy_(inner * outer * old.weight)
        new.bias.copy_(inner * (old.bias + shift * old.weight.sum(dim=1)))
    return copy


@dataclass(frozen=True, kw_only=True)
class TanhSigmoidConfig(Config):
    """The networks to rewrite."""

    hidden: Annotated[tuple[Size, ...], Doc("widths of the hidden layers")] = (16, 16, 16)
    features: Annotated[Size, Doc("D, inputs of the network")] = 4
    biases: Annotated[
        bool, Assumption("every layer has a bias, which takes up the -1 of 2 sigma(2z) - 1")
    ] = True


@torch.no_grad()
def measure_tanh_sigmoid(given: TanhSigmoidConfig, seed: int, effort: Effort) -> Verdict:
    """Rewrite random networks in both directions and compare their outputs."""
    x = torch.randn(64, given.features, generator=generator(seed, "inputs"), dtype=torch.float64)
    outputs: dict[str, tuple[Tensor, Tensor]] = {}
    for activation in REWRITINGS:
        nets = [
            random_net(given.features, given.hidden, activation, derive_seed(seed, activation, i))
            for i in range(NETS[effort])
        ]
        others = [rewritten(net) for net in nets]
        if not given.biases:
            for layer in itertools.chain(*map(affine_maps, nets + others)):
                nn.init.zeros_(layer.bias)
        outputs[activation] = (
            torch.cat([net(x) for net in nets]),
            torch.cat([net(x) for net in others]),
        )
    old, new = outputs["tanh"]
    shown = [float(value) for value in old[: len(x)]]
    return Verdict(
        findings=tuple(
            no_violations(
                f"outputs of {activation} networks that change by more than {ROUNDING:g}",
                int(((old - new).abs() > ROUNDING).sum()),
                n=len(old),
            )
            for activation, (old, new) in outputs.items()
        ),
        chart=ClaimChart(
            x_label="output of a tanh network",
            y_label="output after rewriting",
            series=(
                predicted("the same output", sorted(shown), sorted(shown)),
                measured("sigmoid network", shown, new[: len(x)].flatten().tolist()),
            ),
            explanation="Each dot is one input to a random tanh network and to the sigmoid "
            "network that its weights were rewritten for.",
        ),
    )


TANH_SIGMOID = Claim(
    card=Card(
        sentence="Networks of tanh units and of sigmoid units compute the same functions.",
        formula=r"\tanh z = 2 \sigma(2z) - 1",
        symbols={"z": "what comes into a unit", r"\sigma": "the sigmoid 1 / (1 + e^{-z})"},
        source="Bishop (1995), Neural Networks for Pattern Recognition, section 4.3",
    ),
    topic="Networks",
    kind="theorem",
    settings=TanhSigmoidConfig,
    experiment=measure_tanh_sigmoid,
)


class OwnActivations(nn.Module):
    """The first unit of a layer has a tanh, the others are linear."""

    def forward(self, z: Tensor) -> Tensor:
        """(B, n) -> (B, n)."""
        return torch.cat((z[:, :1].tanh(), z[:, 1:]), dim=1)


def permuted(weights: Mapping[str, Tensor], orders: Sequence[Sequence[int]]) -> dict[str, Tensor]:
    """The weights of an MLP after its hidden units are put into these orders, one a layer."""
    changed = dict(weights)
    for depth, order in enumerate(orders):
        after = "head" if depth == len(orders) - 1 else f"hidden.{depth + 1}.0"
        for name in (f"hidden.{depth}.0.weight", f"hidden.{depth}.0.bias"):
            changed[name] = changed[name][list(order)]
        changed[f"{after}.weight"] = changed[f"{after}.weight"][:, list(order)]
    return changed


@dataclass(frozen=True, kw_only=True)
class PermutationsConfig(Config):
    """The network whose hidden units change places."""

    units: Annotated[
        int, Interval(ge=1, le=8), Doc("n, units of a hidden layer; (n!)^l networks are compared")
    ] = 3
    layers: Annotated[int, Interval(ge=1, le=15), Doc("l, hidden layers")] = 2
    same_activation: Annotated[
        bool, Assumption("all units of a layer have the same activation")
    ] = True
    distinct_units: Annotated[bool, Assumption("no two units of a layer have equal weights")] = True

    def __post_init__(self) -> None:
        """Refuse more orders than can be tried in a while."""
        super().__post_init__()
        if (orders := self.orders(self.units)) > MOST_ORDERS:
            raise ConfigError(
                f"units and layers must give at most {MOST_ORDERS:,} orders, (n!)^l, got {orders:,}"
            )

    def orders(self, units: int) -> int:
        """How often layers of so many units can be put into another order."""
        return int(math.factorial(units) ** self.layers)


@torch.no_grad()
def count_permutations(given: PermutationsConfig, units: int, seed: int) -> tuple[int, int]:
    """How many different sets of weights the permutations give, and how many change the output."""
    net = random_net(2, [units] * given.layers, "tanh", seed)
    if not given.same_activation:
        maps = affine_maps(net)[:-1]
        net.hidden = nn.Sequential(*(nn.Sequential(layer, OwnActivations()) for layer in maps))
    if not given.distinct_units:
        for parameter in net.parameters():
            parameter.fill_(0.5)
    x = torch.randn(16, 2, generator=generator(seed, "inputs"), dtype=torch.float64)
    weights, expected = dict(net.named_parameters()), net(x)
    found, changed = set(), 0
    for orders in itertools.product(itertools.permutations(range(units)), repeat=given.layers):
        other = permuted(weights, orders)
        found.add(torch.cat([part.flatten() for part in other.values()]).numpy().tobytes())
        changed += int((functional_call(net, other, x) - expected).abs().max() > ROUNDING)
    return len(found), changed


def measure_permutations(given: PermutationsConfig, seed: int, effort: Effort) -> Verdict:
    """Try every order of the hidden units, for networks of one unit a layer and more."""
    one_more = effort == "full" and given.orders(given.units + 1) <= MOST_ORDERS
    widths = range(1, given.units + 1 + one_more)
    formula = [given.orders(n) for n in widths]
    counts = [count_permutations(given, n, seed) for n in widths]
    places = range(len(widths))
    differences = [count - wanted for (count, _), wanted in zip(counts, formula, strict=True)]
    return Verdict(
        findings=(
            equals(
                f"different sets of weights, n = {given.units}, l = {given.layers}",
                formula[given.units - 1],
                counts[given.units - 1][0],
                n=formula[given.units - 1],
            ),
            no_violations("widths with another number", sum(map(bool, differences)), n=len(widths)),
            no_violations(
                f"orders that change an output by more than {ROUNDING:g}",
                sum(changed for _, changed in counts),
                n=sum(formula),
            ),
        ),
        chart=ClaimChart(
            x_label="units of a hidden layer, n",
            y_label="sets of weights for one function",
            series=(
                predicted(f"(n!)^{given.layers}", places, formula),
                predicted(
                    f"n! · {given.layers}, often misprinted",
                    places,
                    [math.factorial(n) * given.layers for n in widths],
                ),
                measured("different sets of weights", places, [n for n, _ in counts]),
            ),
            explanation="Every order of the units of every hidden layer was tried. Where the units "
            "differ in their weights alone, all orders compute the same function.",
            log="y",
            categories=tuple(map(str, widths)),
        ),
    )


PERMUTATIONS = Claim(
    card=Card(
        sentence="Putting hidden units into another order changes no output: l layers of n units"
        " have (n!)^l equivalent sets of weights.",
        formula=r"\phi(Wx + b) = P^{-1} \phi(PWx + Pb), \qquad (n!)^l",
        symbols={
            "P": "a permutation matrix, one 1 in each row and column, (n, n)",
            "n": "units of a hidden layer",
            "l": "hidden layers",
            r"\phi": "the activation, the same for each unit",
        },
        source="Hecht-Nielsen (1990), Advanced Neural Computers, 129-135",
        misprint="Often printed as n! l; each layer is permuted by itself, so the counts multiply.",
    ),
    topic="Networks",
    kind="theorem",
    settings=PermutationsConfig,
    experiment=measure_permutations,
)
