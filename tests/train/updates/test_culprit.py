"""Where a number came from; the guard's own tests go through all causes."""

from netwright.train.updates.culprit import find_culprit
from tests.train.toy_runs import toy_start


def test_without_a_batch_at_hand_the_loss_alone_is_blamed() -> None:
    assert find_culprit(toy_start()) == "the loss is not finite"
