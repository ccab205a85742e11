"""What all tasks share: weights multiply, half precision is widened, metrics are the table's."""

import pytest
import torch

from netwright.core.outputs import Output
from netwright.data.loading.loader import Batch
from netwright.metrics.catalog import measure_all
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.multi_label import MultiLabel
from netwright.train.tasks.regression import Regression
from netwright.train.tasks.task import Task, exact, weighted
from tests.repetition import for_each
from tests.train.toy_runs import toy_data, toy_net, whole_batch

TASKS = [Classification(3), MultiLabel(), Regression.plain(3)]


def test_weights_multiply_and_no_weights_are_ones() -> None:
    values = torch.tensor([1.0, 2.0, 3.0])
    assert weighted(values, None) is values
    assert weighted(values, torch.tensor([2.0, 0.0, 1.0])).tolist() == [2, 0, 3]


@for_each(
    ("given", "wanted"),
    [
        (torch.float16, torch.float32),
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
)
def test_half_formats_are_widened_and_others_stay(given: torch.dtype, wanted: torch.dtype) -> None:
    assert exact(torch.ones(2, dtype=given)).dtype == wanted


def batch_for(task: Task) -> Batch:
    kind = task.target
    assert kind in ("class", "labels", "real")  # the others have tests of their own
    return whole_batch(toy_data(kind).train)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
def test_losses_are_scalars_in_the_precision_of_a_wide_model(task: Task) -> None:
    batch = batch_for(task)
    for model, inputs in ((toy_net(), batch.inputs), (toy_net().double(), batch.inputs.double())):
        loss = task.loss(model(inputs), batch)
        assert loss.shape == ()
        assert loss.dtype == inputs.dtype
        assert (
            task.headline_sum(model(inputs), batch.targets, batch.weights).shape
            == task.headline_shape
        )


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
def test_the_headline_is_a_metric_of_the_table_by_the_same_name(task: Task) -> None:
    batch = batch_for(task)
    output = toy_net()(batch.inputs).detach()
    measured = task.measure(task.predictions(output), batch.targets)
    assert measured == measure_all(task.target, task.predictions(output), batch.targets)
    mean = task.headline_sum(output, batch.targets, batch.weights) / len(batch.inputs)
    assert task.headline_value(mean) == pytest.approx(measured[task.headline], rel=1e-6)


def test_the_abstract_kind_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="abstract"):
        Task()  # type: ignore[abstract]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
def test_an_auxiliary_head_adds_its_share_of_its_own_loss(task: Task) -> None:
    batch = batch_for(task)
    main, early, middle = (toy_net(seed=seed)(batch.inputs) for seed in range(3))
    whole = task.loss(Output(logits=main, aux=(early, middle)), batch)
    parts = [task.loss(logits, batch) for logits in (main, early, middle)]
    torch.testing.assert_close(whole, parts[0] + 0.3 * (parts[1] + parts[2]))
    torch.testing.assert_close(task.loss(Output(logits=main), batch), parts[0])


def test_a_task_is_told_by_its_loss() -> None:
    assert repr(Classification(3)) == "Classification(loss='cross-entropy')"


def test_a_constant_is_brought_to_a_device_once() -> None:
    task, meta = Regression.plain(3), torch.device("meta")
    assert task.on(torch.device("cpu"), task.center) is task.center
    there = task.on(meta, task.center)
    assert there.device == meta
    assert task.on(meta, task.center) is there
    assert task.on(meta, task.scale) is not there
    task.center = torch.ones(3)
    assert task.on(meta, task.center) is not there
