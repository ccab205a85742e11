"""Running measures: as if each batch were measured, whatever is held back; exactly resumed."""

import pytest
import torch
from torch import Tensor

from netwright.data.loading.loader import Batch
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.regression import Regression
from netwright.train.watching.running_metrics import MOST_HELD, RunningMetrics
from tests.repetition import for_each

CPU = torch.device("cpu")


def batches(
    count: int, rows: int, classes: int, *, weights: bool = False
) -> list[tuple[Tensor, Batch, Tensor]]:
    """Logits, batch and loss of some batches."""
    numbers = torch.Generator().manual_seed(0)
    made = []
    for _ in range(count):
        logits = torch.randn(rows, classes, generator=numbers)
        targets = torch.randint(classes, (rows,), generator=numbers)
        amounts = torch.rand(rows, generator=numbers) if weights else None
        batch = Batch(torch.zeros(rows, 1), targets, amounts, torch.arange(rows))
        made.append((logits, batch, Classification(classes).loss(logits, batch)))
    return made


@for_each("weights", [False, True])
@for_each(("count", "rows", "classes"), [(1, 4, 5), (3, 4, 5), (40, 8, 300), (2, 70, 1000)])
def test_means_are_those_of_all_examples(
    count: int, rows: int, classes: int, weights: bool
) -> None:
    running = RunningMetrics(Classification(classes), CPU)
    right = total = 0.0
    for logits, batch, loss in batches(count, rows, classes, weights=weights):
        running.add(logits, batch, loss)
        hits = (logits.argmax(dim=1) == batch.targets).float()
        right += float(hits.sum() if batch.weights is None else (hits * batch.weights).sum())
        total += float(loss) * rows
        assert running.held_numbers < MOST_HELD
    values = running.values()
    assert values["accuracy"] == pytest.approx(right / (count * rows))
    assert values["loss"] == pytest.approx(total / (count * rows), rel=1e-5)
    assert running.rows == count * rows


def test_small_outputs_are_held_back_and_large_ones_are_not() -> None:
    small, large = (
        RunningMetrics(Classification(5), CPU),
        RunningMetrics(Classification(1000), CPU),
    )
    small.add(*batches(1, 4, 5)[0])
    large.add(*batches(1, 70, 1000)[0])
    assert len(small.held) == 1
    assert not large.held
    assert float(large.loss) > 0


def test_a_new_pass_begins_at_nothing() -> None:
    running = RunningMetrics(Classification(5), CPU)
    first, second = batches(2, 4, 5)
    running.add(*first)
    running.values()
    running.begin()
    running.add(*second)
    fresh = RunningMetrics(Classification(5), CPU)
    fresh.add(*second)
    assert running.values() == fresh.values()


def test_going_on_from_a_saved_state_gives_the_same_bits() -> None:
    """Regression sums round: adding in another order would change the last bit."""
    task = Regression(torch.zeros(1), torch.ones(1))
    numbers = torch.Generator().manual_seed(1)
    made = [
        (
            torch.randn(50, 1, generator=numbers),
            Batch(
                torch.zeros(50, 1), torch.randn(50, 1, generator=numbers), None, torch.arange(50)
            ),
            torch.rand((), generator=numbers),
        )
        for _ in range(30)
    ]
    straight = RunningMetrics(task, CPU)
    for parts in made:
        straight.add(*parts)
    for stop in (0, 1, 13, 29):
        before, after = RunningMetrics(task, CPU), RunningMetrics(task, CPU)
        for parts in made[:stop]:
            before.add(*parts)
        after.load_state_dict(before.state_dict())
        for parts in made[stop:]:
            after.add(*parts)
        assert after.values() == straight.values()


def test_outputs_that_carry_gradients_are_let_go() -> None:
    running = RunningMetrics(Classification(5), CPU)
    logits, batch, loss = batches(1, 4, 5)[0]
    running.add(logits.requires_grad_() * 1, batch, loss)
    assert not running.held[0][0].requires_grad


@pytest.mark.parametrize("classes", [5, 1000])
def test_what_several_ranks_counted_is_taken_back_as_one(classes: int) -> None:
    made = batches(6, 70, classes, weights=True)
    alone, *parts = (RunningMetrics(Classification(classes), CPU) for _ in range(4))
    for place, (logits, batch, loss) in enumerate(made):
        alone.add(logits, batch, loss)
        parts[place % 3].add(logits, batch, loss)
    together = RunningMetrics(Classification(classes), CPU)
    together.load_states([part.state_dict() for part in parts])
    assert together.rows == alone.rows == 420
    assert together.held_numbers == sum(part.held_numbers for part in parts)
    assert together.values() == pytest.approx(alone.values(), rel=1e-5)
