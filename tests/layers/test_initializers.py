"""Initializers: bounds and variances by their formulas, depth laws, and what is left alone."""

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from netwright.core.errors import ConfigError, UnknownNameError
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.layers.initializers import INITIALIZERS, initialize
from netwright.models.mlp import MLP, MLPConfig
from tests.repetition import for_each

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


@for_each(
    ("name", "variance", "bound"),
    [
        # Uniform in [-a, a] has variance a^2 / 3.
        ("torch", 1 / (3 * IN), math.sqrt(1 / IN)),
        ("xavier-normal", 2 / (IN + OUT), None),
        ("xavier-uniform", 2 / (IN + OUT), math.sqrt(6 / (IN + OUT))),
        ("he-normal", 2 / IN, None),
        ("he-uniform", 2 / IN, math.sqrt(6 / IN)),
        ("xavier-simple", 1 / (3 * IN), math.sqrt(1 / IN)),
        ("logistic", 3.6**2 / IN, None),
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


@for_each("name", [name for name in INITIALIZERS if name not in {"torch", "near-identity"}])
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


def test_every_linear_layer_and_convolution_is_reached_and_no_other() -> None:
    norm = nn.BatchNorm1d(3)
    net = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 3, bias=False)), norm)
    kernels = [nn.Conv1d(1, 1, 2), nn.Conv2d(1, 1, 2), nn.Conv3d(1, 1, 2)]
    net.extend(kernels)
    initialize(net, "zeros")
    weights = [part.weight for part in net.modules() if isinstance(part, nn.Linear)]
    weights += [kernel.weight for kernel in kernels]
    assert len(weights) == 5
    assert not any(weight.any() for weight in weights)
    assert norm.weight.tolist() == [1.0, 1.0, 1.0]


@for_each("name", INITIALIZERS)
@for_each("shape", [(7, 5), (6, 3, 4), (8, 2, 3, 3), (4, 3, 2, 2, 2)])
def test_weights_of_every_shape_come_from_the_seed(name: str, shape: tuple[int, ...]) -> None:
    def filled(seed: int) -> Tensor:
        with seeded(seed):
            weight = torch.randn(shape)
            return INITIALIZERS.load(name)(weight)

    assert torch.equal(filled(1), filled(1))
    assert bool(filled(1).isfinite().all())
    is_fixed = name in {"zeros", "constant", "identity"}
    assert torch.equal(filled(1), filled(2)) == is_fixed


@for_each("n", [2, 8, 100, 400])
def test_yilmaz_and_poli_draw_around_a_negative_mean(n: int) -> None:
    with seeded(0):
        layer = nn.Linear(n, 100_000 // n)
        initialize(layer, "yilmaz-poli")
    mean, deviation = max(-1, -8 / n), 1 / math.sqrt(n)
    weight = layer.weight.detach()
    assert weight.mean().item() == pytest.approx(mean, abs=4 * deviation / weight.numel() ** 0.5)
    assert weight.std().item() == pytest.approx(deviation, rel=0.02)


@for_each(
    ("name", "variance"),
    [
        # 6 channels and a window of 5 x 5 make 150 inputs; 40 x 25 places make 1000 outputs.
        ("xavier-simple", 1 / (3 * 150)),
        ("logistic", 3.6**2 / 150),
        ("yilmaz-poli", 1 / 150),
        ("he-normal", 2 / 150),
        ("xavier-normal", 2 / (150 + 1000)),
    ],
)
def test_a_kernel_counts_its_window(name: str, variance: float) -> None:
    with seeded(0):
        layer = nn.Conv2d(6, 40, 5)
        initialize(layer, name)
    assert layer.weight.detach().var().item() == pytest.approx(variance, rel=0.06)
    assert layer.bias is not None
    assert not layer.bias.any()


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (3, 5), (5, 3)])
def test_identity_hands_on_its_input_as_far_as_it_has_room(rows: int, columns: int) -> None:
    layer = nn.Linear(columns, rows)
    initialize(layer, "identity")
    x, room = normals(2, columns), min(rows, columns)
    out = layer(x)
    assert torch.equal(out[:, :room], x[:, :room])
    assert not out[:, room:].any()


def test_an_identity_kernel_hands_on_its_picture() -> None:
    for layer, shape in (
        (nn.Conv1d(3, 3, 5, padding=2), (2, 3, 9)),
        (nn.Conv2d(3, 3, 3, padding=1), (2, 3, 6, 6)),
        (nn.Conv3d(2, 2, 3, padding=1), (2, 2, 4, 4, 4)),
    ):
        initialize(layer, "identity")
        x = normals(2, math.prod(shape[1:])).view(shape)
        torch.testing.assert_close(layer(x), x, rtol=0, atol=0)


def test_an_identity_keeps_a_state_for_a_thousand_steps() -> None:
    layer = nn.Linear(5, 5, dtype=torch.float64)
    initialize(layer, "identity")

    def state_after(state: Tensor) -> Tensor:
        for _ in range(1000):
            state = layer(state).relu()
        return state

    state = normals(1, 5)[0].double().abs()
    assert torch.equal(state_after(state), state)
    jacobian = torch.autograd.functional.jacobian(state_after, state)  # type: ignore[no-untyped-call]
    assert torch.equal(jacobian, torch.eye(5, dtype=torch.float64))


@pytest.mark.parametrize("shape", [(30, 30), (20, 50), (8, 3, 3, 3)])
def test_unit_spectral_weights_have_the_largest_singular_value_one(shape: tuple[int, ...]) -> None:
    with seeded(0):
        weight = INITIALIZERS.load("unit-spectral")(torch.empty(shape, dtype=torch.float64))
    singular = torch.linalg.svdvals(weight.flatten(1))
    assert singular[0].item() == pytest.approx(1, abs=1e-12)
    assert singular[-1] < 1
    if shape[0] == shape[-1]:
        assert torch.linalg.eigvals(weight).abs().max() <= 1


@pytest.mark.covers("unit-spectral-init")
def test_orthogonal_layers_keep_the_length_over_a_hundred_layers() -> None:
    with seeded(0):
        net = nn.Sequential(*(nn.Linear(50, 50, dtype=torch.float64) for _ in range(100)))
        initialize(net, "orthogonal")
    x = normals(8, 50).double()
    torch.testing.assert_close(net(x).norm(dim=1), x.norm(dim=1), rtol=1e-10, atol=0)
    first = net[0].weight
    assert isinstance(first, Tensor)
    gap = first @ first.T - torch.eye(50, dtype=torch.float64)
    assert gap.abs().max().item() < 1e-13


def correlation(x: Tensor, y: Tensor) -> float:
    return torch.corrcoef(torch.stack((x.flatten(), y.flatten())))[0, 1].item()


@pytest.mark.covers("near-identity-init")
@pytest.mark.parametrize("seed", range(3))
def test_near_identity_weights_let_the_input_through_fifty_layers(seed: int) -> None:
    def hidden(residual: bool, initializer: str, batch_norm: bool = False) -> nn.Module:
        config = MLPConfig(
            hidden=(64,) * 50,
            activation="tanh",
            residual=residual,
            dropout=0.0,
            batch_norm=batch_norm,
            initializer=initializer,
        )
        spec = DataSpec(inputs="features", input_shape=(64,), target="real", num_outputs=1)
        with seeded(seed):
            return MLP.build(config, spec).hidden

    x = normals(32, 64)
    with torch.no_grad():
        assert correlation(x, hidden(True, "near-identity")(x)) > 0.9
        assert correlation(x, hidden(True, "near-identity", batch_norm=True)(x)) > 0.9
        assert abs(correlation(x, hidden(False, "xavier-normal")(x))) < 0.2


def test_near_identity_without_residual_layers_is_refused() -> None:
    sentence = r"^near-identity needs residual layers \(residual=true\), the model has none$"
    with pytest.raises(ConfigError, match=sentence):
        initialize(nn.Linear(2, 2), "near-identity")


@pytest.mark.covers("xavier-simple-uniform")
def test_the_older_uniform_rule_loses_two_thirds_of_the_variance_a_layer() -> None:
    weight = started("xavier-simple").weight.detach()
    assert weight.var().item() == pytest.approx(1 / (3 * IN), rel=0.015)
    x = normals(64, 300)
    before = x.square().mean().item()
    for name, share in (("xavier-simple", 1 / 3), ("xavier-uniform", 1.0)):
        after = sizes(stack(name, 300, 6, nn.Identity()), x)[-1]
        assert (after / before) ** (1 / 6) == pytest.approx(share, rel=0.06)


STARTS = ("zeros", "normal", "xavier-normal", "he-uniform", "logistic")


def losses_from(
    build: Callable[[], nn.Module],
    learn: Callable[[Iterator[nn.Parameter]], torch.optim.Optimizer],
    steps: int,
) -> list[float]:
    """The last training loss from each of five starts, on three clouds of points."""
    x = normals(90, 4) + 2 * torch.eye(3, 4).repeat(30, 1)
    labels = torch.arange(3).repeat(30)
    found = []
    for name in STARTS:
        with seeded(0):
            net = build()
            initialize(net, name)
        optimizer = learn(net.parameters())

        def closure(net: nn.Module = net, optimizer: torch.optim.Optimizer = optimizer) -> Tensor:
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), labels)
            loss.backward()  # type: ignore[no-untyped-call]
            return loss

        for _ in range(steps):
            optimizer.step(closure)  # type: ignore[arg-type]
        found.append(closure().item())
    return found


@pytest.mark.slow
@pytest.mark.covers("initialization-general")
def test_the_start_matters_to_a_deep_net_and_not_to_a_convex_problem() -> None:
    convex = losses_from(lambda: nn.Linear(4, 3), partial(torch.optim.LBFGS, max_iter=60), 1)
    assert max(convex) - min(convex) < 1e-5
    deep = losses_from(lambda: deep_sigmoid(4, 20, 5, 3), partial(torch.optim.Adam, lr=0.02), 60)
    assert max(deep) == pytest.approx(math.log(3), abs=0.01)  # it has learned nothing
    assert min(deep) < 0.7


def deep_sigmoid(before: int, width: int, depth: int, after: int) -> nn.Module:
    widths = [before, *[width] * depth]
    hidden = [nn.Sequential(nn.Linear(a, b), nn.Sigmoid()) for a, b in pairwise(widths)]
    return nn.Sequential(*hidden, nn.Linear(width, after))


@pytest.mark.slow
@pytest.mark.covers("layerwise-pretraining")
def test_layers_added_as_identities_to_frozen_ones_never_raise_the_loss() -> None:
    x = normals(200, 2)
    target = (x[:, :1] * x[:, 1:]).tanh()
    with seeded(0):
        net, head = nn.Sequential(nn.Linear(2, 12), nn.ReLU()), nn.Linear(12, 1)
    reached = math.inf
    for depth in (1, 2, 3):
        if depth > 1:
            net.requires_grad_(False)
            layer = nn.Linear(12, 12)
            initialize(layer, "identity")  # what comes out of a ReLU passes the next one
            net = nn.Sequential(*net, layer, nn.ReLU())
        learned = [part for part in net.parameters() if part.requires_grad]
        assert len(learned) == 2
        optimizer = torch.optim.Adam([*learned, *head.parameters()], lr=0.005)
        losses = []
        for _ in range(150):
            optimizer.zero_grad()
            loss = F.mse_loss(head(net(x)), target)
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            losses.append(loss.item())
        assert losses[0] <= reached * (1 + 1e-6)
        assert losses[-1] < 0.95 * losses[0]
        reached = losses[-1]


@for_each("name", INITIALIZERS)
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
    assert 0.3 < (grad.norm() / upstream.norm()).item() < 3.3
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
