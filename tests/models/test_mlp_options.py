"""Dropout and normalisation inside the MLP: where they stand and the laws they keep."""

import math

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.mlp import MLP, MLPConfig


def mlp(config: MLPConfig, inputs: int = 3, outputs: int = 2) -> MLP:
    spec = DataSpec(inputs="features", input_shape=(inputs,), target="real", num_outputs=outputs)
    with seeded(0):
        return MLP.build(config, spec)


def leaves(model: nn.Module) -> list[type[nn.Module]]:
    """The kinds of all modules without parts, in order."""
    return [type(part) for part in model.modules() if not list(part.children())]


def only(model: nn.Module, kind: type[nn.Module]) -> nn.Module:
    (found,) = [part for part in model.modules() if isinstance(part, kind)]
    return found


def inputs(rows: int, columns: int = 3) -> Tensor:
    numbers = torch.Generator().manual_seed(3)
    return torch.randn(rows, columns, generator=numbers, dtype=torch.float64)


@pytest.mark.covers("dropout-torch-listing")
def test_dropout_follows_every_activation() -> None:
    model = mlp(MLPConfig(hidden=(5, 5), dropout=0.5))
    layer = [nn.Linear, nn.ReLU, nn.Dropout]
    assert leaves(model) == [*layer, *layer, nn.Linear]
    # Without activations the two maps are one: W2 (W1 x + b1) + b2.
    model = mlp(MLPConfig(hidden=(5,), activation="identity", dropout=0.0)).double()
    first, second = [part for part in model.modules() if isinstance(part, nn.Linear)]
    x = inputs(6)
    one = x @ (second.weight @ first.weight).T + (second.weight @ first.bias + second.bias)
    torch.testing.assert_close(model(x), one, rtol=0, atol=1e-12)


def test_normalisation_stands_between_map_and_activation() -> None:
    model = mlp(MLPConfig(hidden=(5, 4), batch_norm=True, dropout=0.1, activation="tanh"))
    layer = [nn.Linear, nn.BatchNorm1d, nn.Tanh, nn.Dropout]
    assert leaves(model) == [*layer, *layer, nn.Linear]


def test_without_dropout_there_is_no_such_layer() -> None:
    assert nn.Dropout not in leaves(mlp(MLPConfig(dropout=0.0)))


@pytest.mark.covers("dropout")
def test_dropout_leaves_a_linear_net_right_on_average() -> None:
    drop, masks = 0.3, 40_000
    config = MLPConfig(hidden=(4,), activation="identity", dropout=drop)
    model, x = mlp(config).double(), inputs(1)
    dropped: list[Tensor] = []
    only(model, nn.Dropout).register_forward_hook(
        lambda module, given, out: dropped.append(out == 0)
    )
    with seeded(1), torch.no_grad():
        outputs = model.train()(x.expand(masks, -1))
    share = dropped[0].double().mean().item()
    assert share == pytest.approx(drop, abs=3 * math.sqrt(drop * (1 - drop) / (4 * masks)))
    model.eval()
    error = outputs.std(dim=0) / math.sqrt(masks)
    assert bool(((outputs.mean(dim=0) - model(x)[0]).abs() < 4 * error).all())
    assert bool((error > 0).all())
    assert torch.equal(model(x), model(x))


@pytest.mark.covers("inverted-dropout")
def test_kept_units_are_scaled_so_that_nothing_is_left_to_do_at_test_time() -> None:
    masks, keep = 100_000, 0.75
    layer = only(mlp(MLPConfig(hidden=(4,), dropout=1 - keep)), nn.Dropout)
    h = torch.tensor([1.0, -2.0, 0.5, 10.0], dtype=torch.float64)
    with seeded(2):
        noisy = layer(h.expand(masks, -1))
    variance = h**2 * (1 - keep) / keep
    assert bool(((noisy.mean(dim=0) - h).abs() < 4 * (variance / masks).sqrt()).all())
    torch.testing.assert_close(noisy.var(dim=0), variance, rtol=0.02, atol=0)
    assert torch.equal(layer.eval()(h), h)


@pytest.mark.covers("batch-norm")
def test_batch_norm() -> None:
    config = MLPConfig(hidden=(4,), batch_norm=True, activation="identity", dropout=0.0)
    model, x = mlp(config).double(), inputs(50)
    norm = only(model, nn.BatchNorm1d)
    assert isinstance(norm, nn.BatchNorm1d)
    first = only(model.hidden, nn.Linear)
    assert isinstance(first, nn.Linear)
    with torch.no_grad():
        norm.weight.copy_(torch.tensor([1.0, 2.0, 0.5, 3.0]))
        norm.bias.copy_(torch.tensor([0.0, -1.0, 2.0, 5.0]))
    h = model.train().hidden(x)
    torch.testing.assert_close(h.mean(dim=0), norm.bias, rtol=0, atol=1e-12)
    # Variance v becomes v / (v + eps): a little below 1.
    torch.testing.assert_close(h.std(dim=0, correction=0), norm.weight, rtol=1e-3, atol=0)

    values = (x[:6].clone().requires_grad_(), norm.weight, norm.bias, first.weight)
    assert torch.autograd.gradcheck(lambda x, *unused: model.hidden(x), values)

    before = model.hidden(x)
    with torch.no_grad():
        first.bias.add_(7.0)
    torch.testing.assert_close(model.hidden(x), before, rtol=0, atol=1e-10)

    z = first(x).detach()
    norm.reset_running_stats()
    for _ in range(300):  # 0.9^300 of the start is left
        model.hidden(x)
    model.eval()
    assert norm.running_mean is not None
    assert norm.running_var is not None
    torch.testing.assert_close(norm.running_mean, z.mean(dim=0), rtol=0, atol=1e-10)
    torch.testing.assert_close(norm.running_var, z.var(dim=0), rtol=1e-10, atol=0)
    shifted = (z + 100 - z.mean(dim=0)) / (z.var(dim=0) + norm.eps).sqrt()
    with torch.no_grad():
        first.bias.add_(100.0)  # in eval mode the running statistics stay, so this is seen
    expected = norm.weight * shifted + norm.bias
    torch.testing.assert_close(model.hidden(x), expected, rtol=1e-9, atol=0)


@pytest.mark.covers("layer-norm")
def test_layer_norm() -> None:
    config = MLPConfig(hidden=(6,), layer_norm=True, activation="identity", dropout=0.0)
    model, x = mlp(config).double(), inputs(50)
    norm = only(model, nn.LayerNorm)
    assert isinstance(norm, nn.LayerNorm)
    first = only(model.hidden, nn.Linear)
    assert isinstance(first, nn.Linear)
    z, h = first(x), model.train().hidden(x)  # its gain is 1 and its bias 0 so far
    torch.testing.assert_close(h.mean(dim=1), torch.zeros(50).double(), rtol=0, atol=1e-12)
    spread = z.var(dim=1, correction=0)
    # Variance v becomes v / (v + eps): a little below 1.
    torch.testing.assert_close(h.var(dim=1, correction=0), spread / (spread + norm.eps))

    with torch.no_grad():
        norm.weight.copy_(torch.arange(6.0))
        norm.bias.fill_(-1.0)
    torch.testing.assert_close(model.hidden(x), h * norm.weight - 1)

    together, alone = model.hidden(x), torch.cat([model.hidden(row[None]) for row in x])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-12)
    model.eval()
    torch.testing.assert_close(model.hidden(x), together, rtol=0, atol=0)

    values = (x[:6].clone().requires_grad_(), norm.weight, norm.bias, first.weight)
    assert torch.autograd.gradcheck(lambda x, *unused: model.hidden(x), values)


def test_layer_norm_stands_where_batch_norm_does_and_gives_no_other_names() -> None:
    model = mlp(MLPConfig(hidden=(5,), layer_norm=True, dropout=0.5, activation="tanh"))
    assert leaves(model) == [nn.Linear, nn.LayerNorm, nn.Tanh, nn.Dropout, nn.Linear]
    with_batch_norm = mlp(MLPConfig(hidden=(5,), batch_norm=True))
    assert [name for name, _ in model.named_parameters()] == [
        name for name, _ in with_batch_norm.named_parameters()
    ]
    names = list(mlp(MLPConfig(hidden=(5,))).state_dict())
    assert names == ["hidden.0.0.weight", "hidden.0.0.bias", "head.weight", "head.bias"]


def test_two_norms_in_one_place_are_refused() -> None:
    sentence = "^batch_norm and layer_norm cannot be combined: set one of them$"
    with pytest.raises(ConfigError, match=sentence):
        MLPConfig(batch_norm=True, layer_norm=True)


@pytest.mark.parametrize("residual", [False, True])
def test_weights_have_the_same_names_with_and_without_dropout(residual: bool) -> None:
    with_it, without = (
        mlp(MLPConfig(hidden=(4, 3), residual=residual, batch_norm=True, dropout=share))
        for share in (0.5, 0.0)
    )
    assert list(with_it.state_dict()) == list(without.state_dict())


def test_a_residual_net_drops_the_deviation_alone() -> None:
    model = mlp(MLPConfig(hidden=(3,), residual=True, dropout=0.5), inputs=3).double()
    x = inputs(200)
    with seeded(0), torch.no_grad():
        h = model.train().hidden(x)
        full = model.eval().hidden(x)
    # Each feature is x alone, or x plus twice the deviation.
    kept = (h - x - 2 * (full - x)).abs() < 1e-12
    gone = (h - x).abs() < 1e-12
    assert bool((kept | gone).all())
    assert 0.3 < gone.double().mean().item() < 0.9
