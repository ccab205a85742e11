"""Initial weights by name; most are torch's own, biases start at zero.

"torch" leaves what torch's layers set up themselves (uniform within 1/sqrt(n), biases too).
Source: Glorot and Bengio (2010) for Xavier, He et al. (2015) for He, Saxe et al. (2014) orthogonal.
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.catalog import Catalog

SMALL = 0.01


@dataclass(frozen=True, kw_only=True)
class Initializer:
    """A row's part in the catalog of initializers.

    Args:
        fill: overwrites a weight (outputs, inputs) and gives it back.
        card: sentence, formula, symbols, source.
    """

    fill: Callable[[Tensor], Tensor]
    card: Card

    def __call__(self, weight: Tensor) -> Tensor:
        """Fill one weight in place."""
        return self.fill(weight)


def small_normal(weight: Tensor) -> Tensor:
    """N(0, 0.01^2): small enough that no unit saturates, different enough to break the symmetry."""
    return nn.init.normal_(weight, std=SMALL)


def small_uniform(weight: Tensor) -> Tensor:
    """U(-0.01, 0.01)."""
    return nn.init.uniform_(weight, -SMALL, SMALL)


def keep(weight: Tensor) -> Tensor:
    """The weight as torch made it."""
    return weight


_W = {"w": "each weight of a layer, drawn by itself"}
_FAN_IN = {**_W, "n": "inputs of the layer"}
_FANS = {**_FAN_IN, "m": "outputs of the layer"}
_GLOROT = "Glorot and Bengio (2010), AISTATS 13, 249-256"
_HE = "He, Zhang, Ren and Sun (2015), ICCV, 1026-1034"

TORCH = Initializer(
    fill=keep,
    card=Card(
        sentence="As torch's layers draw their weights, and their biases, when they are made.",
        formula=r"w \sim U\left(-\frac{1}{\sqrt{n}}, \frac{1}{\sqrt{n}}\right)",
        symbols=_FAN_IN,
        source=f"{_GLOROT}, equation 1",
        misprint="Often called Xavier's; it is the older rule that Xavier's was compared with.",
    ),
)
ZEROS = Initializer(
    fill=nn.init.zeros_,
    card=Card(
        sentence="All zero: good for a linear model, but hidden units that start alike stay alike.",
        formula="w = 0",
        symbols={"w": "each weight"},
        source="Rumelhart, Hinton and Williams (1986), Parallel Distributed Processing, chapter 8",
    ),
)
NORMAL = Initializer(
    fill=small_normal,
    card=Card(
        sentence="Small normal numbers: no unit saturates, and no two are alike.",
        formula=r"w \sim N(0, 0.01^2)",
        symbols=_W,
        source="Krizhevsky, Sutskever and Hinton (2012), NIPS 25, section 5",
    ),
)
UNIFORM = Initializer(
    fill=small_uniform,
    card=Card(
        sentence="Small uniform numbers: no unit saturates, and no two are alike.",
        formula=r"w \sim U(-0.01, 0.01)",
        symbols=_W,
        source="Rumelhart, Hinton and Williams (1986), Parallel Distributed Processing, chapter 8",
    ),
)
XAVIER_NORMAL = Initializer(
    fill=nn.init.xavier_normal_,
    card=Card(
        sentence="Normal numbers whose variance carries signals and gradients through tanh layers.",
        formula=r"w \sim N\left(0, \frac{2}{n + m}\right)",
        symbols=_FANS,
        source=_GLOROT,
        misprint="The root of 2 / (n + m) is the standard deviation, not the variance.",
    ),
)
XAVIER_UNIFORM = Initializer(
    fill=nn.init.xavier_uniform_,
    card=Card(
        sentence="Uniform numbers of the same variance, 2 / (n + m), as Xavier's normal ones.",
        formula=r"w \sim U\left(-\sqrt{\frac{6}{n + m}}, \sqrt{\frac{6}{n + m}}\right)",
        symbols=_FANS,
        source=_GLOROT,
    ),
)
HE_NORMAL = Initializer(
    fill=nn.init.kaiming_normal_,
    card=Card(
        sentence="Normal numbers of twice the variance 1/n: a ReLU lets half of it through.",
        formula=r"w \sim N\left(0, \frac{2}{n}\right)",
        symbols=_FAN_IN,
        source=_HE,
    ),
)
HE_UNIFORM = Initializer(
    fill=nn.init.kaiming_uniform_,
    card=Card(
        sentence="Uniform numbers of the same variance, 2 / n, as He's normal ones.",
        formula=r"w \sim U\left(-\sqrt{\frac{6}{n}}, \sqrt{\frac{6}{n}}\right)",
        symbols=_FAN_IN,
        source=_HE,
    ),
)
ORTHOGONAL = Initializer(
    fill=nn.init.orthogonal_,
    card=Card(
        sentence="A random matrix that turns without stretching: the length of signals is kept.",
        formula=r"W^T W = I \quad \text{or} \quad W W^T = I",
        symbols={"W": "the weights of a layer, (m, n); the first where m >= n"},
        source="Saxe, McClelland and Ganguli (2014), arXiv 1312.6120",
    ),
)

INITIALIZERS: Catalog[Initializer] = Catalog(
    "initializer",
    {
        name: f"netwright.layers.initializers:{name.replace('-', '_').upper()}"
        for name in (
            "torch",
            "zeros",
            "normal",
            "uniform",
            "xavier-normal",
            "xavier-uniform",
            "he-normal",
            "he-uniform",
            "orthogonal",
        )
    },
)


def initialize(module: nn.Module, name: str) -> None:
    """Set the weights of every linear layer in a module; "torch" changes nothing."""
    initializer = INITIALIZERS.load(name)
    if initializer is TORCH:
        return
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            initializer(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
