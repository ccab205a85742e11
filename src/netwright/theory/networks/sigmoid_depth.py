r"""Deep networks of sigmoids: gradients vanish, and which initial weights keep them.

The slope of the sigmoid is at most 1/4, so that with weights of variance 1/n a layer leaves less
than a quarter of a gradient. A variance of 3.6^2 / n, or a negative mean, leaves more of it.

Shapes: n units of every layer, L hidden layers, S networks.
Source: Hochreiter, "Untersuchungen zu dynamischen neuronalen Netzen" (1991); Kumar, "On Weight
Initialization in Deep Neural Networks" (2017); Yilmaz and Poli (2022).
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import derive_seed
from netwright.inspection.training.claim_chart import ClaimChart, Series, measured, predicted
from netwright.layers.activations import build_activation
from netwright.layers.initializers import SIGMOID_SCALE
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.networks.gradient_depth import (
    factor_per_layer,
    geometric_mean,
    mean_field_norms,
    relative_norms,
)
from netwright.theory.verdict import (
    ClaimFinding,
    Verdict,
    at_least,
    at_most,
    equals,
    estimate_ratio,
)

NETS = {"quick": 20, "full": 30}
STEEPEST = 0.25
KEPT, LOST = 100, 1e5  # times smaller: a gradient that is kept, and one that is lost
DEPTHS = (10, 15)
BIAS, LUCK = 3, 3  # of 1/n, and of the standard error of the factor of a layer


@dataclass(frozen=True, kw_only=True)
class UnitsConfig(Config):
    """The units of a deep network."""

    width: Annotated[int, Interval(ge=20, le=1000), Doc("n, units of every layer")] = 100
    sigmoid: Annotated[
        bool, Assumption("the slope at 0 is 1/4, as a sigmoid's; off: 1, as that of tanh")
    ] = True

    @property
    def activation(self) -> str:
        """The name of the units' activation."""
        return "sigmoid" if self.sigmoid else "tanh"


@dataclass(frozen=True, kw_only=True)
class SigmoidDepthConfig(UnitsConfig):
    """The deep network."""

    depth: Annotated[int, Interval(ge=2, le=30), Doc("L, hidden layers")] = 10


def measured_norms(
    given: UnitsConfig,
    depth: int,
    initializer: str,
    seed: int,
    effort: Effort,
    *,
    centred: bool = False,
) -> Tensor:
    """|d_l| / |d_L| of networks that start by this initializer, (S, L)."""
    return relative_norms(
        given.width,
        depth,
        activation=given.activation,
        initializer=initializer,
        seeds=[derive_seed(seed, "start", i) for i in range(NETS[effort])],
        centred=centred,
    )


def dots(name: str, norms: Tensor) -> Series:
    """The gradient of each layer, the geometric mean over the networks."""
    layers = range(1, norms.shape[1] + 1)
    return measured(name, layers, norms.log().mean(dim=0).exp().tolist())


def as_predicted(what: str, norms: Tensor, field: Tensor, width: int) -> ClaimFinding:
    """The factor of a layer is that of the mean field, up to the order of 1/n and to luck."""
    factor, interval = geometric_mean(factor_per_layer(norms))
    wanted, (nets, layers) = float(factor_per_layer(field)), norms.shape
    # The logarithm of each of S (L - 1) factors has a variance of about 1/n.
    share = BIAS / width + LUCK / math.sqrt(width * nets * (layers - 1))
    return equals(what, wanted, factor, within=share * wanted, n=nets, interval=interval)


def smaller(norms: Tensor) -> float:
    """How many times smaller the gradient of the first layer is, the geometric mean."""
    return 1 / geometric_mean(norms[:, 0])[0]


def steepest(activation: str) -> tuple[float, int]:
    """The largest slope of an activation on a grid that has 0, and the places that it has."""
    z = torch.linspace(-10, 10, 2001, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(build_activation(activation)(z).sum(), z)
    return float(slope.max()), len(z)


def measure_shrinking(given: SigmoidDepthConfig, seed: int, effort: Effort) -> Verdict:
    """Start networks with N(0, 1/n), which is Xavier's rule for equal layers."""
    norms = measured_norms(given, given.depth, "xavier-normal", seed, effort)
    field = mean_field_norms(given.width, given.depth, "sigmoid", 1 / math.sqrt(given.width))
    slope, places = steepest(given.activation)
    factor, interval = geometric_mean(factor_per_layer(norms))
    layers = range(1, given.depth + 1)
    return Verdict(
        findings=(
            equals("largest slope of the activation", STEEPEST, slope, within=1e-12, n=places),
            at_most(
                "what a layer leaves of a gradient",
                STEEPEST,
                factor,
                n=len(norms),
                interval=interval,
            ),
            as_predicted("the same, as the mean field has it", norms, field, given.width),
        ),
        chart=ClaimChart(
            x_label="hidden layer, from the input",
            y_label=f"gradient over that of layer {given.depth}",
            series=(
                predicted("mean field", layers, field.tolist()),
                dots(f"{given.activation} networks, N(0, 1/n)", norms),
            ),
            explanation="On its way back a gradient is multiplied by the slope of each layer, "
            "at most 1/4 for a sigmoid: on a logarithmic axis it falls along a line."
            if given.sigmoid
            else "The slope of tanh is up to 1: its gradients hardly shrink where those of "
            "sigmoids (dashed) vanish.",
            log="y",
        ),
    )


SHRINKING = Claim(
    card=Card(
        sentence="The slope of the sigmoid is at most 1/4, so that gradients shrink with every"
        " layer.",
        formula=r"\sigma'(z) \le \frac{1}{4}, \quad"
        r" \frac{|d_l|}{|d_{l+1}|} \approx \sqrt{n s^2 \, E[\sigma'(z_l)^2]} \le \frac{1}{4}",
        symbols={
            r"\sigma": "the sigmoid 1 / (1 + e^{-z})",
            "d_l": "gradient by the pre-activations of layer l, (n)",
            "z_l": "the pre-activations, (n)",
            "s^2": "variance of the weights, 1/n",
            "n": "units of a layer",
        },
        source="Hochreiter (1991), diploma thesis, TU Munich",
    ),
    topic="Networks",
    kind="theorem",
    settings=SigmoidDepthConfig,
    experiment=measure_shrinking,
)


def measure_logistic(given: SigmoidDepthConfig, seed: int, effort: Effort) -> Verdict:
    """Start the same networks with N(0, 3.6^2 / n) and with N(0, 1/n)."""
    width, depth = given.width, given.depth
    wide = measured_norms(given, depth, "logistic", seed, effort)
    narrow = measured_norms(given, depth, "xavier-normal", seed, effort)
    wide_field, narrow_field = (
        mean_field_norms(width, depth, "sigmoid", scale / math.sqrt(width))
        for scale in (SIGMOID_SCALE, 1.0)
    )
    layers = range(1, depth + 1)
    left, _ = geometric_mean(factor_per_layer(wide) / factor_per_layer(narrow))
    return Verdict(
        findings=(
            as_predicted("what a layer leaves of a gradient, 3.6/sqrt(n)", wide, wide_field, width),
            as_predicted("the same with 1/sqrt(n)", narrow, narrow_field, width),
            at_least("times as much a layer", 2, left, n=len(wide)),
        ),
        chart=ClaimChart(
            x_label="hidden layer, from the input",
            y_label=f"gradient over that of layer {depth}",
            series=(
                predicted("mean field, 3.6/√n", layers, wide_field.tolist()),
                predicted("mean field, 1/√n", layers, narrow_field.tolist()),
                dots(f"{given.activation} networks, 3.6/√n", wide),
                dots(f"{given.activation} networks, 1/√n", narrow),
            ),
            explanation="With wider weights a layer leaves more of a gradient: in the first layer "
            f"it is {smaller(wide):.3g} times smaller than in the last, with 1/√n it is "
            f"{smaller(narrow):.3g} times smaller.",
            log="y",
        ),
    )


LOGISTIC_INIT = Claim(
    card=Card(
        sentence="Weights of deviation 3.6/sqrt(n) make the gradients of sigmoid networks vanish"
        " more slowly.",
        formula=r"w \sim N\left(0, \frac{3.6^2}{n}\right)",
        symbols={"w": "each weight", "n": "inputs of the layer"},
        source="Kumar (2017), arXiv 1704.08863",
    ),
    topic="Networks",
    kind="empirical",
    settings=SigmoidDepthConfig,
    experiment=measure_logistic,
)


@dataclass(frozen=True, kw_only=True)
class NegativeMeanConfig(UnitsConfig):
    """Networks of 10 and of 15 hidden layers."""

    width: Annotated[int, Interval(ge=20, le=100), Doc("n, units of every layer")] = 100
    negative: Annotated[bool, Assumption("the mean of the weights is max(-1, -8/n); off: 0")] = True
    inputs_vary: Annotated[
        bool, Assumption("the sum of the inputs varies between examples; off: it is always 0")
    ] = True


def times_smaller(what: str, norms: Tensor) -> dict[str, Any]:
    """How many times smaller the gradient of the first layer is, as the end of a finding."""
    found = estimate_ratio((1 / norms[:, 0]).tolist())
    return {"what": what, "measured": found.mean, "n": found.n, "interval": found.interval}


def measure_negative_mean(given: NegativeMeanConfig, seed: int, effort: Effort) -> Verdict:
    """Start networks of 10 and of 15 layers with a negative mean, and with mean 0."""
    norms, zero = (
        [
            measured_norms(given, depth, initializer, seed, effort, centred=not given.inputs_vary)
            for depth in DEPTHS
        ]
        for initializer in ("yilmaz-poli" if given.negative else "xavier-normal", "xavier-normal")
    )
    field = mean_field_norms(given.width, DEPTHS[-1], "sigmoid", 1 / math.sqrt(given.width))
    layers = range(1, DEPTHS[-1] + 1)
    mean = f"mean {max(-1, -8 / given.width):g}" if given.negative else "mean 0"
    what = "times the gradient is smaller in layer 1 than in layer {}, {}"
    return Verdict(
        findings=(
            *(
                at_most(predicted=KEPT, **times_smaller(what.format(depth, mean), found))
                for depth, found in zip(DEPTHS, norms, strict=True)
            ),
            at_least(
                predicted=LOST, **times_smaller(what.format(DEPTHS[0], "mean 0 instead"), zero[0])
            ),
        ),
        chart=ClaimChart(
            x_label="hidden layer, from the input",
            y_label=f"gradient over that of layer {DEPTHS[-1]}",
            series=(
                predicted("mean field of sigmoids, mean 0", layers, field.tolist()),
                dots(f"{given.activation} networks, {mean}", norms[-1]),
                dots(f"{given.activation} networks, mean 0, the same variance", zero[-1]),
            ),
            explanation=_negative_mean_told(given),
            log="y",
        ),
    )


def _negative_mean_told(given: NegativeMeanConfig) -> str:
    if not (given.negative and given.sigmoid):
        return "Without a negative mean, or with another activation, gradients do not arrive."
    if not given.inputs_vary:
        return (
            "The mean of the weights hands on the sum of a layer. Where that is the same for all "
            "inputs there is nothing in common to hand on, and gradients vanish."
        )
    return (
        "Under a negative mean the units of a layer move together, and the gradient of what they "
        "have in common is handed on from layer to layer."
    )


NEGATIVE_MEAN_INIT = Claim(
    card=Card(
        sentence="With weights of mean max(-1, -8/n) the gradients of sigmoid networks of 10 to 15"
        " layers of up to 100 units do not vanish, if the sum of the inputs varies.",
        formula=r"w \sim N\left(\max\left(-1, -\frac{8}{n}\right), \frac{1}{n}\right)",
        symbols={"w": "each weight", "n": "inputs of the layer"},
        source="Yilmaz and Poli (2022), Neural Networks 153, 87-103",
        misprint="Shown for layers of up to 100 units and standard normal inputs. In 15 layers of"
        " 200 to 1000 units, or where the sum of the inputs does not vary between examples (centred"
        " rows), the gradient becomes 100 to 2000 times smaller.",
    ),
    topic="Networks",
    kind="empirical",
    settings=NegativeMeanConfig,
    experiment=measure_negative_mean,
)
