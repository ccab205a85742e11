"""Logistic and softmax regression: odds by hand, gradients, convexity, and the best weights."""

from itertools import product

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression as Reference
from torch import Tensor, nn

from netwright.core.seeding import seeded
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec, TargetKind
from netwright.models.linear.classification import (
    LogisticRegression,
    LogisticRegressionConfig,
    SoftmaxRegression,
    SoftmaxRegressionConfig,
)
from netwright.models.linear.regression import LeastSquares, LeastSquaresConfig
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer

Classifier = LogisticRegression | SoftmaxRegression


def spec(inputs: int, outputs: int, target: TargetKind = "class") -> DataSpec:
    return DataSpec(inputs="features", input_shape=(inputs,), target=target, num_outputs=outputs)


def logistic(inputs: int, classes: int, target: TargetKind = "class") -> LogisticRegression:
    with seeded(0):
        made = LogisticRegression.build(LogisticRegressionConfig(), spec(inputs, classes, target))
    return made.double()


def softmax(inputs: int, classes: int) -> SoftmaxRegression:
    with seeded(0):
        made = SoftmaxRegression.build(SoftmaxRegressionConfig(), spec(inputs, classes))
    return made.double()


def normals(rows: int, columns: int, seed: int = 0) -> Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return torch.randn(rows, columns, generator=numbers, dtype=torch.float64)


def overlapping(rows: int = 60) -> tuple[Tensor, Tensor]:
    """Two classes that no line tells apart, so that the best weights are finite."""
    x = normals(rows, 2)
    y = (x[:, 0] - 0.5 * x[:, 1] + normals(rows, 1, seed=1)[:, 0] > 0).long()
    return x, y


def loss_of(model: Classifier, x: Tensor, y: Tensor) -> Tensor:
    return nn.functional.cross_entropy(model(x), y)


def fitted(model: Classifier, x: Tensor, y: Tensor) -> Classifier:
    entry = OPTIMIZERS.load("lbfgs")
    options = {"max_iter": 500, "tolerance_grad": 1e-12, "tolerance_change": 1e-16}
    optimizer = build_optimizer(entry, model, options=options)

    def closure() -> float:
        optimizer.zero_grad()
        loss = loss_of(model, x, y)
        torch.autograd.backward(loss)
        return float(loss.detach())

    optimizer.step(closure)
    return model


def close(actual: Tensor, expected: Tensor, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)


def test_two_classes_are_a_sigmoid() -> None:
    model, x = logistic(3, 2), normals(5, 3)
    assert sum(parameter.numel() for parameter in model.parameters()) == 3 + 1
    weight, bias = model.log_odds.weight[0], model.log_odds.bias[0]
    close(model(x).softmax(dim=1)[:, 1], torch.sigmoid(x @ weight + bias))
    assert not model(x)[:, 0].any()


def test_more_classes_are_a_softmax_without_its_first_row() -> None:
    full, less, x = softmax(3, 3), logistic(3, 3), normals(5, 3)
    with torch.no_grad():
        less.log_odds.weight.copy_(full.scores.weight[1:] - full.scores.weight[0])
        less.log_odds.bias.copy_(full.scores.bias[1:] - full.scores.bias[0])
    close(less(x).softmax(dim=1), full(x).softmax(dim=1))
    assert less.log_odds.weight.numel() == 6


def test_labels_have_one_score_each_and_none_is_zero() -> None:
    model, x = logistic(3, 4, "labels"), normals(5, 3)
    close(model(x), x @ model.log_odds.weight.T + model.log_odds.bias)
    assert model(x).shape == (5, 4)


@pytest.mark.covers("logistic-regression")
def test_logistic_loss_has_the_gradient_of_the_book_is_convex_and_is_minimised() -> None:
    x, y = overlapping()
    model = logistic(2, 2)
    weight, bias = model.log_odds.weight, model.log_odds.bias
    loss = loss_of(model, x, y)
    # The loss by its formula, -log sigmoid((2 y - 1)(w x + b)), and its gradient (p - y) x.
    margins = (2 * y - 1) * (x @ weight[0] + bias)
    close(loss, -nn.functional.logsigmoid(margins).mean())
    grad_w, grad_b = torch.autograd.grad(loss, (weight, bias))
    errors = torch.sigmoid(x @ weight[0] + bias).detach() - y
    close(grad_w[0], (errors[:, None] * x).mean(0))
    close(grad_b[0], errors.mean())
    assert torch.autograd.gradcheck(lambda *unused: loss_of(model, x, y), (weight, bias))

    def value(w: np.ndarray) -> float:
        z = x.numpy() @ w[:2] + w[2]
        return float(np.mean(np.logaddexp(0, -(2 * y.numpy() - 1) * z)))

    def slope(w: np.ndarray) -> np.ndarray:
        errors = expit(x.numpy() @ w[:2] + w[2]) - y.numpy()
        return np.append(x.numpy().T @ errors, errors.sum()) / len(x)

    found = minimize(value, np.zeros(3), jac=slope, tol=1e-12).x
    fitted(model, x, y)
    best = torch.cat((weight[0], bias)).detach()
    close(best, torch.from_numpy(found), 1e-6)
    check_convex(model, x, y)


def check_convex(model: Classifier, x: Tensor, y: Tensor) -> None:
    """f(t a + (1 - t) b) <= t f(a) + (1 - t) f(b) on random segments, and not always equal."""

    def at(vector: Tensor) -> float:
        nn.utils.vector_to_parameters(vector, model.parameters())
        return float(loss_of(model, x, y).detach())

    size = sum(parameter.numel() for parameter in model.parameters())
    gaps = []
    for seed in range(50):
        a, b = 3 * normals(2, size, seed)
        share = (seed + 0.5) / 50
        gaps.append(share * at(a) + (1 - share) * at(b) - at(share * a + (1 - share) * b))
    assert min(gaps) >= -1e-12
    assert max(gaps) > 1e-3


def test_best_weights_are_those_of_scikit_learn() -> None:
    x, y = overlapping()
    model = fitted(logistic(2, 2), x, y)
    assert isinstance(model, LogisticRegression)
    reference = Reference(C=np.inf, tol=1e-10).fit(x.numpy(), y.numpy())
    np.testing.assert_allclose(model.log_odds.weight.detach(), reference.coef_, atol=1e-4)
    np.testing.assert_allclose(model.log_odds.bias.detach(), reference.intercept_, atol=1e-4)


@pytest.mark.covers("softmax-regression")
def test_softmax_regression() -> None:
    assert sum(parameter.numel() for parameter in softmax(4, 3).parameters()) == 15
    points, labels = make_blobs(300, centers=3, cluster_std=1.0, random_state=3)
    x, y = torch.from_numpy(points), torch.from_numpy(labels)
    model = softmax(2, 3)
    optimizer = build_optimizer(OPTIMIZERS.load("adam"), model, lr=0.1)
    for _ in range(150):
        optimizer.zero_grad()
        torch.autograd.backward(loss_of(model, x[:200], y[:200]))
        optimizer.step()
    assert (model(x[200:]).argmax(dim=1) == y[200:]).double().mean().item() >= 0.97
    before = model(x)
    with torch.no_grad():
        model.scores.bias.add_(123.0)
    close(model(x).softmax(dim=1), before.softmax(dim=1), 1e-10)
    assert torch.equal(model(x).argmax(dim=1), before.argmax(dim=1))


def test_softmax_loss_is_convex() -> None:
    x, y = normals(20, 2), torch.arange(20) % 3
    check_convex(softmax(2, 3), x, y)


@pytest.mark.covers("softmax")
def test_softmax_of_known_scores() -> None:
    model = softmax(1, 3)
    nn.init.zeros_(model.scores.weight)
    x = torch.zeros(1, 1, dtype=torch.float64)
    for shift, scale in ((0.0, 1.0), (1e4, 1.0), (-1e4, 1.0), (0.0, 1e4)):
        with torch.no_grad():
            model.scores.bias.copy_(scale * torch.tensor([5.0, 4.0, 2.0]) + shift)
        chances = model(x).softmax(dim=1)[0]
        assert chances.sum().item() == pytest.approx(1.0)
        assert bool(chances.isfinite().all())
        if scale == 1.0:
            assert chances.tolist() == pytest.approx([0.7054, 0.2595, 0.0351], abs=5e-5)


@pytest.mark.covers("softmax-ce-gradient")
def test_gradient_of_the_loss_is_chance_minus_truth() -> None:
    for seed in range(5):
        scores = normals(1, 4, seed).requires_grad_()
        target = torch.tensor([seed % 4])
        (grad,) = torch.autograd.grad(nn.functional.cross_entropy(scores, target), scores)
        truth = nn.functional.one_hot(target, 4)
        close(grad, (scores.softmax(dim=1) - truth).detach())
        assert grad.sum().item() == pytest.approx(0.0, abs=1e-15)
        for index in range(4):
            step = torch.zeros(1, 4, dtype=torch.float64)
            step[0, index] = 1e-5
            ends = [
                nn.functional.cross_entropy(scores.detach() + side * step, target)
                for side in (1, -1)
            ]
            slope = (ends[0] - ends[1]).item() / 2e-5
            assert slope == pytest.approx(grad[0, index].item(), abs=1e-7)


def test_gradient_of_the_weights_is_the_error_times_the_input() -> None:
    model, x, y = softmax(2, 3), normals(6, 2), torch.arange(6) % 3
    grad_w, grad_b = torch.autograd.grad(
        loss_of(model, x, y), (model.scores.weight, model.scores.bias)
    )
    errors = (model(x).softmax(dim=1) - nn.functional.one_hot(y, 3)).detach() / 6
    close(grad_w, errors.T @ x)
    close(grad_b, errors.sum(0))


@pytest.mark.covers("classification-as-regression")
def test_least_squares_on_one_hot_targets_classifies_nearly_as_well() -> None:
    corners = [(0.0, 0.0), (4.0, 0.0), (2.0, 3.5)]  # in a row, the middle one would be masked
    points, labels = make_blobs(300, centers=corners, cluster_std=1.0, random_state=3)
    x, y = torch.from_numpy(points), torch.from_numpy(labels)
    one_hot = nn.functional.one_hot(y, 3).double()
    reals = DataSpec(inputs="features", input_shape=(2,), target="real", num_outputs=3)
    squares = LeastSquares.build(LeastSquaresConfig(), reals).double()
    list(squares.fit_steps(Split(inputs=x, targets=one_hot), seed=0))
    outputs = squares(x).detach()
    close(outputs.sum(dim=1), torch.ones(300, dtype=torch.float64), 1e-10)
    assert outputs.min().item() < 0
    assert outputs.max().item() > 1
    model = fitted(softmax(2, 3), x, y)
    shares = [(found.argmax(dim=1) == y).double().mean().item() for found in (outputs, model(x))]
    assert shares[0] == pytest.approx(shares[1], abs=0.03)
    assert shares[1] > 0.9


@pytest.mark.covers("dropout-thinned-networks")
def test_geometric_mean_of_all_thinned_nets_is_the_scaled_net() -> None:
    model, x = softmax(6, 3), normals(1, 6)
    masks = torch.tensor(list(product((0.0, 1.0), repeat=6)), dtype=torch.float64)
    thinned = model(masks * x).log_softmax(dim=1)  # each of the 2^6 with the same chance
    mean = thinned.mean(dim=0).softmax(dim=0)
    assert len(masks) == 64
    close(mean, model(x / 2).softmax(dim=1)[0])
