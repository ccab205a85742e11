"""One class of several: cross-entropy by hand, weights as repetition, balanced classes."""

import math
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from netwright.core.errors import ConfigError
from netwright.core.outputs import Output
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch, BatchLoader
from netwright.data.tables.table import TableConfig
from netwright.data.tables.table_file import load_table
from netwright.train.tasks.classification import Classification, balanced_weights, class_sums
from tests.train.toy_runs import repeated, toy_data, toy_net, weighed, whole_batch


def batch_of(targets: list[int], weights: list[float] | None = None) -> Batch:
    rows = torch.arange(len(targets))
    amounts = None if weights is None else torch.tensor(weights)
    return Batch(torch.zeros(len(targets), 1), torch.tensor(targets), amounts, rows)


# Softmax of (0, log 3) is (1/4, 3/4).
LOGITS = torch.tensor([[0.0, math.log(3)], [0.0, math.log(3)]])


def test_cross_entropy_by_hand() -> None:
    loss = Classification(2).loss(LOGITS, batch_of([1, 0]))
    assert loss.item() == pytest.approx((math.log(4 / 3) + math.log(4)) / 2)


def test_class_and_sample_weights_multiply() -> None:
    task = Classification(2, torch.tensor([2.0, 10.0]))
    loss = task.loss(LOGITS, batch_of([1, 0], [3.0, 0.5]))
    # (10 * 3 * log 4/3 + 2 * 0.5 * log 4) / 2 rows
    assert loss.item() == pytest.approx((30 * math.log(4 / 3) + math.log(4)) / 2)
    only_classes = task.loss(LOGITS, batch_of([1, 0]))
    assert only_classes.item() == pytest.approx((10 * math.log(4 / 3) + 2 * math.log(4)) / 2)


def test_soft_targets_are_weighed_by_the_classes_in_them() -> None:
    soft = torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    task = Classification(2, torch.tensor([2.0, 10.0]))
    loss = task.loss(LOGITS, batch_of([1, 0])._replace(targets=soft))
    mixed = 10 * 0.75 * math.log(4 / 3) + 2 * 0.25 * math.log(4)
    assert loss.item() == pytest.approx((mixed + 2 * math.log(4)) / 2)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_a_soft_target_costs_what_its_classes_cost_and_without_smoothing_what_torch_says(
    smoothing: float,
) -> None:
    numbers = torch.Generator().manual_seed(0)
    logits, soft = torch.randn(6, 3, generator=numbers), torch.rand(6, 3, generator=numbers)
    soft = soft / soft.sum(dim=1, keepdim=True)
    task = Classification(3, torch.tensor([0.5, 2.0, 7.0]), smoothing=smoothing)
    ours = task.loss(logits, batch_of([0] * 6)._replace(targets=soft))
    parts = [task.loss(logits, batch_of([c] * 6, soft[:, c].tolist())) for c in range(3)]
    torch.testing.assert_close(ours, torch.stack(parts).sum())
    if not smoothing:
        each = F.cross_entropy(logits, soft, weight=task.class_weights, reduction="none")
        torch.testing.assert_close(ours, each.mean())


def test_a_soft_target_of_nothing_costs_nothing() -> None:
    task = Classification(2, torch.tensor([2.0, 10.0]))
    loss = task.loss(LOGITS, batch_of([1, 0])._replace(targets=torch.zeros(2, 2)))
    assert loss.item() == 0


def test_smoothing_gives_every_class_its_share() -> None:
    loss = Classification(2, smoothing=0.5).loss(LOGITS, batch_of([1, 1]))
    assert loss.item() == pytest.approx(0.75 * math.log(4 / 3) + 0.25 * math.log(4))


def test_likelihoods_are_of_log_probabilities() -> None:
    task = Classification(2, loss="nll")
    task.check_logits(LOGITS.log_softmax(dim=1))
    sentence = (
        "the loss 'nll' expects log-probabilities, whose probabilities sum to 1, not to 4; for "
        "logits use 'cross-entropy'"
    )
    with pytest.raises(ConfigError, match=f"^{sentence}$"):
        task.check_logits(LOGITS)
    Classification(2).check_logits(LOGITS)


def test_without_weights_it_is_torchs_own_with_its_gradient() -> None:
    data = toy_data()
    logits = toy_net()(data.train.inputs)
    ours = Classification(3).loss(logits, whole_batch(data.train))
    assert torch.equal(ours, F.cross_entropy(logits, data.train.targets))


def test_right_answers_are_counted_with_their_weights() -> None:
    task = Classification(2)
    assert task.headline_sum(LOGITS, *batch_of([1, 0])[1:3]).item() == 1
    assert task.headline_sum(LOGITS, *batch_of([1, 1])[1:3]).item() == 2
    assert task.headline_sum(LOGITS, *batch_of([1, 0], [0.25, 9.0])[1:3]).item() == 0.25


def test_predictions_are_probabilities_of_tensor_and_output_alike() -> None:
    task = Classification(2)
    torch.testing.assert_close(task.predictions(LOGITS), torch.tensor([[0.25, 0.75]] * 2))
    assert torch.equal(task.predictions(Output(logits=LOGITS)), task.predictions(LOGITS))
    assert task.predictions(LOGITS.half()).dtype == torch.float32


def of_classes(targets: list[int]) -> Split:
    return Split(inputs=torch.zeros(len(targets), 1), targets=torch.tensor(targets))


def test_balanced_weights_by_hand() -> None:
    # 8 rows, 2 classes: 8 / (2 * 2) = 2 and 8 / (2 * 6) = 2/3.
    split = of_classes([0, 0, 1, 1, 1, 1, 1, 1])
    torch.testing.assert_close(balanced_weights(split, 2), torch.tensor([2.0, 2 / 3]))
    assert class_sums(weighed(split, [3, 0, *[0.5] * 6]), 2).tolist() == [3, 3]


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0.5, 1.0, 4.0])), min_size=1))
def test_balanced_classes_count_the_same_and_the_mean_weight_is_one(
    rows: list[tuple[int, float]],
) -> None:
    split = weighed(of_classes([target for target, _ in rows]), [weight for _, weight in rows])
    (batch,) = BatchLoader(split, len(rows)).epoch(0)
    assert batch.weights is not None
    counts = balanced_weights(split, 3)[batch.targets] * batch.weights
    sums = [counts[batch.targets == target].sum().item() for target in set(batch.targets.tolist())]
    assert sums == pytest.approx([sums[0]] * len(sums), rel=1e-5)
    if len(sums) == 3:
        assert counts.mean().item() == pytest.approx(1, rel=1e-5)


@pytest.mark.covers("class-reweighting")
def test_a_balanced_loss_is_that_of_rare_classes_repeated() -> None:
    split = of_classes([0, 0, 1, 1, 1, 1, 1, 1])
    often = repeated(split, [3, 3, 1, 1, 1, 1, 1, 1])  # six of each class
    logits = torch.randn(8, 2, generator=torch.Generator().manual_seed(0))
    task = Classification(2, balanced_weights(split, 2))
    logits_often = logits.repeat_interleave(torch.tensor([3, 3, 1, 1, 1, 1, 1, 1]), dim=0)
    wanted = Classification(2).loss(logits_often, whole_batch(often))
    torch.testing.assert_close(task.loss(logits, whole_batch(split)), wanted)


@pytest.mark.covers("dataset-object")
def test_rows_without_a_label_are_left_out_and_classes_then_count_the_same(tmp_path: Path) -> None:
    cells = [
        f"{k % 7},{'' if k % 10 == 9 else 'rare' if k % 10 == 0 else 'common'}\n"
        for k in range(100)
    ]
    file = tmp_path / "t.csv"
    file.write_text("x,y\n" + "".join(cells), encoding="utf-8")
    data = load_table(TableConfig(path=str(file), target=("y",), drop_missing_target=True))
    assert sum(len(split) for _, split in data.splits()) == 90
    of_row = balanced_weights(data.train, 2)[data.train.targets]
    totals = [of_row[data.train.targets == label].sum().item() for label in (0, 1)]
    assert totals == pytest.approx([len(data.train) / 2] * 2)


def test_a_class_without_rows_has_a_weight_that_is_finite() -> None:
    weights: Tensor = balanced_weights(of_classes([0, 0, 2]), 3)
    assert bool(weights.isfinite().all())


def test_baseline_is_the_share_of_each_class() -> None:
    train = of_classes([0, 0, 1, 2])
    assert Classification(4).baseline(train).tolist() == [0.5, 0.25, 0.25, 0]
    heavy = weighed(train, [0, 0, 3, 1])
    assert Classification(3).baseline(heavy).tolist() == [0, 0.75, 0.25]


def test_the_baseline_is_told_in_words() -> None:
    rows = Split(inputs=torch.zeros(4, 1), targets=torch.tensor([1, 0, 1, 1]))
    told = Classification(2).describe_baseline(rows, ("no", "yes"))
    assert told == "always 'yes', 75.00% of the training rows"


def test_a_task_is_written_down_whole() -> None:
    task = Classification(2, torch.tensor([0.5, 2.0]), loss="hinge")
    assert task.to_json() == {
        "kind": "classification",
        "num_classes": 2,
        "class_weights": [0.5, 2.0],
        "loss": "hinge",
        "loss_options": {},
        "smoothing": 0.0,
    }
    assert Classification(2, smoothing=0.1).to_json() == {
        "kind": "classification",
        "num_classes": 2,
        "class_weights": None,
        "loss": "cross-entropy",
        "loss_options": {},
        "smoothing": 0.1,
    }
