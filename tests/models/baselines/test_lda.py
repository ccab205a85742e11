"""Linear discriminant analysis: scikit-learn's probabilities, and the border that Bayes draws."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from netwright.core.errors import DataError
from netwright.data.dataset import Split
from tests.models.baselines.fitted import CLASSES, arrays, fitted, spec_of, table


@pytest.mark.parametrize("name", CLASSES)
def test_probabilities_are_those_of_scikit_learn(name: str) -> None:
    data, spec = table(name)
    x, y, _ = arrays(data)
    reference = LinearDiscriminantAnalysis().fit(x, y)
    ours = fitted("lda", data, spec)(data.inputs).softmax(dim=1)
    np.testing.assert_allclose(ours, reference.predict_proba(x), atol=5e-6)


@pytest.mark.covers("lda")
def test_two_gaussians_are_parted_by_the_line_of_bayes() -> None:
    numbers = torch.Generator().manual_seed(0)
    mixing = torch.tensor([[1.0, 0.5], [0.0, 1.0]])
    means = torch.tensor([[0.0, 0.0], [2.0, 1.0]])
    y = (torch.rand(240_000, generator=numbers) < 0.3).long()
    x = means[y] + torch.randn(240_000, 2, generator=numbers) @ mixing.T
    train, test = Split(inputs=x[:200_000], targets=y[:200_000]), (x[200_000:], y[200_000:])
    model = fitted("lda", train, spec_of(2, outputs=2))

    inverse = torch.linalg.inv(mixing @ mixing.T)
    slope = inverse @ (means[1] - means[0])
    offset = -means[1] @ inverse @ means[1] / 2 + np.log(0.3 / 0.7)
    odds, bias = model.weight[1] - model.weight[0], model.bias[1] - model.bias[0]
    torch.testing.assert_close(odds, slope, rtol=0, atol=0.03)
    torch.testing.assert_close(bias, offset.float(), rtol=0, atol=0.03)

    apart = float((slope @ (means[1] - means[0])).sqrt())  # of the means, in standard deviations
    cut = np.log(0.7 / 0.3) / apart
    best = 0.7 * norm.cdf(apart / 2 + cut) + 0.3 * norm.cdf(apart / 2 - cut)
    accuracy = float((model(test[0]).argmax(dim=1) == test[1]).float().mean())
    assert accuracy == pytest.approx(best, abs=0.01)


def test_a_weight_of_two_is_a_row_that_comes_twice_and_one_of_zero_is_none() -> None:
    data, spec = table("iris")
    twice, none = torch.arange(0, 20), torch.arange(100, 110)
    weights = torch.ones(len(data))
    weights[twice], weights[none] = 2.0, 0.0
    left = torch.tensor([row for row in range(len(data)) if row not in none.tolist()])
    repeated = data.take(torch.cat((left, twice)))
    ours = fitted("lda", replace(data, weights=weights), spec)
    other = fitted("lda", repeated, spec)
    torch.testing.assert_close(ours.weight, other.weight, rtol=0.02, atol=1e-3)
    assert torch.equal(ours(data.inputs).argmax(dim=1), other(data.inputs).argmax(dim=1))


def test_a_single_class_is_always_the_answer() -> None:
    data, spec = table("iris")
    first = data.take((data.targets == 1).nonzero()[:, 0])
    assert set(fitted("lda", first, spec)(data.inputs).argmax(dim=1).tolist()) == {1}


def test_classes_that_are_not_among_the_rows_are_never_predicted() -> None:
    data, spec = table("iris")
    known = data.take((data.targets != 1).nonzero()[:, 0])
    logits = fitted("lda", known, spec)(data.inputs)
    assert logits.shape == (len(data), 3)
    assert set(logits.argmax(dim=1).tolist()) == {0, 2}


def test_features_that_vary_within_no_class_are_refused() -> None:
    x, y = torch.tensor([[0.0, 1.0]] * 5 + [[1.0, 0.0]] * 5), torch.tensor([0] * 5 + [1] * 5)
    with pytest.raises(DataError, match=r"^lda needs features that vary within the classes, got"):
        fitted("lda", Split(inputs=x, targets=y), spec_of(2, outputs=2))
