"""Several labels: binary cross-entropy by hand, each label on its own."""

import math

import pytest
import torch

from netwright.core.outputs import Output
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.metrics.labels import label_accuracy
from netwright.train.tasks.multi_label import MultiLabel


def batch_of(targets: list[list[float]], weights: list[float] | None = None) -> Batch:
    rows = torch.arange(len(targets))
    amounts = None if weights is None else torch.tensor(weights)
    return Batch(torch.zeros(len(targets), 1), torch.tensor(targets), amounts, rows)


# The sigmoid of log 3 is 3/4.
LOGITS = torch.tensor([[math.log(3), -math.log(3)], [math.log(3), math.log(3)]])


def test_loss_by_hand() -> None:
    # Row 0 is right about both labels, row 1 about one.
    loss = MultiLabel().loss(LOGITS, batch_of([[1, 0], [1, 0]]))
    right, wrong = -math.log(3 / 4), -math.log(1 / 4)
    assert loss.item() == pytest.approx((right + (right + wrong) / 2) / 2)


def test_weights_count_rows() -> None:
    loss = MultiLabel().loss(LOGITS, batch_of([[1, 0], [1, 0]], [2.0, 0.0]))
    assert loss.item() == pytest.approx(-math.log(3 / 4))  # 2 of 2 rows


def test_headline_is_the_share_of_right_labels() -> None:
    task = MultiLabel()
    assert task.headline_sum(LOGITS, *batch_of([[1, 0], [1, 0]])[1:3]).item() == 1.5
    assert task.headline_sum(LOGITS, *batch_of([[1, 0], [1, 0]], [0.5, 4.0])[1:3]).item() == 2.5


def test_a_label_is_said_above_even_odds() -> None:
    logits = torch.tensor([[0.1, -0.1]])
    assert MultiLabel().headline_sum(logits, *batch_of([[1, 0]])[1:3]).item() == 1
    assert MultiLabel().headline_sum(logits, *batch_of([[0, 1]])[1:3]).item() == 0


@pytest.mark.parametrize("logit", [0.0, 1e-9])  # the sigmoid of both is one half
def test_the_headline_is_the_metric_at_even_odds(logit: float) -> None:
    task, logits = MultiLabel(), torch.full((1, 2), logit)
    batch = batch_of([[1, 0]])
    measured = label_accuracy(task.predictions(logits), batch.targets)
    assert task.headline_sum(logits, batch.targets, None).item() == measured == 0.5


def test_predictions_are_one_probability_a_label() -> None:
    wanted = torch.tensor([[0.75, 0.25], [0.75, 0.75]])
    torch.testing.assert_close(MultiLabel().predictions(LOGITS), wanted)
    assert torch.equal(
        MultiLabel().predictions(Output(logits=LOGITS)), MultiLabel().predictions(LOGITS)
    )


def test_the_baseline_is_the_share_of_each_label() -> None:
    targets = torch.tensor([[1.0, 0.0], [1.0, 1.0]])
    rows = Split(inputs=torch.zeros(2, 1), targets=targets, weights=torch.tensor([3.0, 1.0]))
    assert MultiLabel().baseline(rows).tolist() == [1.0, 0.25]
    assert MultiLabel().describe_baseline(rows, ("a", "b")) == (
        "each label as often as in the training rows"
    )
    assert MultiLabel(loss="hinge").to_json() == {
        "kind": "multi-label",
        "loss": "hinge",
        "loss_options": {},
    }
