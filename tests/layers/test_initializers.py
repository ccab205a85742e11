"""Initializers: bounds and variances by their formulas, depth laws, and what is left alone."""

import math
import re

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import UnknownNameError
from netwright.core.seeding import seeded
from netwright.layers.initializers import INITIALIZERS, initialize

IN, OUT = 300, 200  # 60,000 weights: their variance is known to about 0.6 %


def started(name: str, seed: int = 0) -> nn.Linear:
    with seeded(seed):
        layer = nn.Linear(IN, OUT)
        initialize(layer, name)
    return layer


def stack(name: str, width: int, depth: int, activation: nn.Module, seed: int = 0) -> nn.Module:
    with seeded(seed):
        layers = [nn.Sequential(nn.Linear(width, width), activation) for _ in range(depth)]
        net = nn.Sequential(*layers)
        initialize(net, name)
    return net


def sizes(net: nn.Module, x: Tensor) -> list[float]:
    """The mean square after each layer."""
    found = []
    with torch.no_grad():
        for layer in net.children():
            x = layer(x)
            found.append(x.square().mean().item())
    return found


def normals(rows: int, columns: int, scale: float = 1.0) -> Tensor:
    return scale * torch.randn(rows, columns, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(
    ("name", "variance", "bound"),
    [
        # Uniform in [-a, a] has variance a^2 / 3.
        ("torch", 1 / (3 * IN), math.sqrt(1 / IN)),
        ("xavier-normal", 2 / (IN + OUT), None),
        ("xavier-uniform", 2 / (IN + OUT), math.sqrt(6 / (IN + OUT))),
        ("he-normal", 2 / IN, None),
        ("he-uniform", 2 / IN, math.sqrt(6 / IN)),
        ("normal", 0.01**2, None),
        ("uniform", 0.01**2 / 3, 0.01),
    ],
)
def test_variance_and_bound_follow_the_formula(
    name: str, variance: float, bound: float | None
) -> None:
    weight = started(name).weight.detach()
    assert weight.var().item() == pytest.approx(variance, rel=0.015)
    assert weight.mean().item() == pytest.approx(0, abs=4 * math.sqrt(variance / weight.numel()))
    if bound is None:
        assert weight.abs().max().item() > 3 * math.sqrt(variance)  # a normal one has tails
    else:
        assert 0.999 * bound < weight.abs().max().item() <= bound


@pytest.mark.parametrize("name", [name for name in INITIALIZERS if name != "torch"])
def test_bias_starts_at_zero(name: str) -> None:
    assert not started(name).bias.any()


def test_torch_changes_nothing() -> None:
    with seeded(0):
        untouched = nn.Linear(IN, OUT)
    layer = started("torch")
    assert torch.equal(layer.weight, untouched.weight)
    assert torch.equal(layer.bias, untouched.bias)
    assert layer.bias.any()


def test_a_row_fills_one_weight_and_gives_it_back() -> None:
    weight = torch.ones(2, 3)
    assert INITIALIZERS.load("zeros")(weight) is weight
    assert not weight.any()
    assert INITIALIZERS.load("torch")(weight) is weight


def test_zeros_are_zeros() -> None:
    assert not started("zeros").weight.any()


def test_orthogonal_rows_have_length_one_and_right_angles() -> None:
    weight = started("orthogonal").weight.detach()  # (200, 300): rows fit
    torch.testing.assert_close(weight @ weight.T, torch.eye(OUT), rtol=0, atol=1e-5)


def test_every_linear_layer_is_reached_and_no_other() -> None:
    norm = nn.BatchNorm1d(3)
    net = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3, bias=False)), norm)
    initialize(net, "zeros")
    weights = [part.weight for part in net.modules() if isinstance(part, nn.Linear)]
    assert len(weights) == 2
    assert not any(weight.any() for weight in weights)
    assert norm.weight.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("name", INITIALIZERS)
def test_weights_come_from_the_seed(name: str) -> None:
    assert torch.equal(started(name, 1).weight, started(name, 1).weight)
    if name != "zeros":
        assert not torch.equal(started(name, 1).weight, started(name, 2).weight)


@pytest.mark.parametrize("name", INITIALIZERS)
def test_its_card_explains_it_in_symbols_of_its_formula(name: str) -> None:
    card = INITIALIZERS.load(name).card
    assert card.sentence[0].isupper()
    assert card.sentence.endswith(".")
    assert re.search(r"\((1[89]|20)\d\d\)", card.source)
    assert "$" not in card.formula
    assert card.symbols
    assert all(symbol in card.formula for symbol in card.symbols)


def test_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown initializer 'xavier'; did you mean 'xav"):
        initialize(nn.Linear(1, 1), "xavier")


@pytest.mark.covers("normal-default-init")
def test_default_has_the_deviation_of_torch() -> None:
    assert started("torch").weight.std().item() == pytest.approx(1 / math.sqrt(3 * IN), rel=0.02)


@pytest.mark.covers("small-random-init")
def test_small_random_weights_lie_in_range_and_are_distinct() -> None:
    with seeded(0):
        layer = nn.Linear(IN, OUT, dtype=torch.float64)
        initialize(layer, "xavier-uniform")
    bound = math.sqrt(6 / (IN + OUT))
    assert bool((layer.weight.abs() <= bound).all())
    assert len(set(layer.weight.flatten().tolist())) == layer.weight.numel()


@pytest.mark.covers("xavier-normal")
def test_xavier_normal_keeps_the_variance_of_a_tanh_net() -> None:
    deviation = started("xavier-normal").weight.std().item()
    assert deviation == pytest.approx(math.sqrt(2 / (IN + OUT)), rel=0.01)
    # Inputs of deviation 0.2, where tanh is still nearly straight: saturation alone shrinks it.
    before = normals(200, 200, 0.2)
    after = sizes(stack("xavier-normal", 200, 10, nn.Tanh()), before)
    scale = before.square().mean().item()
    assert all(scale / 3 < size < 3 * scale for size in after)
    too_small = sizes(stack("torch", 200, 10, nn.Tanh()), before)
    assert too_small[-1] < scale / 3


@pytest.mark.covers("xavier-uniform")
def test_xavier_uniform_has_exact_bounds() -> None:
    weight = started("xavier-uniform").weight.detach()
    bound = math.sqrt(6) / math.sqrt(IN + OUT)
    assert weight.max().item() <= bound
    assert weight.min().item() >= -bound
    assert max(weight.max().item(), -weight.min().item()) == pytest.approx(bound, rel=1e-3)
    assert weight.var().item() == pytest.approx(2 / (IN + OUT), rel=0.01)


@pytest.mark.covers("he-init")
def test_he_keeps_a_deep_relu_net_alive_and_xavier_does_not() -> None:
    x = normals(16, 256)
    start = x.square().mean().item()
    after = sizes(stack("he-normal", 256, 50, nn.ReLU()), x)[-1]
    assert start / 5 < after < 5 * start
    # A square layer: Xavier's variance is 1/n, half of He's, and a ReLU halves the square.
    shrunk = sizes(stack("xavier-normal", 256, 50, nn.ReLU()), x)[-1]
    assert shrunk / start == pytest.approx(after / start * 2.0**-50, rel=1e-3)


@pytest.mark.covers("covariance-explosion")
def test_variance_above_the_critical_one_grows_with_every_layer() -> None:
    x = normals(16, 256)
    critical = stack("he-normal", 256, 20, nn.ReLU())
    quiet = sizes(critical, x)
    for part in critical.modules():
        if isinstance(part, nn.Linear):
            part.weight.data *= 1.5
    loud = sizes(critical, x)
    assert 0.2 < quiet[-1] < 5
    growth = [after / before for before, after in zip(quiet, loud, strict=True)]
    assert growth == pytest.approx([2.25**depth for depth in range(1, 21)], rel=1e-3)


@pytest.mark.covers("relu-gradient-flow")
def test_gradients_flow_through_fifty_relu_layers() -> None:
    net = stack("he-normal", 256, 50, nn.ReLU())
    x = normals(16, 256).requires_grad_()
    out = net(x)
    upstream = normals(16, 256)
    (grad,) = torch.autograd.grad(out, x, upstream)
    assert 1 / 5 < (grad.norm() / upstream.norm()).item() < 5
    first = nn.Sequential(*list(net.children())[:1])(x)
    assert (first > 0).float().mean().item() == pytest.approx(0.5, abs=0.03)
    squashed = stack("xavier-normal", 256, 50, nn.Sigmoid())
    (grad,) = torch.autograd.grad(squashed(x), x, upstream)
    assert (grad.norm() / upstream.norm()).item() < 1e-25


@pytest.mark.covers("vanishing-gradient")
def test_gradients_vanish_in_sigmoid_layers() -> None:
    # Width 100, weights N(0, 1/n), which is Xavier's for a square layer.
    x, upstream = normals(16, 100), normals(16, 100)
    factors = {}
    for name, activation in (("xavier-normal", nn.Sigmoid()), ("he-normal", nn.ReLU())):
        leaf = x.clone().requires_grad_()
        out = stack(name, 100, 10, activation)(leaf)
        (grad,) = torch.autograd.grad(out, leaf, upstream)
        factors[name] = (grad.norm() / upstream.norm()).item() ** (1 / 10)
    assert 0.2 < factors["xavier-normal"] <= 0.25
    assert factors["he-normal"] == pytest.approx(1.0, abs=0.15)
    assert factors["xavier-normal"] ** -10 > 1e5
