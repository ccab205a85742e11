"""A loss knows for which kinds of target it is."""

import pytest
import torch

from netwright.core.card import Card
from netwright.core.errors import ConfigError
from netwright.losses.loss import Loss, reduce
from netwright.losses.regression import squared_error

CARD = Card(sentence="Nothing.", formula="0", symbols={}, source="none")


def test_the_function_is_that_of_the_kind() -> None:
    assert Loss(of={"real": squared_error}, card=CARD).function("mse", "real") is squared_error


def test_another_kind_is_refused() -> None:
    loss = Loss(of={"real": squared_error}, card=CARD)
    with pytest.raises(ConfigError, match=r"^the loss 'mse' is for .* 'real', not 'labels'$"):
        loss.function("mse", "labels")


def test_losses_are_kept_or_averaged() -> None:
    losses = torch.tensor([1.0, 2.0, 6.0])
    assert reduce(losses, "none") is losses
    assert reduce(losses, "mean") == 3.0
