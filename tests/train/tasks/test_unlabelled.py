"""Inputs without targets: the caller's loss of them is all that is measured."""

import pytest
import torch
from torch import nn

from netwright.core.errors import ConfigError
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.train.evaluate import evaluate, measure_quickly
from netwright.train.own.loss import OwnLoss
from netwright.train.tasks.catalog import task_from_json
from netwright.train.tasks.unlabelled import Unlabelled

X = torch.arange(12.0).reshape(4, 3)
SPLIT = Split(inputs=X, targets=X)


def test_the_loss_is_of_the_outputs_and_the_inputs() -> None:
    task = Unlabelled()
    task.own_loss = OwnLoss(nn.MSELoss())
    model = nn.Linear(3, 3)
    mean = (model(X) - X).square().mean().item()
    assert measure_quickly(model, SPLIT, task) == pytest.approx({"loss": mean})
    assert evaluate(model, SPLIT, task) == pytest.approx({"loss": mean})


def test_inputs_may_be_several() -> None:
    parts = {"a": X, "b": X[:, :1], "c": X}
    assert Unlabelled().counted(parts) == 4
    loss = OwnLoss(lambda output, inputs: (output - inputs["b"]).square().mean())
    value = loss(X[:, :1] + 2, Batch(parts, parts, None, torch.arange(4)))
    assert float(value) == 4


def test_without_a_loss_of_ones_own_there_is_none() -> None:
    with pytest.raises(
        ConfigError, match=r"loss=, a function of \(output, inputs\), or training_s"
    ):
        Unlabelled().loss(X, Batch(X, X, None, torch.arange(4)))


def test_it_is_built_again_and_has_no_guess() -> None:
    task = task_from_json(Unlabelled().to_json())
    assert isinstance(task, Unlabelled)
    assert task.baseline(SPLIT).shape == (0,)
    assert task.describe_baseline(SPLIT, ()) == ""
    assert task.predictions(X) is X
