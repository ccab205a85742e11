"""Coordinate descent: one weight by hand, conditions of the optimum, and a gap that is honest."""

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet, Lasso

from netwright.models.linear.coordinate_descent import CoordinateDescent, soft_threshold


def problem(rows: int = 40, columns: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.random.default_rng(seed)
    x = numbers.standard_normal((rows, columns)) @ numbers.standard_normal((columns, columns))
    y = x @ numbers.standard_normal(columns) + numbers.standard_normal(rows)
    return x - x.mean(axis=0), y - y.mean()


def descent(x: np.ndarray, y: np.ndarray, l1: list[float], l2: float = 0.0) -> CoordinateDescent:
    rows = len(x)
    return CoordinateDescent(
        gram=x.T @ x / rows + l2 * np.eye(x.shape[1]),
        alignment=np.tile(x.T @ y / rows, (len(l1), 1)),
        power=np.full(len(l1), y @ y / rows),
        l1=np.array(l1),
    )


def solved(found: CoordinateDescent, sweeps: int = 1_000) -> np.ndarray:
    for _ in range(sweeps):
        found.sweep()
    return found.weights


def test_soft_threshold_by_hand() -> None:
    values = np.array([3.0, 1.0, 0.5, 0.0, -0.5, -1.0, -3.0])
    assert soft_threshold(values, np.array(1.0)).tolist() == [2, 0, 0, 0, 0, 0, -2]


def test_one_weight_by_hand() -> None:
    # X^T X / n = 2, X^T y / n = 3, l1 = 1: w = S(3, 1) / 2 = 1; the loss is 5/2 - 3 + 1 + 1.
    found = CoordinateDescent(
        gram=np.array([[2.0]]),
        alignment=np.array([[3.0]]),
        power=np.array([5.0]),
        l1=np.array([1.0]),
    )
    found.sweep()
    assert found.weights.tolist() == [[1.0]]
    assert found.slack.tolist() == [[1.0]]  # |slack| is l1 where a weight is not 0
    assert found.mean_squares(0.0).tolist() == [5 - 2 * 3 + 2]
    assert found.gap()[0] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(("l1", "l2"), [(0.05, 0.0), (0.5, 0.0), (0.2, 0.3)])
def test_weights_are_those_of_scikit_learn(l1: float, l2: float) -> None:
    x, y = problem()
    found = descent(x, y, [l1], l2)
    weights = solved(found, 5_000)[0]
    peer = (
        ElasticNet(alpha=l1 + l2, l1_ratio=l1 / (l1 + l2), tol=1e-10, max_iter=100_000)
        if l2
        else Lasso(alpha=l1, tol=1e-10, max_iter=100_000)
    ).fit(x, y)
    np.testing.assert_allclose(weights, peer.coef_, atol=1e-7)
    squares = np.mean((y - x @ weights) ** 2)
    assert found.mean_squares(l2)[0] == pytest.approx(squares, rel=1e-9)


def test_problems_side_by_side_are_solved_as_if_alone() -> None:
    x, y = problem()
    penalties = [2.0, 0.3, 0.01]
    together = solved(descent(x, y, penalties))
    for row, l1 in zip(together, penalties, strict=True):
        np.testing.assert_allclose(row, solved(descent(x, y, [l1]))[0], atol=1e-9)


def test_gap_bounds_the_distance_to_the_least_loss_and_closes() -> None:
    x, y = problem()
    l1 = 0.1

    def loss(weights: np.ndarray) -> float:
        return float(np.mean((y - x @ weights) ** 2) / 2 + l1 * np.abs(weights).sum())

    least = loss(solved(descent(x, y, [l1]))[0])
    found = descent(x, y, [l1])
    gaps = []
    for _ in range(30):
        gaps.append(found.gap()[0])
        assert gaps[-1] >= loss(found.weights[0]) - least - 1e-12
        found.sweep()
    assert gaps[-1] < 0.01 * gaps[0]


def test_a_column_of_zeros_gets_no_weight() -> None:
    x, y = problem()
    x[:, 2] = 0.0
    assert solved(descent(x, y, [0.01]), 50)[0, 2] == 0.0


def test_settling_finds_the_optimum_of_alike_columns_where_sweeps_creep() -> None:
    x, y = problem()
    x[:, 1] = x[:, 0] + 0.01 * x[:, 1]
    swept, settled = descent(x, y, [1e-3]), descent(x, y, [1e-3])
    solved(swept, 40)
    for _ in range(4):
        solved(settled, 10)
        settled.settle()
    assert swept.gap()[0] > 1e-6 * swept.power[0]
    assert settled.gap()[0] < 1e-10 * settled.power[0]
    np.testing.assert_allclose(settled.slack[0], (y - x @ settled.weights[0]) @ x / 40, atol=1e-12)


def test_settling_never_lets_the_loss_rise_also_with_more_columns_than_rows() -> None:
    x, y = problem(rows=15, columns=30)
    x = np.hstack((x, x[:, :5]))
    found = descent(x, y, [0.001])

    def loss() -> float:
        weights = found.weights[0]
        return float(np.mean((y - x @ weights) ** 2) / 2 + 0.001 * np.abs(weights).sum())

    for _ in range(20):
        found.sweep()
        before, signs = loss(), np.sign(found.weights)
        found.settle()
        assert loss() <= before + 1e-12
        assert np.isin(np.sign(found.weights) * signs, (0, 1)).all()  # a sign stays, or it is 0


def test_settling_ends_where_a_weight_reaches_zero() -> None:
    # From (1, 1) the least loss of these signs is (4 - 1, 0 - 1) = (3, -1): half way there the
    # second weight is 0, and stays; the first goes on to 3.
    found = CoordinateDescent(
        gram=np.eye(2),
        alignment=np.array([[4.0, 0.0]]),
        power=np.array([20.0]),
        l1=np.array([1.0]),
    )
    found.weights = np.array([[1.0, 1.0]])
    found.slack = found.alignment - found.weights
    found.settle()
    np.testing.assert_allclose(found.weights, [[3.0, 0.0]], rtol=1e-12)
    assert found.weights[0, 1] == 0.0


def test_settling_leaves_no_weights_alone() -> None:
    x, y = problem()
    found = descent(x, y, [1e6])
    found.sweep()
    found.settle()
    assert not found.weights.any()
