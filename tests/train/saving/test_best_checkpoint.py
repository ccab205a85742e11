"""The best of the checkpoints that are there, by the history of the run."""

from netwright.train.saving.best_checkpoint import find_best
from netwright.train.saving.checkpoint_store import step_name


def best_of(
    steps: list[int],
    values: dict[int, float],
    *,
    before: str | None = None,
    best_step: int = 0,
    min_delta: float = 0.0,
) -> str | None:
    names = [step_name(step) for step in steps]
    return find_best(names, before, values, best_step=best_step, min_delta=min_delta)


def test_the_best_measured_of_those_that_are_there() -> None:
    # The best of all, after step 3, was not saved.
    assert best_of([2, 4, 6], {1: 9, 2: 5, 3: 1, 4: 3, 5: 2, 6: 4}, best_step=3) == step_name(4)


def test_the_best_measurement_is_the_best_where_it_is_there() -> None:
    # 0.95 was saved, 0.88 is better than 1.0 by enough, though not than 0.95.
    values = {1: 1.0, 2: 0.95, 3: 0.88}
    assert best_of([2, 3], values, before=step_name(2), best_step=3, min_delta=0.1) == step_name(3)


def test_the_first_of_equals_stays_and_a_better_one_has_to_be_better_by_enough() -> None:
    assert best_of([1, 2, 3], {1: 2, 2: 2, 3: 2}) == step_name(1)
    assert best_of([1, 2, 3], {1: 2, 2: 2, 3: 2}, before=step_name(2)) == step_name(2)
    assert best_of([1, 2], {1: 2, 2: 1.5}, before=step_name(1), min_delta=0.5) == step_name(1)
    assert best_of([1, 2], {1: 2, 2: 1.4}, before=step_name(1), min_delta=0.5) == step_name(2)


def test_what_was_not_measured_is_not_the_best() -> None:
    assert best_of([2, 3], {2: 7}) == step_name(2)
    assert best_of([2, 3], {1: 7}) is None
    assert best_of([], {1: 7}) is None


def test_what_is_no_part_of_the_history_is_no_longer_the_best() -> None:
    """The run went back from step 30 to step 20."""
    assert best_of([10, 30, 20], {10: 2, 20: 3}, before=step_name(30)) == step_name(10)


def test_of_two_of_one_step_it_is_the_newest() -> None:
    names = [step_name(5), step_name(5, 2), step_name(6)]
    assert find_best(names, step_name(5), {5: 1, 6: 2}, best_step=0) == step_name(5, 2)
    assert find_best(names, step_name(5), {}, best_step=5) == step_name(5, 2)
