r"""Deep networks of ReLUs: He's weights keep gradients, Xavier's halve their square every layer.

A ReLU lets half of the squared signal through, and half of the squared gradient. He's variance 2/n
makes up for it, Xavier's 1/n of layers of equal width does not, so that over L layers

    |d_1| / |d_L| ~ 1  (He),        2^{-(L - 1) / 2}  (Xavier).

Shapes: n units of every layer, L hidden layers, S networks.
Source: He et al., "Delving Deep into Rectifiers" (2015), section 2.2.
"""

import math
from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.seeding import derive_seed
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.networks.gradient_depth import relative_norms
from netwright.theory.verdict import Verdict, at_most, equals, estimate

NETS = {"quick": 3, "full": 30}
MEAN_OFF, ONE_OFF = 2.5, 6  # bits a sqrt(L / n), which is about the spread of one network
DOTS = 17  # of a chart: with more of them the line is not seen
# Bits: weights are drawn in float32, and once in a while its rounding turns a unit on or off.
ROUNDING = 0.01


@dataclass(frozen=True, kw_only=True)
class HeConfig(Config):
    """The deep network."""

    width: Annotated[int, Interval(ge=20, le=1000), Doc("n, units of every layer")] = 256
    depth: Annotated[int, Interval(ge=2, le=100), Doc("L, hidden layers")] = 50
    relu: Annotated[bool, Assumption("the units are ReLUs; off: tanh units")] = True


def measure_he(given: HeConfig, seed: int, effort: Effort) -> Verdict:
    """Start the same networks by He's and by Xavier's rule."""
    seeds = [derive_seed(seed, "start", i) for i in range(NETS[effort])]
    he, xavier = (
        relative_norms(
            given.width,
            given.depth,
            activation="relu" if given.relu else "tanh",
            initializer=initializer,
            seeds=seeds,
        )
        for initializer in ("he-normal", "xavier-normal")
    )
    bits, xavier_bits = he.log2(), xavier.log2()  # (S, L)
    means = [part.mean(dim=0).exp2().tolist() for part in (bits, xavier_bits)]
    halved, spread = (given.depth - 1) / 2, math.sqrt(given.depth / given.width)
    kept = estimate(bits[:, 0].tolist())
    layers = range(1, given.depth + 1)
    shown = slice(0, None, math.ceil(given.depth / DOTS))
    return Verdict(
        findings=(
            equals(
                f"log2 of the gradient of layer 1 over layer {given.depth}, He",
                0,
                kept.mean,
                within=MEAN_OFF * spread,
                n=kept.n,
                interval=kept.interval,
            ),
            at_most(
                "factor by which it grows or shrinks, the largest",
                2 ** (ONE_OFF * spread),
                2 ** float(bits[:, 0].abs().max()),
                n=len(he),
            ),
            equals(
                "log2 of He over Xavier in layer 1, the one furthest off",
                halved,
                max((bits - xavier_bits)[:, 0].tolist(), key=lambda gap: abs(gap - halved)),
                within=ROUNDING,
                n=len(he),
            ),
        ),
        chart=ClaimChart(
            x_label="hidden layer, from the input",
            y_label=f"gradient over that of layer {given.depth}",
            series=(
                predicted("He: kept", layers, [1.0] * given.depth),
                predicted(
                    "Xavier: halved every two layers",
                    layers,
                    [2 ** ((layer - given.depth) / 2) for layer in layers],
                ),
                measured("He's weights", layers[shown], means[0][shown]),
                measured("Xavier's weights", layers[shown], means[1][shown]),
            ),
            explanation="Half of the units of a layer are off, so that half of the squared gradient"
            " passes; weights of twice the variance make up for it."
            if given.relu
            else "No half of the tanh units is off: Xavier's weights lose less than with ReLUs, and"
            " He's are too large.",
            log="y",
        ),
    )


HE_INIT = Claim(
    card=Card(
        sentence="He's weights keep the gradients of deep ReLU networks, Xavier's let them vanish.",
        formula=r"\mathrm{Var}(w) = \frac{2}{n}: \; \frac{|d_1|}{|d_L|} \approx 1,"
        r" \qquad \mathrm{Var}(w) = \frac{1}{n}: \; \frac{|d_1|}{|d_L|} \approx 2^{-(L-1)/2}",
        symbols={
            "w": "each weight",
            "n": "units of a layer",
            "d_l": "gradient by the pre-activations of layer l, (n)",
            "L": "hidden layers",
        },
        source="He, Zhang, Ren and Sun (2015), ICCV, 1026-1034",
    ),
    topic="Networks",
    kind="empirical",
    settings=HeConfig,
    experiment=measure_he,
)
