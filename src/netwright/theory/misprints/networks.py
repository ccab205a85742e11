"""Misprints about layers, their sizes, symmetries and starting weights."""

import math
from itertools import permutations, product

import torch

from netwright.core.seeding import generator
from netwright.layers.initializers import initialize
from netwright.theory.misprints.entry import Misprint, Telling


def equivalent_weights() -> Telling:
    """Every way to reorder the units of two hidden layers of three."""
    units, layers = 3, 2
    orders = list(product(permutations(range(units)), repeat=layers))
    return Telling(
        what="reorderings of two hidden layers of three units",
        rule="equals",
        bound=len(set(orders)),
        right=math.factorial(units) ** layers,
        wrong=math.factorial(units) * layers,
    )


def bias_size() -> Telling:
    """A layer from three inputs to two units."""
    layer = torch.nn.Linear(3, 2)
    x = torch.zeros(3)
    return Telling(
        what="biases less units, or inputs, of a layer from 3 inputs to 2 units",
        rule="equals",
        bound=0,
        right=len(layer.bias) - len(layer(x)),
        wrong=len(layer.bias) - len(x),
    )


def glorot_spread() -> Telling:
    """100 inputs and 300 outputs: the spread of what our initializer draws."""
    layer = torch.nn.Linear(100, 300)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        initialize(layer, "xavier-normal")
    spread = float(layer.weight.detach().std())
    return Telling(
        what="standard deviation over the one of the weights drawn, 100 inputs and 300 outputs",
        rule="equals",
        bound=1.0,
        within=0.02,
        right=math.sqrt(2 / 400) / spread,
        wrong=math.sqrt(math.sqrt(2 / 400)) / spread,  # N(0, v) has the variance v
    )


def signal_growth() -> Telling:
    """A nilpotent matrix: its eigenvalues are 0, and it doubles a signal."""
    matrix = torch.tensor([[0.0, 2.0], [0.0, 0.0]], dtype=torch.float64)
    grown = float((matrix @ torch.tensor([0.0, 1.0], dtype=torch.float64)).norm())
    return Telling(
        what="largest growth of a signal in one layer, said over measured",
        rule="equals",
        bound=1.0,
        within=1e-12,
        right=float(torch.linalg.matrix_norm(matrix, 2)) / grown,
        wrong=float(torch.linalg.eigvals(matrix).abs().max()) / grown,
    )


def picture_growth() -> Telling:
    """A unit on half a picture and on the whole one."""
    with torch.device("meta"):
        half, whole = (torch.nn.Linear(3 * 200 * side, 1).weight.numel() for side in (100, 200))
    return Telling(
        what="weights of a unit on a whole picture over those on half of it",
        rule="equals",
        bound=whole / half,
        right=2,
        wrong=half,  # an exponential squares where its argument doubles
    )


def backward_signal() -> Telling:
    """Two tanh layers: the loss by the first layer's states, against autograd."""
    rng = generator(0, "backward")
    first = torch.randn(4, generator=rng, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(3, 4, generator=rng, dtype=torch.float64)
    second = (weights @ first).tanh()
    (wanted,) = torch.autograd.grad(second.square().sum() / 2, first)
    later = second.detach()
    jacobian = (1 - later.square())[:, None] * weights
    quotient = later[:, None] / first.detach()
    return Telling(
        what="largest difference from autograd",
        rule="at most",
        bound=1e-12,
        right=float((jacobian.T @ later - wanted).abs().max()),
        wrong=float((quotient.T @ later - wanted).abs().max()),
    )


def gradient_path() -> Telling:
    """Eight layers that halve: what a backward loop gives with and without its recursion."""
    scale, depth = 0.5, 8
    x = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(depth):
        y = scale * y
    (wanted,) = torch.autograd.grad(y, x)

    def signal_below(*, renewed: bool) -> float:
        signal = 1.0
        for _ in range(depth):
            passed_on = scale * signal
            if renewed:
                signal = passed_on
        return signal

    return Telling(
        what="signal that reaches the first of 8 layers",
        rule="equals",
        bound=float(wanted),
        right=signal_below(renewed=True),
        wrong=signal_below(renewed=False),
    )


NETWORKS = (
    Misprint(
        name="equivalent-weights",
        topic="Networks",
        right=r"(n!)^l \; \text{ equivalent weights}",
        wrong=r"n! \, l \; \text{ equivalent weights}",
        difference="Each of the l layers is reordered by itself: the choices multiply.",
        experiment=equivalent_weights,
    ),
    Misprint(
        name="bias-size",
        topic="Networks",
        right=r"\phi(W x + b), \quad W \in \mathbb{R}^{m \times n}, \; b \in \mathbb{R}^m",
        wrong=r"\phi(W x + b), \quad W \in \mathbb{R}^{m \times n}, \; b \in \mathbb{R}^n",
        difference="There is one bias for each unit of the layer, not for each input.",
        experiment=bias_size,
    ),
    Misprint(
        name="glorot-variance",
        topic="Networks",
        right=r"w \sim N\left(0, \frac{2}{n_{in} + n_{out}}\right)",
        wrong=r"w \sim N\left(0, \sqrt{\frac{2}{n_{in} + n_{out}}}\right)",
        difference="The second argument is the variance; its root is the standard deviation.",
        experiment=glorot_spread,
    ),
    Misprint(
        name="signal-growth",
        topic="Networks",
        right=r"\|W x\| \leq \sigma_1(W) \|x\|",
        wrong=r"\|W x\| \leq |\lambda_1(W)| \|x\|",
        difference="Growth is bounded by the largest singular value; eigenvalues of a matrix that "
        "is not normal can all be 0.",
        experiment=signal_growth,
    ),
    Misprint(
        name="weights-of-a-picture",
        topic="Networks",
        right=r"\text{weights of a unit} = 3 \cdot \text{side}^2",
        wrong=r"\text{weights of a unit} \sim e^{\text{side}^2}",
        difference="The weights of a unit grow linearly with the pixels, not exponentially.",
        experiment=picture_growth,
    ),
    Misprint(
        name="backward-jacobian",
        topic="Networks",
        right=r"p_l = \left[ \frac{\partial h_{l+1}}{\partial h_l} \right]^\top p_{l+1}",
        wrong=r"p_l = \left[ \frac{h_{l+1}}{h_l} \right]^\top p_{l+1}",
        difference="The signal goes back through derivatives; quotients of states mean nothing.",
        experiment=backward_signal,
    ),
    Misprint(
        name="backward-recursion",
        topic="Networks",
        right=r"\text{for } l = L, \ldots, 1: \quad \nabla_{W_l} = p_{l+1} \cdots, \quad"
        r" p_l = \left[ \frac{\partial h_{l+1}}{\partial h_l} \right]^\top p_{l+1}",
        wrong=r"\text{for } l = L, \ldots, 1: \quad \nabla_{W_l} = p_{l+1} \cdots",
        difference="A loop that does not renew p gives every layer the signal of the last.",
        experiment=gradient_path,
    ),
    Misprint(
        name="number-of-regions",
        topic="Networks",
        right=r"\max_\theta R(\theta) \geq \lfloor m/n \rfloor^{n(L-1)} \sum_{i=0}^n \binom{m}{i}",
        wrong=r"R(\theta) \geq \lfloor m/n \rfloor^{n(L-1)} \sum_{i=0}^n \binom{m}{i}",
        difference="The bound is for the best weights; random networks have far fewer regions "
        "(see the claim montufar).",
    ),
)
