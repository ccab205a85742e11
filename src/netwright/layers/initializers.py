"""Initial weights by name, for linear layers and convolutions; biases start at zero.

"torch" leaves what torch's layers set up themselves (uniform within 1/sqrt(n), biases too).
Source: Glorot and Bengio (2010) for Xavier, He et al. (2015) for He, Saxe et al. (2014) orthogonal,
Kumar (2017) and Yilmaz and Poli (2022) for sigmoids, Zhang et al. (2019) near the identity.
"""

import math

import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.catalog import Catalog
from netwright.layers.initializer import Initializer, fan_in
from netwright.layers.residual import divide_branches

SMALL = 0.01
SIGMOID_SCALE = 3.6  # 1 / (s'(0) sqrt(1 + s(0)^2)) = 4 / sqrt(5/4) = 3.58 of the sigmoid s


def small_normal(weight: Tensor) -> Tensor:
    """N(0, 0.01^2): small enough that no unit saturates, different enough to break the symmetry."""
    return nn.init.normal_(weight, std=SMALL)


def small_uniform(weight: Tensor) -> Tensor:
    """U(-0.01, 0.01)."""
    return nn.init.uniform_(weight, -SMALL, SMALL)


def small_constant(weight: Tensor) -> Tensor:
    """0.01 everywhere."""
    return nn.init.constant_(weight, SMALL)


def root_uniform(weight: Tensor) -> Tensor:
    """U(-1/sqrt(n), 1/sqrt(n)), of variance 1 / (3n)."""
    bound = 1 / math.sqrt(fan_in(weight))
    return nn.init.uniform_(weight, -bound, bound)


def logistic_normal(weight: Tensor) -> Tensor:
    """N(0, 3.6^2 / n)."""
    return nn.init.normal_(weight, std=SIGMOID_SCALE / math.sqrt(fan_in(weight)))


def negative_mean_normal(weight: Tensor) -> Tensor:
    """N(max(-1, -8/n), 1/n): the mean is the rule's, the deviation is the usual one."""
    n = fan_in(weight)
    return nn.init.normal_(weight, mean=max(-1.0, -8 / n), std=1 / math.sqrt(n))


def identity(weight: Tensor) -> Tensor:
    """Ones on the diagonal; of a kernel, at the middle of its window."""
    return nn.init.eye_(weight) if weight.ndim == 2 else nn.init.dirac_(weight)


@torch.no_grad()
def unit_spectral(weight: Tensor) -> Tensor:
    """Normal numbers, divided by the largest singular value of the matrix (m, n)."""
    nn.init.normal_(weight)
    return weight.div_(torch.linalg.matrix_norm(weight.flatten(1), ord=2))


def keep(weight: Tensor) -> Tensor:
    """The weight as torch made it."""
    return weight


_W = {"w": "each weight of a layer, drawn by itself"}
_MATRIX = {"W": "the weights of a layer, (m, n); of a convolution one row an output"}
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
CONSTANT = Initializer(
    fill=small_constant,
    card=Card(
        sentence="All the same: hidden units that start alike stay alike, whatever they learn.",
        formula="w = 0.01",
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
XAVIER_SIMPLE = Initializer(
    fill=root_uniform,
    card=Card(
        sentence="Uniform numbers within 1/sqrt(n): a linear layer lets a third of the variance"
        " through.",
        formula=r"w \sim U\left(-\frac{1}{\sqrt{n}}, \frac{1}{\sqrt{n}}\right)",
        symbols=_FAN_IN,
        source=f"{_GLOROT}, equation 1",
        misprint="Often called Xavier's; it is the older rule that Xavier's was compared with.",
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
LOGISTIC = Initializer(
    fill=logistic_normal,
    card=Card(
        sentence="Normal numbers 3.6 times as wide as 1/sqrt(n), for the small slope of sigmoids.",
        formula=r"w \sim N\left(0, \frac{3.6^2}{n}\right)",
        symbols=_FAN_IN,
        source="Kumar (2017), arXiv 1704.08863",
    ),
)
YILMAZ_POLI = Initializer(
    fill=negative_mean_normal,
    card=Card(
        sentence="Normal numbers whose mean is negative: sigmoid units then start below one half,"
        " and in layers of up to 100 units their gradients do not vanish.",
        formula=r"w \sim N\left(\max\left(-1, -\frac{8}{n}\right), \frac{1}{n}\right)",
        symbols=_FAN_IN,
        source="Yilmaz and Poli (2022), Neural Networks 153, 87-103, for the mean; the variance is"
        " the usual one",
        misprint="In 15 layers of 200 to 1000 units, or where the sum of the inputs does not vary"
        " between examples (centred rows), the gradient becomes 100 to 2000 times smaller.",
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

IDENTITY = Initializer(
    fill=identity,
    card=Card(
        sentence="A layer that hands on its input, as far as it has room: no signal is lost.",
        formula="W = I",
        symbols={"W": "the weights of a layer, (m, n), zero beside the diagonal"},
        source="Le, Jaitly and Hinton (2015), arXiv 1504.00941",
    ),
)
UNIT_SPECTRAL = Initializer(
    fill=unit_spectral,
    card=Card(
        sentence="Normal numbers, scaled so that no signal is stretched and one keeps its length.",
        formula=r"\sigma_1(W) = 1, \quad |\lambda(W)| \le 1",
        symbols={
            r"\sigma_1": "the largest singular value, which also bounds the eigenvalues",
            r"\lambda": "any eigenvalue of a square layer",
            **_MATRIX,
        },
        source="Saxe, McClelland and Ganguli (2014), arXiv 1312.6120",
    ),
)
NEAR_IDENTITY = Initializer(
    fill=nn.init.xavier_normal_,
    divides_branches=True,
    card=Card(
        sentence="Xavier's numbers, divided by L in the branches of L residual layers: a deep"
        " network starts as a small deviation from the identity.",
        formula=r"x_{l+1} = x_l + \phi\left(\frac{W_l}{L} x_l\right),"
        r" \quad w \sim N\left(0, \frac{2}{n + m}\right)",
        symbols={
            "x_l": "what comes into residual layer l",
            "W_l": "its weights, of numbers w",
            "L": "residual layers of the network",
            "n": "inputs of the layer",
            "m": "outputs of the layer",
        },
        source="after Zhang, Dauphin and Ma (2019), arXiv 1901.09321; that it is 1 / L is ours",
    ),
)

INITIALIZERS: Catalog[Initializer] = Catalog(
    "initializer",
    {
        name: f"netwright.layers.initializers:{name.replace('-', '_').upper()}"
        for name in (
            "torch",
            "zeros",
            "constant",
            "normal",
            "uniform",
            "logistic",
            "yilmaz-poli",
            "xavier-simple",
            "xavier-normal",
            "xavier-uniform",
            "he-normal",
            "he-uniform",
            "orthogonal",
            "identity",
            "unit-spectral",
            "near-identity",
        )
    },
)
WEIGHTED = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)


def initialize(module: nn.Module, name: str) -> None:
    """Set the weights of every linear layer and convolution in a module; "torch" changes nothing.

    Transposed convolutions, whose outputs have no fixed number of inputs, stay as torch made them.
    """
    initializer = INITIALIZERS.load(name)
    if initializer is TORCH:
        return
    for layer in module.modules():
        if isinstance(layer, WEIGHTED):
            initializer(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    if initializer.divides_branches:
        divide_branches(module)
