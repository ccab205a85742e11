"""A loss of one's own: one number or one an example, weighed as ours are; others are refused."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.errors import ConfigError, ShapeError
from netwright.core.outputs import Output
from netwright.data.loading.loader import Batch
from netwright.train.own.loss import OwnLoss, absent_loss, check_own_loss
from netwright.train.tasks.classification import Classification

LOGITS = torch.tensor([[2.0, 0.0], [1.0, 3.0], [0.5, 0.5]])
TARGETS = torch.tensor([0, 0, 1])


def batch(weights: list[float] | None = None) -> Batch:
    given = None if weights is None else torch.tensor(weights)
    return Batch(LOGITS, TARGETS, given, torch.arange(3))


def each(output: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(output, targets, reduction="none")


def test_one_number_is_the_loss_and_one_an_example_is_averaged() -> None:
    wanted = functional.cross_entropy(LOGITS, TARGETS)
    for function in (nn.CrossEntropyLoss(), each, lambda o, t: each(o, t)[:, None, None]):
        torch.testing.assert_close(OwnLoss(function)(LOGITS, batch()), wanted)
    assert OwnLoss(lambda o, t: o.mean()[None])(LOGITS, batch()).shape == ()


def test_weights_count_as_they_do_in_the_losses_that_have_names() -> None:
    weights = [0.0, 2.0, 1.0]
    torch.testing.assert_close(
        OwnLoss(each)(LOGITS, batch(weights)), Classification(2).loss(LOGITS, batch(weights))
    )
    with pytest.raises(ConfigError, match=r"mean_loss returns one number: build it with reduction"):
        OwnLoss(nn.CrossEntropyLoss(), "mean_loss")(LOGITS, batch(weights))


def test_it_is_given_all_that_the_module_returned_where_that_is_more() -> None:
    output = Output(logits=LOGITS, whole={"scale": LOGITS * 2})
    loss = OwnLoss(lambda o, t: o["scale"].sum())
    assert loss(output, batch()) == (LOGITS * 2).sum()
    assert OwnLoss(lambda o, t: o.sum())(Output(logits=LOGITS), batch()) == LOGITS.sum()


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (1.0, "the loss mine must return a real tensor, got float"),
        (torch.ones((), dtype=torch.complex64), "a real tensor, got torch.complex64"),
        (torch.ones(2), r"a value for each of the 3 examples, got shape \(2,\)"),
    ],
)
def test_what_is_no_loss_is_refused(value: Any, sentence: str) -> None:
    with pytest.raises(ShapeError, match=sentence):
        OwnLoss(lambda o, t: value, "mine")(LOGITS, batch())


@pytest.mark.parametrize(
    ("loss", "sentence"),
    [
        (nn.CrossEntropyLoss, r"the class CrossEntropyLoss: give an instance, as in CrossEntr"),
        (3, r"a name, or a function of \(output, targets\), got int"),
        (nn.Linear(1, 1), "has a parameter 'weight', which would not be learned: make the loss a"),
    ],
)
def test_what_cannot_be_one_is_refused_before(loss: Any, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        check_own_loss(loss)


def test_fixed_numbers_of_a_loss_are_put_where_the_model_is() -> None:
    loss = nn.CrossEntropyLoss(weight=torch.ones(2))
    check_own_loss(loss)
    OwnLoss(loss).to(torch.device("meta"))
    assert loss.weight is not None
    assert loss.weight.is_meta
    OwnLoss(each).to(torch.device("meta"))


def test_a_loss_that_is_not_there_says_how_to_give_it() -> None:
    with pytest.raises(ConfigError, match=r"focal: pass it as open_run\(folder, \.\.\., loss="):
        absent_loss("focal")(LOGITS, batch())
