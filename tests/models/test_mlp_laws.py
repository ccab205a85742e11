"""What is true of every MLP: symmetries, layers as maps, linear pieces, and small known nets."""

import math
from itertools import permutations, product

import pytest
import torch
from scipy.optimize import linprog
from torch import Tensor, nn

from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.mlp import MLP, MLPConfig
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer

XOR = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
ANSWERS = torch.tensor([[0.0], [1.0], [1.0], [0.0]], dtype=torch.float64)


def mlp(
    hidden: tuple[int, ...], inputs: int, outputs: int, activation: str = "relu", seed: int = 0
) -> MLP:
    """A plain net in double precision."""
    config = MLPConfig(hidden=hidden, activation=activation, dropout=0.0)
    spec = DataSpec(inputs="features", input_shape=(inputs,), target="real", num_outputs=outputs)
    with seeded(seed):
        return MLP.build(config, spec).double()


def affine_maps(model: MLP) -> list[nn.Linear]:
    return [part for part in model.modules() if isinstance(part, nn.Linear)]


def fill(part: nn.Linear, weight: Tensor, bias: Tensor) -> None:
    with torch.no_grad():
        part.weight.copy_(weight)
        part.bias.copy_(bias)


def inputs(rows: int, columns: int, seed: int = 0) -> Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return torch.randn(rows, columns, generator=numbers, dtype=torch.float64)


def close(actual: Tensor, expected: Tensor, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)


def permuted(model: MLP, orders: tuple[tuple[int, ...], ...]) -> MLP:
    """The same net with the units of each hidden layer in another order."""
    widths = [part.out_features for part in affine_maps(model)]
    copy = mlp(tuple(widths[:-1]), model.spec.num_features, widths[-1])
    before = list(range(model.spec.num_features))
    pairs = zip(affine_maps(copy), affine_maps(model), strict=True)
    for (new, old), order in zip(pairs, (*orders, tuple(range(widths[-1]))), strict=True):
        rows = list(order)
        fill(new, old.weight[rows][:, before], old.bias[rows])
        before = rows
    return copy


@pytest.mark.covers("permutation-symmetry")
def test_order_of_hidden_units_does_not_matter() -> None:
    model, x = mlp((5, 4), 3, 2), inputs(10, 3)
    shuffled = permuted(model, ((3, 1, 4, 0, 2), (2, 0, 3, 1)))
    assert not torch.equal(shuffled.head.weight, model.head.weight)
    close(shuffled(x), model(x))


@pytest.mark.covers("equivalent-configurations")
def test_two_layers_of_three_units_have_36_equal_orders() -> None:
    model, x = mlp((3, 3), 2, 1), inputs(10, 2)
    orders = list(permutations(range(3)))
    nets = [permuted(model, pair) for pair in product(orders, orders)]
    for net in nets:
        close(net(x), model(x))
    vectors = {tuple(nn.utils.parameters_to_vector(net.parameters()).tolist()) for net in nets}
    assert len(nets) == len(vectors) == math.factorial(3) ** 2 == 36


@pytest.mark.covers("identifiability")
def test_different_weights_can_be_the_same_function() -> None:
    model, x = mlp((4,), 3, 2), inputs(10, 3)
    close(permuted(model, ((1, 0, 3, 2),))(x), model(x))
    rescaled = permuted(model, ((0, 1, 2, 3),))
    first, last = affine_maps(rescaled)
    scale = torch.tensor([2.0, 0.5, 10.0, 3.0], dtype=torch.float64)
    fill(first, scale[:, None] * first.weight, scale * first.bias)
    fill(last, last.weight / scale, last.bias)
    close(rescaled(x), model(x))
    assert not torch.equal(first.weight, affine_maps(model)[0].weight)


@pytest.mark.covers("identity-activation", "linear-closed-composition")
def test_layers_without_nonlinearity_are_one_map() -> None:
    model, x = mlp((7, 2, 6, 5), 6, 4, "identity"), inputs(10, 6)
    product_matrix, bias = torch.eye(6, dtype=torch.float64), torch.zeros(6, dtype=torch.float64)
    for part in affine_maps(model):
        product_matrix, bias = part.weight @ product_matrix, part.weight @ bias + part.bias
    assert len(affine_maps(model)) == 5
    close(model(x), x @ product_matrix.T + bias)
    assert torch.linalg.matrix_rank(product_matrix).item() == 2  # the narrowest layer


@pytest.mark.covers("tanh-sigmoid-identity")
def test_a_tanh_net_is_a_sigmoid_net() -> None:
    # tanh(z) = 2 s(2 z) - 1: twice the weights before it, and 2 W (.) - W 1 after it.
    model, x = mlp((5, 4), 3, 2, "tanh"), inputs(10, 3)
    twin = mlp((5, 4), 3, 2, "sigmoid", seed=1)
    count = len(affine_maps(model))
    for index, (new, old) in enumerate(zip(affine_maps(twin), affine_maps(model), strict=True)):
        weight, bias = old.weight.detach(), old.bias.detach()
        if index > 0:  # its inputs are sigmoids now
            weight, bias = 2 * weight, bias - weight.sum(dim=1)
        inner = 1 if index == count - 1 else 2
        fill(new, inner * weight, inner * bias)
    close(twin(x), model(x))


@pytest.mark.covers("layer-map", "forward-propagation")
def test_activations_layer_by_layer_are_the_forward_pass() -> None:
    model, x = mlp((5, 4), 3, 2), inputs(6, 3)
    cached = [x]
    for layer in (*model.hidden, model.head):
        cached.append(layer(cached[-1]))
    assert len(cached) == len(affine_maps(model)) + 1
    assert [part.shape[1] for part in cached] == [3, 5, 4, 2]
    for part, before, after in zip(affine_maps(model), cached, cached[1:], strict=False):
        assert part.weight.shape == (after.shape[1], before.shape[1])
        assert part.bias.shape == (after.shape[1],)
    assert torch.equal(cached[-1], model(x))
    assert torch.equal(cached[-1].square().mean(), model(x).square().mean())


@pytest.mark.covers("batch-feedforward")
def test_batch_is_a_loop_over_samples_in_rows_or_columns() -> None:
    model, x = mlp((5,), 3, 2, "sigmoid"), inputs(6, 3)
    first, last = affine_maps(model)
    loop = torch.stack([model(row[None])[0] for row in x])
    close(model(x), loop)
    ones = torch.ones(1, 6, dtype=torch.float64)
    hidden = torch.sigmoid(first.weight @ x.T + first.bias[:, None] @ ones)
    columns = last.weight @ hidden + last.bias[:, None] @ ones
    close(columns.T, loop)


@pytest.mark.covers("mlp-function-class")
def test_sum_of_two_shallow_nets_is_a_shallow_net() -> None:
    one, other, x = mlp((3,), 2, 1), mlp((4,), 2, 1, seed=1), inputs(10, 2)
    both = mlp((7,), 2, 1)
    (a, b), (c, d) = affine_maps(one), affine_maps(other)
    first, last = affine_maps(both)
    fill(first, torch.cat((a.weight, c.weight)), torch.cat((a.bias, c.bias)))
    fill(last, torch.cat((b.weight, d.weight), dim=1), b.bias + d.bias)
    close(both(x), one(x) + other(x))


@pytest.mark.covers("gradient-check")
def test_backward_agrees_with_central_differences_at_a_fraction_of_the_cost() -> None:
    model, x = mlp((4,), 3, 2, "tanh"), inputs(5, 3)
    passes = [0]
    model.register_forward_hook(lambda *unused: passes.__setitem__(0, passes[0] + 1))
    loss = model(x).square().mean()
    grads = torch.autograd.grad(loss, tuple(model.parameters()))
    backward = torch.cat([grad.flatten() for grad in grads])
    vector, passes[0] = nn.utils.parameters_to_vector(model.parameters()).detach(), 0
    found, step = torch.zeros_like(vector), 1e-5
    for index in range(len(vector)):
        ends = []
        for side in (1, -1):
            moved = vector.clone()
            moved[index] += side * step
            nn.utils.vector_to_parameters(moved, model.parameters())
            ends.append(model(x).square().mean().item())
        found[index] = (ends[0] - ends[1]) / (2 * step)
    close(found, backward, 1e-7)
    assert passes[0] == 2 * len(vector)


@pytest.mark.covers("relu-activation-pattern")
def test_a_relu_net_is_affine_in_each_of_seven_cells() -> None:
    # Three lines in general position cut the plane into 1 + 3 + 3 = 7 cells, not 2^3.
    model = mlp((3,), 2, 1)
    first, _ = affine_maps(model)
    fill(
        first,
        torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
        torch.tensor([0.0, 0.0, -1.0]),
    )
    ticks = torch.linspace(-3, 3, 41, dtype=torch.float64) + 0.013  # no point on a line
    points = torch.cartesian_prod(ticks, ticks)
    patterns = [tuple(row) for row in (first(points) > 0).int().tolist()]
    assert len(set(patterns)) == 7
    slopes = torch.func.vmap(torch.func.jacrev(model))(points[:, None, :])[:, 0, 0, 0]
    for pattern in set(patterns):
        inside = slopes[[found == pattern for found in patterns]]
        close(inside, inside[:1].expand_as(inside), 1e-10)


@pytest.mark.covers("xor-relu-exercise")
def test_two_relu_units_solve_xor() -> None:
    model = mlp((2,), 2, 1)
    first, last = affine_maps(model)
    fill(first, torch.tensor([[1.0, 1.0], [-1.0, -1.0]]), torch.tensor([-1.5, 0.5]))
    fill(last, torch.tensor([[-2.0, -2.0]]), torch.tensor([1.0]))
    images = model.hidden(XOR)
    assert images.tolist() == [[0.0, 0.5], [0.0, 0.0], [0.0, 0.0], [0.5, 0.0]]
    assert torch.equal(model(XOR), ANSWERS)
    # Separable: some (w, b) has sign(y) (w h + b) >= 1 for all; XOR itself has none.
    signs = 2 * ANSWERS - 1
    for points, solved in ((images, True), (XOR, False)):
        rows = -signs * torch.cat((points, torch.ones(4, 1, dtype=torch.float64)), dim=1)
        found = linprog(
            torch.zeros(3).numpy(),
            A_ub=rows.detach().numpy(),
            b_ub=-torch.ones(4).numpy(),
            bounds=(None, None),
        )
        assert bool(found.success) == solved


@pytest.mark.slow
@pytest.mark.covers("symmetry-breaking")
def test_equal_units_stay_equal() -> None:
    def trained(model: MLP) -> float:
        optimizer = build_optimizer(OPTIMIZERS.load("adam"), model, lr=0.02)
        loss = torch.tensor(torch.inf)
        for _ in range(1000):
            optimizer.zero_grad()
            loss = (model(XOR) - ANSWERS).square().mean()
            torch.autograd.backward(loss)
            optimizer.step()
        return float(loss.detach())

    constant = mlp((8,), 2, 1)
    for parameter in constant.parameters():
        nn.init.constant_(parameter, 0.3)
    assert trained(constant) >= 1 / 6 - 1e-9
    first, last = affine_maps(constant)
    assert torch.equal(first.weight, first.weight[:1].expand_as(first.weight))
    assert torch.equal(first.bias, first.bias[:1].expand_as(first.bias))
    assert torch.equal(last.weight, last.weight[:, :1].expand_as(last.weight))
    assert trained(mlp((8,), 2, 1, seed=1)) < 0.01


@pytest.mark.covers("dying-relu")
@pytest.mark.parametrize(("activation", "alive"), [("relu", False), ("leaky-relu", True)])
def test_a_relu_that_is_never_reached_never_learns(activation: str, alive: bool) -> None:
    model, x = mlp((4,), 3, 1, activation), inputs(20, 3)
    first, _ = affine_maps(model)
    nn.init.constant_(first.bias, -100.0)
    optimizer = build_optimizer(OPTIMIZERS.load("sgd"), model, lr=0.01)
    start = first.weight.detach().clone()
    for _ in range(100):
        optimizer.zero_grad()
        torch.autograd.backward((model(x) - 1).square().mean())
        assert first.weight.grad is not None
        assert bool(first.weight.grad.any()) == alive
        optimizer.step()
    assert torch.equal(first.weight, start) != alive
