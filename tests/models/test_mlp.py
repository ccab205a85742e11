"""The MLP: parameters counted, forward by hand, parity with scikit-learn, and what it learns."""

import itertools

import numpy as np
import pytest
import torch
from sklearn.datasets import make_circles, make_moons
from sklearn.neural_network import MLPClassifier
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.dataset import Split
from netwright.data.loading.loader import BatchLoader
from netwright.data.spec import DataSpec
from netwright.layers.residual import Residual
from netwright.models.mlp import MLP, MLPConfig, count_parameters
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from tests.repetition import for_each


def mlp(config: MLPConfig, inputs: int, outputs: int, seed: int = 0) -> MLP:
    spec = DataSpec(inputs="features", input_shape=(inputs,), target="class", num_outputs=outputs)
    with seeded(seed):
        return MLP.build(config, spec)


def on_images(config: MLPConfig, *shape: int) -> MLP:
    spec = DataSpec(inputs="image", input_shape=shape, target="class", num_outputs=10)
    return MLP.build(config, spec)


def affine_maps(model: MLP) -> list[nn.Linear]:
    return [part for part in model.modules() if isinstance(part, nn.Linear)]


def size_of(model: nn.Module) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def trained(model: MLP, inputs: Tensor, targets: Tensor, steps: int) -> MLP:
    optimizer = build_optimizer(OPTIMIZERS.load("adam"), model, lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        torch.autograd.backward(nn.functional.cross_entropy(model(inputs), targets))
        optimizer.step()
    return model.eval()


def accuracy(model: MLP, inputs: Tensor, targets: Tensor) -> float:
    return float((model(inputs).argmax(dim=1) == targets).float().mean())


def as_tensors(points: np.ndarray, labels: np.ndarray) -> tuple[Tensor, Tensor]:
    return torch.from_numpy(points).float(), torch.from_numpy(labels)


@pytest.mark.covers("mnist-mlp")
def test_network_for_digits_has_its_size_and_its_updates() -> None:
    model = on_images(MLPConfig(hidden=(256, 128)), 1, 28, 28)
    by_hand = 784 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10
    assert size_of(model) == by_hand == 235_146
    split = Split(inputs=torch.zeros(60_000, 1), targets=torch.zeros(60_000, dtype=torch.int64))
    loader = BatchLoader(split, 128)
    sizes = [len(batch.inputs) for batch in loader.epoch(0)]
    assert len(loader) == len(sizes) == 469
    assert sizes[-1] == 96
    assert set(sizes[:-1]) == {128}


@pytest.mark.covers("mlp-image-parameter-count")
def test_parameters_are_counted_without_allocating_them() -> None:
    assert count_parameters([196_608] * 3) == 2 * 196_608**2 + 2 * 196_608 == 77_309_804_544
    assert count_parameters([65_536] * 3) == 8_590_065_664
    assert count_parameters([5]) == 0


@pytest.mark.covers("mlp-first-layer-weights")
def test_weights_of_one_unit_grow_with_the_square_of_the_side() -> None:
    (small, _), (large, _) = (
        affine_maps(on_images(MLPConfig(hidden=(1,)), 3, side, side)) for side in (200, 400)
    )
    assert small.weight.shape == (1, 120_000)
    assert large.in_features == 4 * 120_000


@pytest.mark.covers("parameter-counting")
def test_counts_of_the_book() -> None:
    assert count_parameters([784, 256, 128, 10]) == 235_146
    assert count_parameters([196_608] * 3) == 77_309_804_544
    assert count_parameters([65_536] * 3) == 8_590_065_664
    assert count_parameters([200 * 200 * 3, 1]) - 1 == 120_000
    for inputs, units in itertools.product((1, 2, 7), (1, 5, 30)):
        # A shallow net has no output bias: one less than ours.
        assert count_parameters([inputs, units, 1]) - 1 == (inputs + 2) * units


@for_each("hidden", [(), (3,), (5, 2), (4, 4, 4)])
@for_each(("inputs", "outputs"), [(1, 2), (6, 3)])
def test_count_is_that_of_the_model(hidden: tuple[int, ...], inputs: int, outputs: int) -> None:
    model = mlp(MLPConfig(hidden=hidden), inputs, outputs)
    assert size_of(model) == count_parameters([inputs, *hidden, outputs])


@pytest.mark.covers("mlp-torch-listing")
def test_two_equal_hidden_layers_make_three_affine_maps() -> None:
    inputs, width, outputs = 4, 6, 3
    model = mlp(MLPConfig(hidden=(width, width), dropout=0.0), inputs, outputs)
    assert len(affine_maps(model)) == 3
    assert size_of(model) == (inputs * width + width) + (width * width + width) + (
        width * outputs + outputs
    )
    assert model(torch.zeros(7, inputs)).shape == (7, outputs)


@pytest.mark.covers("shallow-nn")
@pytest.mark.parametrize(("inputs", "units"), [(1, 4), (3, 5), (6, 2)])
def test_shallow_net_without_output_bias(inputs: int, units: int) -> None:
    model = mlp(MLPConfig(hidden=(units,), activation="tanh", dropout=0.0), inputs, 1).double()
    nn.init.zeros_(model.head.bias).requires_grad_(False)
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    assert sum(parameter.numel() for parameter in learned) == (inputs + 2) * units
    x = torch.randn(3, inputs, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.autograd.gradcheck(lambda *unused: model(x), tuple(learned))


def by_hand(model: MLP, x: np.ndarray) -> np.ndarray:
    *hidden, last = [
        (part.weight.detach().numpy(), part.bias.detach().numpy()) for part in affine_maps(model)
    ]
    for weight, bias in hidden:
        x = np.maximum(0, x @ weight.T + bias)
    return np.asarray(x @ last[0].T + last[1])


@pytest.mark.parametrize("hidden", [(), (5,), (5, 4, 3)])
def test_forward_is_the_formula_in_numpy(hidden: tuple[int, ...]) -> None:
    model = mlp(MLPConfig(hidden=hidden), 6, 3).double().eval()
    x = np.random.default_rng(0).normal(size=(8, 6))
    expected = by_hand(model, x)
    np.testing.assert_allclose(model(torch.from_numpy(x)).detach().numpy(), expected, atol=1e-14)


def test_images_are_read_row_by_row() -> None:
    model = on_images(MLPConfig(hidden=(4,)), 2, 3, 5).eval()
    images = torch.randn(3, 2, 3, 5, generator=torch.Generator().manual_seed(0))
    assert torch.equal(model(images), model(images.reshape(3, 30)))


@for_each(
    ("ours", "theirs"),
    [("relu", "relu"), ("tanh", "tanh"), ("sigmoid", "logistic"), ("identity", "identity")],
)
def test_predicts_what_scikit_learn_predicts_from_the_same_weights(ours: str, theirs: str) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 4)), np.arange(30) % 3
    reference = MLPClassifier((5, 6), activation=theirs, random_state=0)
    reference.partial_fit(x, y, classes=[0, 1, 2])
    model = mlp(MLPConfig(hidden=(5, 6), activation=ours), 4, 3).double().eval()
    weights = zip(affine_maps(model), reference.coefs_, reference.intercepts_, strict=True)
    with torch.no_grad():
        for part, weight, bias in weights:
            part.weight.copy_(torch.from_numpy(weight.T))
            part.bias.copy_(torch.from_numpy(bias))
        found = model(torch.from_numpy(x)).softmax(dim=1).numpy()
    np.testing.assert_allclose(found, reference.predict_proba(x), atol=1e-12)


@pytest.mark.covers("mlp")
def test_learns_two_moons_and_has_right_gradients() -> None:
    model = mlp(MLPConfig(hidden=(32, 32), dropout=0.0), 2, 2)
    assert size_of(model) == 2 * 32 + 32 + 32 * 32 + 32 + 32 * 2 + 2
    trained(model, *as_tensors(*make_moons(400, noise=0.1, random_state=0)), steps=150)
    fresh = as_tensors(*make_moons(400, noise=0.1, random_state=1))
    assert accuracy(model, *fresh) >= 0.98
    smooth = mlp(MLPConfig(hidden=(4, 3), activation="tanh", dropout=0.0), 2, 2).double()
    x = torch.randn(3, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.autograd.gradcheck(
        lambda *unused: smooth(x), tuple(parameter for parameter in smooth.parameters())
    )


@pytest.mark.covers("nonlinearity-role")
def test_without_a_nonlinearity_circles_cannot_be_told_apart() -> None:
    seen = as_tensors(*make_circles(300, noise=0.05, factor=0.5, random_state=0))
    fresh = as_tensors(*make_circles(300, noise=0.05, factor=0.5, random_state=1))
    found = {}
    for activation in ("identity", "relu"):
        config = MLPConfig(hidden=(16, 16), activation=activation, dropout=0.0)
        found[activation] = accuracy(trained(mlp(config, 2, 2), *seen, steps=120), *fresh)
    assert 0.4 <= found["identity"] <= 0.65
    assert found["relu"] >= 0.97


def test_residual_layers_have_a_skip_each() -> None:
    model = mlp(MLPConfig(hidden=(6, 6, 4), residual=True, dropout=0.0), 6, 2)
    skips = [part.skip for part in model.modules() if isinstance(part, Residual)]
    assert [type(skip) for skip in skips] == [nn.Identity, nn.Identity, nn.Linear]
    assert size_of(model) == count_parameters([6, 6, 6, 4, 2]) + 6 * 4


@pytest.mark.parametrize("activation", ["relu", "sigmoid", "softplus"])
def test_residual_net_at_zero_weights_passes_its_input_to_the_head(activation: str) -> None:
    config = MLPConfig(hidden=(6, 6), activation=activation, residual=True)
    model = mlp(config, 6, 2).eval()
    for parameter in model.hidden.parameters():
        nn.init.zeros_(parameter)
    x = torch.randn(3, 6, generator=torch.Generator().manual_seed(0))
    assert torch.equal(model(x), model.head(x))


def test_initializer_reaches_every_map() -> None:
    model = mlp(MLPConfig(hidden=(5, 4), initializer="zeros"), 3, 2)
    assert not any(part.weight.any() or part.bias.any() for part in affine_maps(model))


@for_each(
    ("settings", "sentence"),
    [
        ({"hidden": (8, 0)}, r"hidden\[1\] must be greater than 0, got 0"),
        ({"dropout": 1.0}, "dropout must be less than 1.0, got 1.0"),
        ({"activation": "rleu"}, "unknown activation 'rleu'; did you mean 'relu'"),
        ({"initializer": "hee-normal"}, "unknown initializer 'hee-normal'; did you mean 'he-norm"),
        ({"batch_norm": "perhaps"}, "batch_norm must be true or false, got 'perhaps'"),
    ],
)
def test_refuses_in_one_sentence(settings: dict[str, object], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{sentence}"):
        MLPConfig(**settings)  # type: ignore[arg-type]
