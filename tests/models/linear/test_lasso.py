"""Lasso: parity with scikit-learn, exact zeros, and the path that led to them."""

import re

import numpy as np
import pytest
import torch
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso as Reference
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec
from netwright.inspection.attribution.weight_path import WeightPath
from netwright.inspection.drawing.wording import number
from netwright.models.linear import lasso
from netwright.models.linear.lasso import PATH, Lasso, LassoConfig
from netwright.models.linear.least_squares import solve_least_squares
from tests.repetition import for_each


def diabetes() -> tuple[Tensor, Tensor]:
    x, y = load_diabetes(return_X_y=True)
    return torch.from_numpy(x / x.std(axis=0)), torch.from_numpy(y)[:, None]


def fitted(
    x: Tensor, y: Tensor, weights: Tensor | None = None, **settings: float
) -> tuple[Lasso, list[dict[str, float]]]:
    names = tuple(f"x{place}" for place in range(x.shape[1]))
    spec = DataSpec(
        inputs="features",
        input_shape=(x.shape[1],),
        target="real",
        num_outputs=y.shape[1],
        feature_names=names,
    )
    model = Lasso.build(LassoConfig(**settings), spec).double()
    return model, list(model.fit_steps(Split(inputs=x, targets=y, weights=weights), seed=0))


@for_each("weighted", [False, True])
@for_each("l1", [0.01, 1.0, 20.0])
def test_agrees_with_scikit_learn(l1: float, weighted: bool) -> None:
    x, y = diabetes()
    weights = torch.arange(len(x)) % 4 if weighted else None
    model, steps = fitted(x, y, weights, l1=l1, tol=1e-10)
    reference = Reference(alpha=l1, tol=1e-10, max_iter=100_000)
    reference.fit(x.numpy(), y.numpy()[:, 0], sample_weight=weights)
    np.testing.assert_allclose(model.affine.weight[0].detach(), reference.coef_, atol=1e-5)
    np.testing.assert_allclose(model.affine.bias.detach(), reference.intercept_, atol=1e-5)
    zeros = (model.affine.weight == 0).sum().item()
    assert zeros == (reference.coef_ == 0).sum() == x.shape[1] - steps[-1]["weights"]
    errors = (y.numpy()[:, 0] - reference.predict(x.numpy())) ** 2
    assert steps[-1]["loss"] == pytest.approx(np.average(errors, weights=weights), rel=1e-7)


@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_scikit_learn_where_columns_are_almost_the_same(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    x = numbers.standard_normal((100, 8))
    x[:, 5] = x[:, 4] + 0.02 * x[:, 5]
    y = x[:, :5] @ numbers.standard_normal(5) + numbers.standard_normal(100)
    model, steps = fitted(torch.from_numpy(x), torch.from_numpy(y)[:, None], l1=1e-4, tol=1e-10)
    reference = Reference(alpha=1e-4, tol=1e-12, max_iter=1_000_000).fit(x, y)
    np.testing.assert_allclose(model.affine.weight[0].detach(), reference.coef_, atol=1e-5)
    assert len(steps) < 10  # sweeps alone need hundreds
    assert not model.gap_left.any()


def test_more_columns_than_rows_that_share_few_causes_are_solved_in_few_steps() -> None:
    numbers = torch.Generator().manual_seed(0)
    causes = torch.randn(50, 5, generator=numbers, dtype=torch.float64)
    x = causes @ torch.randn(5, 80, generator=numbers, dtype=torch.float64)
    x = x + 0.05 * torch.randn(50, 80, generator=numbers, dtype=torch.float64)
    y = x[:, :3].sum(dim=1, keepdim=True)
    _, steps = fitted(x, y)
    assert steps[-1]["gap"] <= 1e-8 * y.var(unbiased=False).item()
    assert len(steps) < 20


def test_an_optimum_that_was_not_reached_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lasso, "MOST_STEPS", 1)
    x, y = diabetes()
    model, steps = fitted(x, torch.cat((y, torch.zeros_like(y)), dim=1), l1=0.01, tol=1e-300)
    assert model.gap_left.tolist() == [steps[-1]["gap"], 0.0]
    assert steps[-1]["gap"] > 0
    view = model.own_views(Split(inputs=x, targets=y))["weight-path"]
    gap = number(steps[-1]["gap"])
    assert view.caption.endswith(f" The optimum was not reached; the gap is {gap}.")


@pytest.mark.covers("lasso-regression")
def test_orthonormal_inputs_are_thresholded_and_a_large_penalty_leaves_nothing() -> None:
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(60, 5, generator=numbers, dtype=torch.float64)
    x = torch.linalg.qr(x - x.mean(dim=0)).Q * 60**0.5  # X^T X / n = I, and the means stay 0
    y = x @ torch.tensor([[3.0], [-2.0], [0.4], [0.1], [0.0]], dtype=torch.float64)
    y = y + torch.randn(60, 1, generator=numbers, dtype=torch.float64)
    squares, _ = solve_least_squares(x, y)
    expected = squares.sign() * (squares.abs() - 0.5).clamp_min(0)
    assert (expected == 0).any()
    model, _ = fitted(x, y, l1=0.5)
    torch.testing.assert_close(model.affine.weight.detach(), expected, rtol=0, atol=1e-12)
    largest = (x.T @ (y - y.mean())).abs().max().item() / 60
    above, _ = fitted(x, y, l1=largest * 1.000001)
    assert not above.affine.weight.any()
    below, _ = fitted(x, y, l1=largest * 0.999)
    assert below.affine.weight.count_nonzero().item() == 1


def test_each_output_is_fitted_by_itself() -> None:
    x, y = diabetes()
    both = torch.cat((y, y.flip(0) + 100 * x[:, :1]), dim=1)
    model, _ = fitted(x, both, l1=0.7, tol=1e-12)
    for output in range(2):
        alone, _ = fitted(x, both[:, [output]], l1=0.7, tol=1e-12)
        torch.testing.assert_close(model.affine.weight[output], alone.affine.weight[0])
        torch.testing.assert_close(model.affine.bias[output], alone.affine.bias[0])


def test_penalty_that_is_not_given_follows_the_units_of_the_target() -> None:
    x, y = diabetes()
    small, _ = fitted(x, y)
    large, _ = fitted(x, 1_000 * y)
    torch.testing.assert_close(large.affine.weight, 1_000 * small.affine.weight)
    assert 0 < small.affine.weight.count_nonzero().item() < 10
    least = ((x - x.mean(dim=0)).T @ (y - y.mean()) / len(x)).abs().max()
    assert small.path_penalties[-1, 0].item() == pytest.approx(0.01 * least.item())


def test_path_begins_with_no_weight_and_ends_at_the_model() -> None:
    x, y = diabetes()
    model, _ = fitted(x, y, l1=0.5, tol=1e-12)
    path = model.path_weights[:, 0]  # (L, D)
    assert path.shape == (PATH, 10)
    assert path[0].abs().max().item() < 1e-9
    torch.testing.assert_close(path[-1], model.affine.weight[0].detach())
    for place in (5, 15, 25):
        alone, _ = fitted(x, y, l1=model.path_penalties[place, 0].item(), tol=1e-12)
        torch.testing.assert_close(path[place], alone.affine.weight[0].detach(), atol=1e-5, rtol=0)
    view = model.own_views(Split(inputs=x, targets=y))["weight-path"]
    assert isinstance(view, WeightPath)
    assert view.penalties[-1] == pytest.approx(0.5)
    assert {path.name for path in view.named} <= {f"x{place}" for place in range(10)}


def test_a_target_that_never_changes_asks_for_no_weight() -> None:
    x, y = diabetes()
    model, _ = fitted(x, torch.full_like(y, 3.0))
    assert not model.affine.weight.any()
    assert model.affine.bias.item() == 3.0
    view = model.own_views(Split(inputs=x, targets=y))["weight-path"]
    assert view.caption.endswith(" There 0 of 10 weights are not 0.")


def test_elastic_net_shares_the_weight_of_twins() -> None:
    x, y = diabetes()
    twins = x[:, [2, 2]]
    both, _ = fitted(twins, y, l1=1.0, l2=0.1)
    first, second = both.affine.weight[0].tolist()
    assert first == pytest.approx(second)
    lone, _ = fitted(twins, y, l1=1.0)
    assert lone.affine.weight[0, 1].item() == 0.0  # without l2 the first of them takes all


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"l1": 0.0}, "l1 must be greater than 0.0, got 0.0"),
        ({"l2": -1.0}, "l2 must be at least 0.0, got -1.0"),
        ({"tol": 0.0}, "tol must be greater than 0.0, got 0.0"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, float], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        LassoConfig(**settings)
