"""Evaluation: the same however it is cut, nothing left behind, and baselines worked by hand."""

import math
import multiprocessing
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import DataError
from netwright.data.dataset import Split
from netwright.data.loading.stored import StoredInputs, StoredSplit
from netwright.train.evaluate import (
    _batch_size,
    evaluate,
    evaluate_baseline,
    measure_quickly,
    predict,
)
from netwright.train.ranks import Ranks
from netwright.train.tasks.catalog import task_for
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.multi_label import MultiLabel
from netwright.train.tasks.regression import Regression
from netwright.train.tasks.segmentation import Segmentation
from netwright.train.tasks.task import Task
from tests.repetition import for_each
from tests.train.toy_runs import assert_same, copy_of, repeated, toy_data, toy_net, weighed

WEIGHTS = [1.0, 0, 3, 2, 0.5, 1, 7, 1, 1, 2, 0.1]
TASKS: dict[str, Task] = {
    "class": Classification(3),
    "weighted class": Classification(3, torch.tensor([0.2, 1.0, 5.0])),
    "labels": MultiLabel(),
    "real": Regression(torch.tensor([1.0, 2, 3]), torch.tensor([0.5, 1, 2])),
}


def rows(kind: str, weights: bool) -> Split:
    target: Any = kind.rsplit(" ", maxsplit=1)[-1]
    split = toy_data(target, rows=11).train
    return weighed(split, WEIGHTS) if weights else split


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("kind", TASKS)
def test_the_size_of_the_batches_does_not_matter(
    kind: str, weights: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, split, task = toy_net(batch_norm=True, dropout=0.5), rows(kind, weights), TASKS[kind]
    at_once = (measure_quickly(model, split, task), evaluate(model, split, task))
    for size in (1, 4, 10):
        monkeypatch.setattr("netwright.train.evaluate.EVALUATION_BATCH", size)
        in_parts = (measure_quickly(model, split, task), evaluate(model, split, task))
        for ours, wanted in zip(in_parts, at_once, strict=True):
            assert ours == pytest.approx(wanted, rel=1e-6)


@for_each("weights", [False, True])
@for_each("kind", TASKS)
def test_the_quick_measure_is_that_of_the_full_evaluation(kind: str, weights: bool) -> None:
    model, split, task = toy_net(), rows(kind, weights), TASKS[kind]
    quick, full = measure_quickly(model, split, task), evaluate(model, split, task)
    assert list(quick) == ["loss", task.headline]
    assert next(iter(full)) == "loss"
    for name, value in quick.items():
        assert value == pytest.approx(full[name], rel=1e-6)


@for_each("kind", TASKS)
def test_a_weight_is_how_often_a_row_counts(kind: str) -> None:
    model, split, task = toy_net(), rows(kind, weights=False), TASKS[kind]
    times = [1, 0, 3, 2, 1, 1, 2, 1, 1, 2, 4]
    heavy = evaluate(model, weighed(split, [float(count) for count in times]), task)
    often = evaluate(model, repeated(split, times), task)
    if kind == "weighted class":  # class weights multiply, and are not divided out again
        heavy, often = ({"loss": values["loss"]} for values in (heavy, often))
    assert heavy == pytest.approx(often, rel=1e-5)


@pytest.mark.covers("training-error")
def test_the_training_error_is_the_mean_of_the_losses_of_the_rows() -> None:
    model, split = toy_net(), rows("class", weights=False)
    with torch.no_grad():
        shares = model(split.inputs).softmax(dim=1)
    losses = [-math.log(shares[row, split.targets[row]]) for row in range(len(split))]
    error = measure_quickly(model, split, Classification(3))["loss"]
    assert error == pytest.approx(sum(losses) / len(losses), rel=1e-6)


@pytest.mark.covers("validation-error")
def test_the_validation_error_of_a_fixed_model_is_right_on_average() -> None:
    # y = 2 x + e with x ~ N(0, 1), e ~ N(0, 0.5^2); the model says x: the risk is 1 + 0.25.
    model = nn.Linear(1, 1)
    nn.init.ones_(model.weight)
    nn.init.zeros_(model.bias)
    random = torch.Generator().manual_seed(0)
    errors = torch.empty(400, dtype=torch.float64)
    for trial in range(len(errors)):
        x, noise = torch.randn(2, 20, 1, generator=random)
        held_out = Split(inputs=x, targets=2 * x + 0.5 * noise)
        errors[trial] = measure_quickly(model, held_out, Regression.plain(1))["loss"]
    standard_error = float(errors.std()) / math.sqrt(len(errors))
    assert standard_error < 0.03
    assert abs(float(errors.mean()) - 1.25) < 3 * standard_error


def test_predictions_come_in_the_order_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    model, split = toy_net(dropout=0.5), rows("class", weights=False)
    whole = predict(model, split.inputs, Classification(3))
    monkeypatch.setattr("netwright.train.evaluate.EVALUATION_BATCH", 4)
    torch.testing.assert_close(predict(model, split.inputs, Classification(3)), whole)
    assert whole.shape == (11, 3)
    assert not whole.requires_grad
    assert torch.equal(whole, model.eval()(split.inputs).softmax(dim=1))


def modes(model: nn.Module) -> list[bool]:
    return [part.training for part in model.modules()]


@pytest.mark.parametrize("training", [False, True])
def test_evaluation_leaves_every_part_of_the_model_as_it_was(training: bool) -> None:
    model = toy_net(batch_norm=True, dropout=0.5).train(training)
    model[1].train(not training)  # a part that its owner has frozen, or has not
    before, weights, state = modes(model), copy_of(model), torch.get_rng_state()
    evaluate(model, rows("class", weights=False), Classification(3))
    assert modes(model) == before
    assert_same(copy_of(model), weights)  # the running means of the batch norm too
    assert torch.equal(torch.get_rng_state(), state)
    assert all(parameter.grad is None for parameter in model.parameters())


def classes(targets: list[int], weights: list[float] | None = None) -> Split:
    split = Split(inputs=torch.zeros(len(targets), 1), targets=torch.tensor(targets))
    return split if weights is None else weighed(split, weights)


def baseline_of(test: Split, train: Split, task: Task) -> dict[str, float]:
    return evaluate_baseline(test, task.baseline(train), task)


def test_baseline_of_classes_by_hand() -> None:
    # Shares 0.5, 0.3, 0.2: class 0 is guessed, and is right for one of four.
    train, test = classes([0] * 5 + [1] * 3 + [2] * 2), classes([0, 1, 1, 2])
    found = baseline_of(test, train, Classification(3))
    assert found["accuracy"] == 0.25
    logs = [math.log(share) for share in (0.5, 0.3, 0.3, 0.2)]
    assert found["log_loss"] == pytest.approx(-sum(logs) / 4, rel=1e-6)


def test_weights_count_in_the_baseline_too() -> None:
    train = classes([0, 0, 1], [1, 1, 6])  # class 1 has three quarters of the weight
    found = baseline_of(classes([1, 0], [3, 1]), train, Classification(2))
    assert found["accuracy"] == 0.75


def reals(targets: list[float], weights: list[float] | None = None) -> Split:
    values = torch.tensor(targets)[:, None]
    split = Split(inputs=torch.zeros(len(targets), 1), targets=values)
    return split if weights is None else weighed(split, weights)


@pytest.mark.parametrize(
    ("train", "mean"), [(reals([1, 2, 6]), 3.0), (reals([1, 2, 6], [0, 4, 4]), 4.0)]
)
def test_baseline_of_reals_is_the_mean_by_hand(train: Split, mean: float) -> None:
    found = baseline_of(reals([0, 8]), train, Regression.fitted(train))
    assert found["rmse"] == pytest.approx(math.sqrt((mean**2 + (8 - mean) ** 2) / 2), rel=1e-6)
    assert found["mae"] == pytest.approx((mean + 8 - mean) / 2, rel=1e-6)


def test_baseline_of_labels_is_the_share_of_each() -> None:
    train = Split(
        inputs=torch.zeros(4, 1), targets=torch.tensor([[1.0, 0], [1, 0], [1, 1], [0, 0]])
    )
    test = Split(inputs=torch.zeros(2, 1), targets=torch.tensor([[1.0, 0], [0, 1]]))
    found = baseline_of(test, train, MultiLabel())  # 0.75 and 0.25: yes and no
    assert found["accuracy"] == 0.5
    assert found["log_loss"] == pytest.approx(-(math.log(0.75) + math.log(0.25)) / 2, rel=1e-6)
    heavy = replace(train, weights=torch.tensor([0.0, 0, 1, 1]))
    assert MultiLabel().baseline(heavy).tolist() == [0.5, 0.5]


def test_evaluating_a_model_that_returns_half_precision_is_exact() -> None:
    data = toy_data(rows=11)

    class Half(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.bfloat16()

    found = measure_quickly(Half(), data.train, task_for(data))
    logits = data.train.inputs.bfloat16().double()
    wanted = nn.functional.cross_entropy(logits, data.train.targets)
    assert found["loss"] == pytest.approx(wanted.item(), rel=1e-5)


def test_what_is_added_up_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[tuple[int, ...]] = []
    read = Tensor.cpu

    def watched(self: Tensor, *args: Any, **options: Any) -> Tensor:
        reads.append(tuple(self.shape))
        return read(self, *args, **options)

    monkeypatch.setattr(Tensor, "cpu", watched)
    monkeypatch.setattr("netwright.train.evaluate.EVALUATION_BATCH", 2)
    measure_quickly(toy_net(), rows("real", weights=False), TASKS["real"])
    assert reads == [(), (3,), ()]  # loss, headline and count, after six batches


class Rows(StoredInputs):
    """The rows of a tensor, never more than a batch of them at a time."""

    def __init__(self, values: Tensor) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape[1:])

    def read(self, rows: Tensor) -> Tensor:
        assert len(rows) <= 4
        return self.values[rows]

    def fingerprint(self) -> str:
        return ""


@pytest.mark.parametrize("workers", [0, 1])
def test_stored_inputs_are_measured_a_batch_at_a_time_with_the_same_result(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.train.evaluate.EVALUATION_BATCH", 4)
    model, split, task = toy_net(dropout=0.5), rows("class", weights=True), TASKS["class"]
    stored = StoredSplit(stored=Rows(split.inputs), targets=split.targets, weights=split.weights)
    assert measure_quickly(model, stored, task, workers=workers) == measure_quickly(
        model, split, task
    )
    assert evaluate(model, stored, task, workers=workers) == evaluate(model, split, task)
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("measure", [evaluate, measure_quickly])
def test_nothing_cannot_be_measured(measure: Any) -> None:
    nothing = rows("class", weights=False).take(torch.arange(0))
    with pytest.raises(DataError, match=r"^there are no examples to measure$"):
        measure(toy_net(), nothing, TASKS["class"])


def test_masks_are_measured_a_few_at_a_time_on_an_accelerator_too() -> None:
    """A U-Net of the paper's width holds 64 maps as large as each image."""

    class OnCuda(Tensor):
        is_cuda = True

        def numel(self) -> int:
            return 512 * 512

    photograph = OnCuda()
    assert _batch_size(photograph, Classification(2)) == 64
    assert _batch_size(photograph, Segmentation(("membrane", "cell"))) == 8


class Apart(Ranks):
    """One of several ranks, whose sums stay its own."""

    def sum(self, tensor: Tensor, work: str = "") -> Tensor:
        return tensor


@pytest.mark.parametrize(("world", "seen"), [(2, 11), (20, 20 * 11)])
def test_each_rank_measures_its_part_or_all_where_there_are_too_few_rows(
    world: int, seen: int
) -> None:
    counts: list[int] = []
    model = toy_net()
    model.register_forward_pre_hook(lambda part, inputs: counts.append(len(inputs[0])))
    for rank in range(world):
        measure_quickly(
            model, rows("class", weights=False), TASKS["class"], ranks=Apart(rank, world)
        )
    assert sum(counts) == seen
