"""Masks as a task: the loss by hand, Dice of all pixels, tables instead of probabilities."""

import json
import math
import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError, DataError
from netwright.core.outputs import Output
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data, Split
from netwright.data.loading.loader import Batch
from netwright.data.spec import DataSpec
from netwright.metrics.catalog import measure_all
from netwright.train.evaluate import evaluate, evaluate_baseline, measure_quickly, predict
from netwright.train.settings import TrainConfig
from netwright.train.tasks.catalog import task_for, task_from_json
from netwright.train.tasks.segmentation import Segmentation
from netwright.train.watching.running_metrics import RunningMetrics

NAMES = ("ground", "cell", "wall")
SPEC = DataSpec(
    inputs="image", input_shape=(2, 4, 5), target="mask", num_outputs=3, class_names=NAMES
)


def split_of(rows: int = 7, weights: Tensor | None = None) -> Split:
    rng = torch.Generator().manual_seed(0)
    masks = torch.randint(3, (rows, 4, 5), generator=rng, dtype=torch.uint8)
    return Split(inputs=torch.randn(rows, 2, 4, 5, generator=rng), targets=masks, weights=weights)


def data_of(split: Split) -> Data:
    encoder = ArrayEncoder(input_shape=(2, 4, 5), target="class", num_outputs=3)
    return Data(name="toy", spec=SPEC, train=split, preprocessor=encoder)


def batch_of(split: Split) -> Batch:
    return Batch(split.inputs, split.targets, split.weights, torch.arange(len(split)))


def net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Conv2d(2, 3, 3, padding=1)


def test_the_task_of_masks_is_segmentation() -> None:
    task = task_for(data_of(split_of()))
    assert isinstance(task, Segmentation)
    assert (task.target, task.headline, task.num_classes) == ("mask", "dice", 3)


def test_loss_and_sample_weights_by_hand() -> None:
    # Two images of one pixel: the softmax of (log 3, 0) is 3/4 and 1/4.
    logits = torch.tensor([[math.log(3), 0.0], [math.log(3), 0.0]]).view(2, 2, 1, 1)
    targets = torch.tensor([0, 1], dtype=torch.uint8).view(2, 1, 1)
    batch = Batch(logits, targets, None, torch.arange(2))
    task = Segmentation(("a", "b"))
    right, wrong = -math.log(3 / 4), -math.log(1 / 4)
    assert task.loss(logits, batch).item() == pytest.approx((right + wrong) / 2)
    heavy = batch._replace(weights=torch.tensor([0.5, 1.5]))
    assert task.loss(logits, heavy).item() == pytest.approx((0.5 * right + 1.5 * wrong) / 2)
    balanced = Segmentation(("a", "b"), torch.tensor([2.0, 1.0]))
    assert balanced.loss(logits, batch).item() == pytest.approx((2 * right + wrong) / 2)
    with_head = Output(logits=logits, aux=(logits,))
    assert task.loss(with_head, batch).item() == pytest.approx(1.3 * (right + wrong) / 2)


def test_balanced_classes_count_the_same_in_all() -> None:
    split = split_of()
    task = task_for(data_of(split), TrainConfig(class_weight="balanced"))
    assert isinstance(task, Segmentation)
    assert task.class_weights is not None
    counts = torch.bincount(split.targets.flatten(), minlength=3)
    torch.testing.assert_close(task.class_weights * counts, torch.full((3,), 7 * 20 / 3))


@pytest.mark.parametrize("weights", [None, torch.tensor([1.0, 0, 2, 1, 3, 0.5, 1])])
def test_quick_and_full_evaluation_and_the_table_of_metrics_agree(weights: Tensor | None) -> None:
    model, split, task = net(), split_of(weights=weights), Segmentation(NAMES)
    quick, full = measure_quickly(model, split, task), evaluate(model, split, task)
    assert quick == pytest.approx({name: full[name] for name in ("loss", "dice")})
    table = measure_all("mask", predict(model, split.inputs, task), split.targets, weights)
    assert {name: full[name] for name in table} == pytest.approx(table)
    assert list(full) == [
        *("loss", "dice", "mean_iou", "pixel_accuracy"),
        *(f"{kind}/{name}" for kind in ("iou", "dice") for name in NAMES),
    ]


def test_large_images_are_measured_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    class Watched(nn.Conv2d):
        def forward(self, x: Tensor) -> Tensor:
            sizes.append(len(x))
            return super().forward(x)

    torch.manual_seed(0)
    model, split, task = Watched(2, 3, 1), split_of(), Segmentation(NAMES)
    at_once = evaluate(model, split, task)
    monkeypatch.setattr("netwright.train.evaluate.MOST_NUMBERS", 3 * 2 * 4 * 5)
    sizes.clear()
    assert evaluate(model, split, task) == pytest.approx(at_once)
    measure_quickly(model, split, task)
    predict(model, split.inputs, task)
    assert sizes == [3, 3, 1] * 3
    monkeypatch.setattr("netwright.train.evaluate.MOST_NUMBERS", 1)  # less than one image
    sizes.clear()
    predict(model, split.inputs, task)
    assert sizes == [1] * 7


def test_what_is_measured_while_training_is_the_dice_of_all_pixels() -> None:
    split, task = split_of(), Segmentation(NAMES)
    output = net()(split.inputs).detach()
    running = RunningMetrics(task, torch.device("cpu"))
    for rows in (slice(0, 4), slice(4, 7)):
        part = Batch(split.inputs[rows], split.targets[rows], None, torch.arange(7)[rows])
        running.add(output[rows], part, task.loss(output[rows], part))
    wanted = measure_all("mask", task.predictions(output), split.targets)["dice"]
    assert running.values()["dice"] == pytest.approx(wanted)
    shares = task.headline_sum(output, split.targets, None)
    assert shares.sum().item() == pytest.approx(len(split))  # of each image 1, however large


def test_baseline_says_the_commonest_class_everywhere_by_hand() -> None:
    masks = torch.tensor([[[0, 1], [1, 1]], [[1, 1], [2, 0]]], dtype=torch.uint8)
    split = Split(inputs=torch.zeros(2, 1, 2, 2), targets=masks)
    task = Segmentation(NAMES)
    guess = task.baseline(split)
    assert guess.tolist() == pytest.approx([2 / 8, 5 / 8, 1 / 8])
    found = evaluate_baseline(split, guess, task)
    assert found["pixel_accuracy"] == 5 / 8
    assert found["dice/cell"] == pytest.approx(2 * 5 / (5 + 8))
    assert found["dice/ground"] == found["iou/wall"] == 0
    said = "always 'cell', 62.50% of the training pixels"
    assert task.describe_baseline(split, NAMES) == said
    heavy = Split(inputs=split.inputs, targets=masks, weights=torch.tensor([0.0, 2.0]))
    assert task.baseline(heavy).tolist() == pytest.approx([1 / 4, 2 / 4, 1 / 4])


@pytest.mark.parametrize(
    "settings", [{}, {"loss": "dice"}, {"class_weight": "balanced", "label_smoothing": 0.1}]
)
def test_a_task_from_json_is_the_same(settings: dict[str, Any]) -> None:
    split = split_of()
    task = task_for(data_of(split), TrainConfig(**settings))
    again = task_from_json(json.loads(json.dumps(task.to_json())))
    output, batch = net()(split.inputs), batch_of(split)
    assert torch.equal(again.loss(output, batch), task.loss(output, batch))
    assert again.to_json() == task.to_json()
    plain = task_for(data_of(split)).loss(output, batch)
    assert torch.equal(task.loss(output, batch), plain) == (not settings)


def test_a_model_that_fell_apart_is_refused() -> None:
    task = Segmentation(("a", "b"))
    with pytest.raises(DataError, match=r"^probabilities must be finite, got nan at \[0, 0, 0, 0"):
        task.compared(torch.full((1, 2, 1, 1), math.nan), torch.zeros(1, 1, 1))


def test_smoothing_is_for_cross_entropy() -> None:
    sentence = "label_smoothing is for cross-entropy, the loss is 'dice'"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        task_for(data_of(split_of()), TrainConfig(loss="dice", label_smoothing=0.1))


@pytest.mark.parametrize("loss", ["dice", "cross-entropy-dice", "focal"])
def test_every_loss_of_masks_takes_the_weights_of_classes(loss: str) -> None:
    split = split_of()
    plain, weighed = (
        task_for(data_of(split), TrainConfig(loss=loss, class_weight=weight))
        for weight in (None, "balanced")
    )
    logits, batch = net()(split.inputs), batch_of(split)
    assert weighed.loss(logits, batch) != plain.loss(logits, batch)


def test_a_loss_of_classes_is_refused() -> None:
    sentence = "the loss 'hinge' is for targets of kind 'class' or 'labels', not 'mask'"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        task_for(data_of(split_of()), TrainConfig(loss="hinge"))
