"""Logistic and softmax regression by Newton: parity with scikit-learn, and laws of likelihood."""

import re

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression as Reference
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec, TargetKind
from netwright.models.linear.newton import LogisticNewton, NewtonConfig, SoftmaxNewton
from tests.repetition import for_each

Newton = LogisticNewton | SoftmaxNewton


def spec(inputs: int, outputs: int, target: TargetKind = "class") -> DataSpec:
    return DataSpec(inputs="features", input_shape=(inputs,), target=target, num_outputs=outputs)


def fitted(
    kind: type[LogisticNewton] | type[SoftmaxNewton],
    x: Tensor,
    y: Tensor,
    weights: Tensor | None = None,
    **settings: float,
) -> tuple[Newton, list[dict[str, float]]]:
    """The model for as many classes as there are, or labels where y has columns."""
    outputs, target = (int(y.max()) + 1, "class") if y.dim() == 1 else (y.shape[1], "labels")
    config = NewtonConfig(**{"tol": 1e-10, **settings})
    model = kind.build(config, spec(x.shape[1], outputs, target)).double()  # type: ignore[arg-type]
    return model, list(model.fit_steps(Split(inputs=x, targets=y, weights=weights), seed=0))


def scaled(name: str) -> tuple[Tensor, Tensor]:
    load = {"iris": load_iris, "cancer": load_breast_cancer}[name]
    x, y = load(return_X_y=True)
    return torch.from_numpy((x - x.mean(axis=0)) / x.std(axis=0)), torch.from_numpy(y)


@for_each("weighted", [False, True])
@for_each(("name", "kind"), [("cancer", LogisticNewton), ("iris", SoftmaxNewton)])
def test_agrees_with_scikit_learn(name: str, kind: type[LogisticNewton], weighted: bool) -> None:
    x, y = scaled(name)
    weights = 0.5 + torch.arange(len(x)) % 3 if weighted else None
    total = float(len(x) if weights is None else weights.sum())
    model, steps = fitted(kind, x, y, weights, l2=1e-3)
    reference = Reference(C=1 / (total * 1e-3), tol=1e-10, max_iter=10_000)
    reference.fit(x.numpy(), y.numpy(), sample_weight=weights)
    np.testing.assert_allclose(model.linear.weight.detach(), reference.coef_, atol=1e-5)
    np.testing.assert_allclose(model.linear.bias.detach(), reference.intercept_, atol=1e-5)
    chances = reference.predict_proba(x.numpy())
    np.testing.assert_allclose(model(x).softmax(dim=1).detach(), chances, atol=1e-6)
    each = -np.log(chances[np.arange(len(x)), y.numpy()])
    assert steps[-1]["loss"] == pytest.approx(np.average(each, weights=weights), rel=1e-5)


def test_sample_of_many_examples_leads_to_the_weights_of_scikit_learn() -> None:
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(12_000, 3, generator=numbers, dtype=torch.float64)
    y = (x[:, 0] + torch.randn(12_000, generator=numbers) > 0).long()
    model, _ = fitted(LogisticNewton, x, y, l2=1 / 12_000)
    reference = Reference(C=1.0, tol=1e-10, max_iter=1_000).fit(x.numpy(), y.numpy())
    np.testing.assert_allclose(model.linear.weight.detach(), reference.coef_, atol=1e-5)


def test_more_classes_against_the_first_are_the_softmax_without_a_penalty() -> None:
    x, y = scaled("iris")
    against_first, _ = fitted(LogisticNewton, x, y, l2=1e-9)
    softmax, _ = fitted(SoftmaxNewton, x, y, l2=1e-9)
    assert against_first.linear.weight.shape == (2, 4)
    torch.testing.assert_close(
        against_first(x).softmax(dim=1), softmax(x).softmax(dim=1), rtol=0, atol=1e-4
    )


def test_scores_of_the_softmax_sum_to_zero() -> None:
    x, y = scaled("iris")
    model, _ = fitted(SoftmaxNewton, x, y)
    assert model.linear.bias.sum().item() == pytest.approx(0.0, abs=1e-9)
    torch.testing.assert_close(model(x).sum(dim=1), torch.zeros(150).double(), rtol=0, atol=1e-8)


def test_labels_are_learned_each_by_itself() -> None:
    x, _ = scaled("iris")
    numbers = torch.Generator().manual_seed(0)
    labels = (x[:, :2] + torch.randn(150, 2, generator=numbers) > 0).double()
    both, steps = fitted(LogisticNewton, x, labels)
    losses = []
    for place in range(2):
        alone, its_steps = fitted(LogisticNewton, x, labels[:, place].long())
        torch.testing.assert_close(both.linear.weight[place], alone.linear.weight[0])
        losses.append(its_steps[-1]["loss"])
    assert steps[-1]["loss"] == pytest.approx(sum(losses) / 2)


def test_separable_classes_keep_finite_weights() -> None:
    x = torch.tensor([[-2.0], [-1.0], [1.0], [2.0]], dtype=torch.float64)
    y = torch.tensor([0, 0, 1, 1])
    sizes = []
    for l2 in (1e-1, 1e-4, 1e-8):
        model, _ = fitted(LogisticNewton, x, y, l2=l2)
        sizes.append(model.linear.weight.item())
        assert np.isfinite(sizes[-1])
    assert sizes == sorted(sizes)


def test_one_step_is_made_however_large_the_tolerance() -> None:
    x, y = scaled("cancer")
    _, steps = fitted(LogisticNewton, x, y, tol=1e9)
    assert len(steps) == 1


@pytest.mark.covers("maximum-likelihood")
def test_likelihood_of_yes_and_no_is_highest_at_their_share() -> None:
    y = torch.tensor([1, 0, 0, 1, 0, 0, 0])
    model, steps = fitted(LogisticNewton, torch.zeros(7, 1, dtype=torch.float64), y)
    share = torch.sigmoid(model.linear.bias).item()
    assert share == pytest.approx(2 / 7, abs=1e-10)
    grid = torch.linspace(0.01, 0.99, 99, dtype=torch.float64)
    nll = -(2 * grid.log() + 5 * (1 - grid).log()) / 7
    assert nll.min().item() >= steps[-1]["loss"]


@pytest.mark.covers("bayes-theorem")
def test_chance_of_illness_after_a_positive_test() -> None:
    prior, sensitivity, false_alarms = 0.01, 0.99, 0.05
    positive = sensitivity * prior + false_alarms * (1 - prior)
    posterior = sensitivity * prior / positive
    assert posterior == pytest.approx(0.1667, abs=5e-5)
    numbers = torch.Generator().manual_seed(0)
    ill = torch.rand(400_000, generator=numbers) < prior
    chance = torch.where(ill, sensitivity, false_alarms)
    found = torch.rand(400_000, generator=numbers) < chance
    assert ill[found].double().mean().item() == pytest.approx(posterior, abs=0.01)
    # Logistic regression of illness on the test learns the posterior by itself.
    model, _ = fitted(LogisticNewton, found[:, None].double(), ill.long(), l2=1e-9)
    learned = model(torch.ones(1, 1, dtype=torch.float64)).softmax(dim=1)[0, 1].item()
    assert learned == pytest.approx(ill[found].double().mean().item(), abs=1e-4)


@pytest.mark.covers("log-transform-feature")
def test_logarithm_of_an_income_explains_more_than_the_income() -> None:
    numbers = torch.Generator().manual_seed(0)
    income = 40_000 * torch.randn(3_000, 1, generator=numbers, dtype=torch.float64).exp()
    odds = 2 * (income / 40_000).log()[:, 0]
    repaid = (torch.rand(3_000, generator=numbers) < torch.sigmoid(odds)).long()
    raw, log = (
        fitted(LogisticNewton, x, repaid, l2=1e-12, tol=1e-6)[1][-1]["loss"]
        for x in (income / income.std(), income.log())
    )
    assert log < raw - 0.01


def test_too_many_weights_are_refused() -> None:
    sentence = (
        "Newton's method solves for all weights at once and takes at most 5000, got 7850; "
        "'logistic' and 'softmax' train larger models by gradient descent"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        SoftmaxNewton.build(NewtonConfig(), spec(784, 10))
    LogisticNewton.build(NewtonConfig(), spec(784, 2))


@pytest.mark.parametrize("name", ["l2", "tol"])
def test_settings_must_be_positive(name: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name} must be greater than 0.0, got 0.0$"):
        NewtonConfig(**{name: 0.0})
