"""The limit of updates: training ends with the last of them, earlier parts included."""

from netwright.train.callbacks.step_limit import StepLimit
from tests.repetition import for_each
from tests.train.toy_runs import toy_data, toy_fit, toy_net, toy_start


@for_each(("steps", "made"), [(1, 1), (7, 7), (15, 15), (99, 15)])
def test_no_more_updates_than_that(steps: int, made: int) -> None:
    state = toy_fit(toy_net(), toy_data(), callbacks=[StepLimit(steps)])
    assert (state.step, state.is_cut_short) == (made, steps <= 15)
    assert state.stop_reason == (f"the step limit of {steps}" if steps <= 15 else "")


def test_updates_of_earlier_parts_count() -> None:
    state = toy_start()
    state.step = 8
    StepLimit(8).on_fit_start(state)
    assert state.stop_reason == "the step limit of 8"
