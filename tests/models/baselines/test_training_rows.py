"""Rows for scikit-learn, and the loss of a model on them."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVC
from torch import nn

from netwright.core.errors import DataError
from netwright.data.dataset import Split
from netwright.models.baselines.training_rows import (
    BLOCK,
    fit_estimator,
    training_loss,
    training_rows,
)


def test_rows_are_flat_and_one_real_is_a_plain_column() -> None:
    data = Split(inputs=torch.arange(12.0).reshape(3, 2, 2), targets=torch.ones(3, 1))
    rows = training_rows(data)
    assert rows.inputs.tolist() == torch.arange(12.0).reshape(3, 4).tolist()
    assert rows.inputs.dtype == np.float64
    assert rows.targets.shape == (3,)
    assert rows.weights is None
    assert training_rows(Split(inputs=torch.ones(3, 2), targets=torch.ones(3, 2))).targets.ndim == 2


def test_weights_reach_the_estimator() -> None:
    data = Split(
        inputs=torch.zeros(2, 1),
        targets=torch.tensor([[0.0], [1.0]]),
        weights=torch.tensor([1.0, 3.0]),
    )
    assert fit_estimator(LinearRegression(), training_rows(data)).predict([[0.0]]) == 0.75


def test_what_scikit_learn_refuses_is_one_sentence() -> None:
    rows = training_rows(Split(inputs=torch.rand(5, 2), targets=torch.zeros(5, dtype=torch.int64)))
    sentence = (
        r"^scikit-learn rejects the training rows: The number of classes has to be greater than "
        r"one; got 1 class"
    )
    with pytest.raises(DataError, match=sentence):
        fit_estimator(SVC(), rows)


def test_loss_counts_each_row_by_its_weight() -> None:
    reals = Split(
        inputs=torch.tensor([[1.0], [2.0]]),
        targets=torch.tensor([[0.0], [4.0]]),
        weights=torch.tensor([3.0, 1.0]),
    )
    assert training_loss(nn.Identity(), reals) == (3 * 1 + 4) / 4
    logits = torch.randn(BLOCK + 5, 3, generator=torch.Generator().manual_seed(0))
    classes = torch.arange(BLOCK + 5) % 3
    loss = training_loss(nn.Identity(), Split(inputs=logits, targets=classes))
    assert loss == pytest.approx(nn.functional.cross_entropy(logits, classes).item(), rel=1e-5)
