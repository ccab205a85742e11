"""The time limit: training ends after the step in which it ran out, earlier parts included."""

import pytest

from netwright.train.callbacks.time_limit import TimeLimit
from tests.train.toy_runs import toy_data, toy_fit, toy_net, toy_start


@pytest.mark.parametrize(("elapsed", "reason"), [(9.0, ""), (11.0, "the time limit of 10 s")])
def test_the_time_of_earlier_parts_counts(elapsed: float, reason: str) -> None:
    state = toy_start()
    state.elapsed_before = elapsed
    TimeLimit(10.0).on_batch_end(state)
    assert state.stop_reason == reason


def test_the_step_at_hand_is_finished() -> None:
    state = toy_fit(toy_net(), toy_data(), callbacks=[TimeLimit(1e-9)])
    assert (state.step, state.stop_reason) == (1, "the time limit of 1e-09 s")


def test_enough_time_is_no_limit() -> None:
    state = toy_fit(toy_net(), toy_data(), callbacks=[TimeLimit(3600)])
    assert (state.step, state.stop_reason) == (15, "")
