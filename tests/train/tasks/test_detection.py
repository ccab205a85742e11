"""Detection: its loss, measures and baseline, and answers that people can read."""

import pytest
import torch

from netwright.data.catalog import load
from netwright.data.loading.loader import Batch
from netwright.losses.set_prediction import set_loss
from netwright.recipes.run.answers import objects_said
from netwright.train.tasks.catalog import task_for, task_from_json
from netwright.train.tasks.detection import Detection


def batch(weights: torch.Tensor | None = None) -> tuple[torch.Tensor, Batch]:
    targets = load("shapes", n=20, side=16).train.targets[:3]
    outputs = torch.randn(3, 4, 8, generator=torch.Generator().manual_seed(0))
    return outputs, Batch(torch.zeros(3, 3, 16, 16), targets, weights, torch.arange(3))


def test_weights_count_images() -> None:
    outputs, given = batch()
    each = set_loss(outputs, given.targets)
    assert float(Detection(3).loss(outputs, given)) == pytest.approx(float(each.mean()))
    outputs, given = batch(torch.tensor([2.0, 0.0, 1.0]))
    wanted = float((each * torch.tensor([2.0, 0.0, 1.0])).mean())
    assert float(Detection(3).loss(outputs, given)) == pytest.approx(wanted)


def test_what_is_shown_while_training_is_the_measure_of_all() -> None:
    task, (outputs, given) = Detection(3), batch()
    sums = task.headline_sum(outputs, given.targets, None)
    whole = task.measure(task.compared(task.predictions(outputs), given.targets), given.targets)
    assert sums.shape == task.headline_shape
    assert task.headline_value(sums / 3) == pytest.approx(whole["mean_box_iou"])


def test_the_baseline_says_one_box_of_the_commonest_class() -> None:
    data = load("shapes", n=60, side=16)
    task = task_for(data)
    guess = task.baseline(data.train)
    objects = data.train.targets.flatten(0, 1)
    objects = objects[objects[:, 0] >= 0]
    kind = int(objects[:, 0].long().bincount().argmax())
    assert guess[:4].tolist() == [float(place == kind) for place in range(4)]
    torch.testing.assert_close(guess[4:], objects[:, 1:].mean(dim=0))
    assert set(task.guessed(guess, data.train.targets)[:, 2].tolist()) == {1}
    assert repr(data.spec.class_names[kind]) in task.describe_baseline(
        data.train, data.spec.class_names
    )
    assert task_from_json(task.to_json()).to_json() == task.to_json()


def test_objects_in_words_are_shares_of_the_image_from_left_to_right() -> None:
    shares = torch.tensor([[0.1, 0.7, 0.2], [0.1, 0.1, 0.8], [0.6, 0.3, 0.1]])
    boxes = torch.tensor([[0.7, 0.5, 0.2, 0.2], [0.5, 0.5, 1.0, 1.0], [0.1, 0.5, 0.4, 0.2]])
    (found,) = objects_said(torch.cat((shares, boxes), dim=1)[None], ("disc", "box"))
    assert [one["class"] for one in found] == ["disc", "box"]
    assert found[0]["box"] == pytest.approx([0.0, 0.4, 0.3, 0.6], abs=1e-3)  # cut off at the edge
    assert found[1]["probability"] == pytest.approx(0.7, abs=1e-3)
