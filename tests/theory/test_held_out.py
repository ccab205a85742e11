"""Training and testing by the library's own loop: splits, seeds and limits."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from netwright.models.mlp import MLP, MLPConfig
from netwright.theory.held_out import DIGITS, digits, held_out

QUICK = {"batch_size": 50, "epochs": 3, "lr": 0.01}


def test_digits_are_divided_as_asked_and_none_is_lost() -> None:
    data = digits(150, 0)
    assert len(data.train) == 150
    assert len(data.train) + len(data.split("test")) == DIGITS
    assert data.val is None
    assert not torch.equal(data.train.inputs, digits(150, 1).train.inputs)


def test_one_seed_gives_one_result_and_another_seed_another() -> None:
    first, again, other = (
        held_out("mlp", digits(150, 0), seed=seed, settings={"hidden": (8,)}, train=QUICK)
        for seed in (0, 0, 1)
    )
    assert first == again != other


def test_training_helps_and_a_limit_of_steps_ends_it() -> None:
    long, short = (
        held_out("softmax", digits(150, 0), seed=0, train={**QUICK, "epochs": 20, **limit})
        for limit in ({}, {"max_steps": 1})
    )
    assert long.loss < short.loss
    assert long.error < 0.3 < short.error


def test_a_model_with_a_rule_of_its_own_learns_by_it() -> None:
    assert held_out("lda", digits(600, 0), seed=0).error == pytest.approx(0.06, abs=0.03)


@pytest.mark.covers("parallel-minibatch")
def test_the_gradients_of_equal_shards_have_the_gradient_of_the_batch_as_their_mean() -> None:
    data = digits(600, 0)
    model = MLP(MLPConfig(hidden=(16,), dropout=0.0), data.spec).double()
    weights = tuple(model.parameters())
    inputs, targets = data.train.inputs.double(), data.train.targets

    def gradient(rows: slice) -> torch.Tensor:
        loss = cross_entropy(model(inputs[rows]), targets[rows])
        return torch.cat([part.flatten() for part in torch.autograd.grad(loss, weights)])

    shards = torch.stack([gradient(slice(at, at + 150)) for at in range(0, 600, 150)])
    assert (shards.mean(0) - gradient(slice(None))).abs().max() < 1e-12
