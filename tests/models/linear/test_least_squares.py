"""Least squares: parity with scikit-learn and NumPy, limits of the penalty, and least norm."""

import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import LinearRegression, Ridge
from torch import Tensor

from netwright.core.errors import DataError, ShapeError
from netwright.models.linear.least_squares import centred, gram, solve_least_squares


def problem(rows: int, columns: int, outputs: int = 1, seed: int = 0) -> tuple[Tensor, Tensor]:
    numbers = torch.Generator().manual_seed(seed)
    x = torch.randn(rows, columns, generator=numbers, dtype=torch.float64) + 3
    w = torch.randn(columns, outputs, generator=numbers, dtype=torch.float64)
    noise = torch.randn(rows, outputs, generator=numbers, dtype=torch.float64)
    return x, x @ w - 2 + noise


def close(actual: Tensor, expected: object, tolerance: float = 1e-8) -> None:
    torch.testing.assert_close(
        actual, torch.as_tensor(expected, dtype=torch.float64), rtol=tolerance, atol=tolerance
    )


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    rows=st.integers(8, 25),
    columns=st.integers(1, 40),  # fewer and more than rows
    outputs=st.integers(1, 3),
    l2=st.sampled_from([0.0, 1e-3, 0.1, 10.0]),
    weighted=st.booleans(),
    seed=st.integers(0, 100),
)
def test_agrees_with_scikit_learn(
    rows: int, columns: int, outputs: int, l2: float, weighted: bool, seed: int
) -> None:
    x, y = problem(rows, columns, outputs, seed)
    weights = torch.rand(rows, generator=torch.Generator().manual_seed(seed)) + 0.1
    total = weights.double().sum().item() if weighted else rows
    reference = Ridge(alpha=total * l2) if l2 else LinearRegression()
    reference.fit(x.numpy(), y.numpy(), sample_weight=weights.numpy() if weighted else None)
    slope, bias = solve_least_squares(x, y, l2=l2, weights=weights if weighted else None)
    assert slope.shape == (outputs, columns)
    close(slope, reference.coef_.reshape(outputs, columns))
    close(bias, reference.intercept_.reshape(outputs))


def test_by_hand() -> None:
    # Points (0, 1), (1, 3), (2, 5) lie on y = 2 x + 1.
    x, y = torch.tensor([[0.0], [1.0], [2.0]]), torch.tensor([[1.0], [3.0], [5.0]])
    slope, bias = solve_least_squares(x, y)
    close(slope, [[2.0]], 1e-14)
    close(bias, [1.0], 1e-14)
    # Centred: x = (-1, 0, 1), y = (-2, 0, 2). With n l2 = 2: 4 / (2 + 2) = 1; b = 3 - 1 * 1.
    slope, bias = solve_least_squares(x, y, l2=2 / 3)
    close(slope, [[1.0]], 1e-14)
    close(bias, [2.0], 1e-14)


@pytest.mark.covers("ols")
def test_matches_numpy_and_leaves_a_residual_at_right_angles() -> None:
    x, y = problem(30, 4)
    slope, bias = solve_least_squares(x, y)
    with_ones = np.hstack((x.numpy(), np.ones((30, 1))))
    expected = np.linalg.lstsq(with_ones, y.numpy(), rcond=None)[0][:, 0]
    close(torch.cat((slope[0], bias)), expected, 1e-10)
    residual = y - x @ slope.T - bias
    close(torch.from_numpy(with_ones.T) @ residual, np.zeros((5, 1)), 1e-10)


@pytest.mark.covers("xor-linear-fit")
def test_best_line_through_xor_is_one_half() -> None:
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
    slope, bias = solve_least_squares(x, y)
    close(slope, [[0.0, 0.0]], 1e-15)
    close(bias, [0.5], 1e-15)
    assert (y - x.double() @ slope.T - bias).square().mean().item() == pytest.approx(
        0.25, abs=1e-15
    )


def test_a_weight_of_two_is_the_row_twice() -> None:
    x, y = problem(10, 3)
    counts = torch.tensor([1, 2, 0, 1, 3, 1, 1, 2, 1, 1])
    repeated = torch.repeat_interleave(torch.arange(10), counts)
    for l2 in (0.0, 0.3):
        slope, bias = solve_least_squares(x, y, l2=l2, weights=counts)
        again, bias_again = solve_least_squares(x[repeated], y[repeated], l2=l2)
        close(slope, again, 1e-10)
        close(bias, bias_again, 1e-10)


@pytest.mark.parametrize(("rows", "columns"), [(4, 9), (20, 5)])
def test_dependent_columns_give_the_solution_of_least_norm(rows: int, columns: int) -> None:
    x, y = problem(rows, columns)
    if rows > columns:
        x[:, -1] = x[:, 0] + x[:, 1]
    slope, bias = solve_least_squares(x, y)
    centred = (x - x.mean(dim=0)).numpy()
    expected = np.linalg.pinv(centred) @ (y - y.mean(dim=0)).numpy()
    close(slope, expected.T)
    close(bias, (y.mean(dim=0) - slope @ x.mean(dim=0)).numpy())


def test_a_constant_column_gets_no_weight() -> None:
    x, y = problem(20, 3)
    x[:, 1] = 7.0
    slope, _ = solve_least_squares(x, y)
    assert slope[0, 1].item() == 0.0
    close(slope[:, [0, 2]], solve_least_squares(x[:, [0, 2]], y)[0], 1e-10)


def test_nearly_dependent_columns_keep_their_digits() -> None:
    """Forming X^T X would square the condition number, 1e7, and lose them all."""
    x, _ = problem(50, 2)
    x[:, 1] = x[:, 0] + 1e-7 * x[:, 1]
    truth = torch.tensor([[1.0, -2.0]], dtype=torch.float64)
    slope, bias = solve_least_squares(x, x @ truth.T + 4)
    close(slope, truth, 1e-6)
    close(bias, [4.0], 1e-6)


@pytest.mark.covers("ridge-regression")
def test_penalty_goes_from_least_squares_to_nothing() -> None:
    x, y = problem(30, 4, 2)
    plain, _ = solve_least_squares(x, y)
    close(solve_least_squares(x, y, l2=1e-14)[0], plain, 1e-10)
    slope, bias = solve_least_squares(x, y, l2=1e14)
    close(slope, np.zeros((2, 4)), 1e-10)
    close(bias, y.mean(dim=0).numpy(), 1e-10)
    sizes = [solve_least_squares(x, y, l2=l2)[0].norm() for l2 in (0.0, 0.01, 0.1, 1.0, 10.0)]
    assert sizes == sorted(sizes, reverse=True)

    # The optimum that descent finds: grad = X'(X w - y)/n + l2 w, on centred data.
    l2, n = 0.3, len(x)
    centred, wanted = x - x.mean(dim=0), y - y.mean(dim=0)
    closed = solve_least_squares(x, y, l2=l2)[0].T
    w = torch.zeros(4, 2, dtype=torch.float64)
    for _ in range(2000):
        w = w - 0.3 * (centred.T @ (centred @ w - wanted) / n + l2 * w)
    close(w, closed.numpy(), 1e-10)

    # Noise N(0, s^2), prior N(0, t^2): the posterior is highest at ridge with n l2 = s^2 / t^2.
    s, t = 0.7, 0.7 / math.sqrt(n * l2)

    def minus_log_posterior(flat: np.ndarray) -> float:
        weights = flat.reshape(4, 2)
        misfit = np.sum((wanted.numpy() - centred.numpy() @ weights) ** 2) / (2 * s**2)
        return float(misfit + np.sum(weights**2) / (2 * t**2))

    found = minimize(minus_log_posterior, np.zeros(8), tol=1e-12)
    close(torch.from_numpy(found.x.reshape(4, 2)), closed.numpy(), 1e-5)


@pytest.mark.covers("gaussian-prior-equivalence")
def test_ridge_is_the_posterior_mean_under_a_normal_prior() -> None:
    x, y = problem(12, 5)
    x, y = x - x.mean(dim=0), y - y.mean(dim=0)
    noise, prior = 0.4, 1.7  # variances; lambda = noise / prior = n l2
    slope, _ = solve_least_squares(x, y, l2=noise / prior / len(x))
    # By conditioning the joint normal of (w, y), never forming X'X + lambda I:
    gram = prior * x @ x.T + noise * torch.eye(12, dtype=torch.float64)
    mean = prior * x.T @ torch.linalg.solve(gram, y)
    close(slope.T, mean.numpy(), 1e-10)


@pytest.mark.covers("gaussian-noise-mle")
@pytest.mark.parametrize("deviation", [0.5, 3.0])
def test_likelihood_is_highest_at_least_squares_for_every_noise(deviation: float) -> None:
    x, y = problem(40, 3)
    slope, bias = solve_least_squares(x, y)
    with_ones = np.hstack((x.numpy(), np.ones((40, 1))))

    def gradient(w: np.ndarray) -> np.ndarray:
        return np.asarray(with_ones.T @ (with_ones @ w - y.numpy()[:, 0]) / deviation**2)

    def minus_log_likelihood(w: np.ndarray, s: float = deviation) -> float:
        misfit = (y.numpy()[:, 0] - with_ones @ w) ** 2 / (2 * s**2)
        return float(np.sum(0.5 * math.log(2 * math.pi * s**2) + misfit))

    found = minimize(minus_log_likelihood, np.zeros(4), jac=gradient, method="BFGS", tol=1e-10)
    best = torch.cat((slope[0], bias))
    close(best, found.x, 1e-6)
    mean_square = (y - x @ slope.T - bias).square().mean().item()
    scales = np.sqrt(mean_square) * np.array([0.98, 1.0, 1.02])
    values = [minus_log_likelihood(best.numpy(), float(scale)) for scale in scales]
    assert values[1] == min(values)


def test_inputs_are_not_changed_and_single_precision_is_solved_in_double() -> None:
    x, y = problem(20, 3)
    kept = x.clone()
    solve_least_squares(x, y, l2=0.1)
    assert torch.equal(x, kept)
    slope, bias = solve_least_squares(x.float(), y.float())
    assert slope.dtype == bias.dtype == torch.float64


@pytest.mark.parametrize(
    ("x_shape", "y_shape", "sentence"),
    [
        ((5, 2), (5,), "targets must have shape (5, K), got (5,)"),
        ((5, 2), (4, 1), "targets must have shape (5, K), got (4, 1)"),
        ((5,), (5, 1), "inputs must have shape (N, D), got (5,)"),
    ],
)
def test_shapes_that_would_broadcast_are_refused(
    x_shape: tuple[int, ...], y_shape: tuple[int, ...], sentence: str
) -> None:
    with pytest.raises(ShapeError, match=f"^{re.escape(sentence)}$"):
        solve_least_squares(torch.ones(x_shape), torch.ones(y_shape))


def test_qr_gives_what_svd_gives() -> None:
    x, y = problem(40, 6, 2)
    weights = torch.arange(40) % 3
    by_svd = solve_least_squares(x, y, weights=weights)
    by_qr = solve_least_squares(x, y, weights=weights, solver="qr")
    close(by_qr[0], by_svd[0], 1e-12)
    close(by_qr[1], by_svd[1], 1e-12)


@pytest.mark.parametrize(("rows", "columns"), [(4, 9), (20, 5)])
def test_qr_refuses_columns_that_depend_on_each_other(rows: int, columns: int) -> None:
    x, y = problem(rows, columns)
    x[:, -1] = x[:, 0] + x[:, 1]
    sentence = (
        f"solver 'qr' needs {columns} linearly independent columns, got dependent ones; use "
        f"solver 'svd'"
    )
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        solve_least_squares(x, y, solver="qr")


@pytest.mark.parametrize("l2", [1e-12, 1e-6, 1e-3])
def test_ridge_keeps_its_digits_where_columns_nearly_depend_on_each_other(l2: float) -> None:
    """X^T X is formed only where the penalty is large enough; else all is orthogonal."""
    x, y = problem(200, 4)
    x[:, 1] = x[:, 0] + 1e-6 * x[:, 1]
    slope, _ = solve_least_squares(x, y, l2=l2)
    centred_x, centred_y = (x - x.mean(dim=0)).numpy(), (y - y.mean(dim=0)).numpy()
    u, sizes, v = np.linalg.svd(centred_x, full_matrices=False)
    expected = v.T @ ((sizes / (sizes**2 + 200 * l2))[:, None] * (u.T @ centred_y))
    close(slope, expected.T, 1e-5)


def test_gram_is_the_product_of_all_columns() -> None:
    x, y = problem(30, 3, 2)
    rows, mean, total = centred(x, y)
    close(gram(rows), (rows.T @ rows).numpy(), 1e-12)
    close(mean, torch.cat((x, y), dim=1).mean(dim=0).numpy(), 1e-12)
    assert total == 30.0
    close(rows.sum(dim=0), np.zeros(5), 1e-12)


@pytest.mark.covers("conditional-expectation-optimum")
def test_squared_error_is_least_at_the_mean_of_each_group() -> None:
    numbers = torch.Generator().manual_seed(0)
    group = torch.randint(4, (60,), generator=numbers)
    y = group.double().square() + torch.randn(60, generator=numbers, dtype=torch.float64)
    one_hot = torch.nn.functional.one_hot(group, 4).double()
    slope, bias = solve_least_squares(one_hot, y[:, None])
    for value in range(4):
        fitted = (slope[0, value] + bias[0]).item()
        assert fitted == pytest.approx(y[group == value].mean().item(), abs=1e-10)


@pytest.mark.covers("linear-basis-model")
def test_fixed_features_span_a_linear_space_that_least_squares_fits() -> None:
    numbers = torch.Generator().manual_seed(0)
    x = torch.linspace(-3, 3, 200, dtype=torch.float64)[:, None]
    w, b = 2 * torch.randn(2, 1, 40, generator=numbers, dtype=torch.float64)
    features = torch.tanh(x * w + b)  # (200, 40), of fixed weights
    first, second = torch.randn(2, 40, generator=numbers, dtype=torch.float64)
    together = features @ first + features @ second
    close(features @ (first + second), together.numpy(), 1e-12)  # the sum needs no new unit
    slope, bias = solve_least_squares(features, together[:, None])
    close(features @ slope[0] + bias, together.numpy(), 1e-8)

    # Networks that learn their inner weights form no such space: a sum of two has all their units.
    other = torch.tanh(x * w.flip(1) * 0.7 + b.flip(1) + 0.3)[:, :5]
    mine = features[:, :5]
    sums = (mine @ first[:5] + other @ second[:5])[:, None]
    errors = {}
    for units, design in {5: mine, 10: torch.cat((mine, other), dim=1)}.items():
        slope, bias = solve_least_squares(design, sums)
        errors[units] = (design @ slope.T + bias - sums).square().mean().item()
    assert errors[10] < 1e-20
    assert errors[5] > 1e-6

    misses = []
    for units in (2, 5, 10, 20, 40):
        slope, bias = solve_least_squares(features[:, :units], x.sin())
        misses.append((features[:, :units] @ slope.T + bias - x.sin()).square().mean().item())
    assert misses == sorted(misses, reverse=True)
    assert misses[-1] < 1e-6 * misses[0]
