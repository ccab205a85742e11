"""A loss knows for which kinds of target it is."""

import re
from typing import Any

import pytest
import torch

from netwright.core.card import Card
from netwright.core.checks import check_positive
from netwright.core.errors import ConfigError
from netwright.losses.loss import Loss, reduce
from netwright.losses.regression import huber, squared_error
from tests.repetition import for_each

CARD = Card(sentence="Nothing.", formula="0", symbols={}, source="none")


def test_the_function_is_that_of_the_kind() -> None:
    assert Loss(of={"real": squared_error}, card=CARD).function("mse", "real") is squared_error


def test_another_kind_is_refused() -> None:
    loss = Loss(of={"real": squared_error}, card=CARD)
    with pytest.raises(ConfigError, match=r"^the loss 'mse' is for .* 'real', not 'labels'$"):
        loss.function("mse", "labels")


def test_losses_are_kept_averaged_or_added() -> None:
    losses = torch.tensor([1.0, 2.0, 6.0])
    assert reduce(losses, "none") is losses
    assert reduce(losses, "mean") == 3.0
    assert reduce(losses, "sum") == 9.0


def test_another_reduction_is_refused() -> None:
    odd: Any = "avg"
    with pytest.raises(ConfigError, match=r"^reduction must be 'none', 'mean' or 'sum', got 'avg'"):
        reduce(torch.ones(2), odd)


def test_an_option_is_handed_to_the_function() -> None:
    loss = Loss(of={"real": huber}, card=CARD, options={"delta": check_positive})
    outputs, targets = torch.tensor([[3.0]]), torch.tensor([[0.0]])
    assert loss.function("huber", "real", {"delta": 2.0})(outputs, targets).item() == 4.0
    assert loss.function("huber", "real", {}) is huber


@for_each(
    ("options", "sentence"),
    [
        ({"dleta": 1.0}, "unknown option 'dleta' of the loss 'huber'; did you mean 'delta'?"),
        ({"reduction": 1.0}, "unknown option 'reduction' of the loss 'huber'; there are delta"),
        ({"delta": "wide"}, "delta of the loss 'huber' must be a number, got 'wide'"),
        ({"delta": True}, "delta of the loss 'huber' must be a number, got True"),
        ({"delta": 0}, "delta of the loss 'huber' must be positive, got 0"),
    ],
)
def test_an_odd_option_is_refused(options: dict[str, Any], sentence: str) -> None:
    loss = Loss(of={"real": huber}, card=CARD, options={"delta": check_positive})
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        loss.function("huber", "real", options)


def test_a_loss_without_options_says_so() -> None:
    loss = Loss(of={"real": squared_error}, card=CARD)
    with pytest.raises(
        ConfigError, match=r"^unknown option 'a' of the loss 'mse'; there are none$"
    ):
        loss.function("mse", "real", {"a": 1})
