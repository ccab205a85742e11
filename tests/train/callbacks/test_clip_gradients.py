"""Gradients are cut to their limit, keep their direction, and stay as they are within it."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from netwright.train.callback import Callback
from netwright.train.callbacks.clip_gradients import ClipGradients, clip_by_norm, clip_by_value
from netwright.train.state import TrainState
from tests.train.toy_runs import toy_data, toy_fit, toy_net, toy_start

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5)


def length(parts: list[Tensor]) -> float:
    return float(torch.cat([part.flatten() for part in parts]).norm())


@pytest.mark.covers("gradient-clipping")
@settings(max_examples=100, deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=3), st.floats(1e-3, 1e3))
def test_the_length_becomes_the_smaller_of_length_and_limit(
    numbers: list[list[float]], limit: float
) -> None:
    before = [torch.tensor(part, dtype=torch.float64) for part in numbers]
    clipped = [part.clone() for part in before]
    clip_by_norm(clipped, limit)
    assert length(clipped) == pytest.approx(min(length(before), limit), rel=1e-12)
    if length(before) < limit * (1 - 1e-12):
        assert all(torch.equal(one, other) for one, other in zip(clipped, before, strict=True))
    else:
        factor = limit / length(before)
        for one, other in zip(clipped, before, strict=True):
            torch.testing.assert_close(one, other * factor, rtol=1e-12, atol=0)


def test_a_gradient_just_within_a_small_limit_is_untouched() -> None:
    grads = [torch.tensor([0.9999e-3, 0.0])]  # torch's own would divide it by 1.0009
    clip_by_norm(grads, 1e-3)
    assert torch.equal(grads[0], torch.tensor([0.9999e-3, 0.0]))


def test_by_value_each_number_is_cut_alone() -> None:
    grads = [torch.tensor([3.0, -0.5]), torch.tensor([[-9.0]])]
    clip_by_value(grads, 1.0)
    assert [part.tolist() for part in grads] == [[1.0, -0.5], [[-1.0]]]


def test_both_limits_hold_together_the_norm_first() -> None:
    model = torch.nn.Linear(2, 1, bias=False)
    model.weight.grad = torch.tensor([[30.0, 40.0]])
    ClipGradients(norm=5.0, value=3.5).on_before_update(toy_start(model))
    assert model.weight.grad[0].tolist() == pytest.approx([3.0, 3.5])


class Moved(Callback):
    """How far each update moved the weights."""

    def __init__(self) -> None:
        self.last: Tensor | None = None
        self.far: list[float] = []

    def on_batch_start(self, state: TrainState) -> None:
        self.last = _flat(state)

    def on_step_end(self, state: TrainState) -> None:
        assert self.last is not None
        self.far.append((_flat(state) - self.last).norm().item())


def _flat(state: TrainState) -> Tensor:
    return torch.cat([weight.detach().flatten() for weight in state.learned_weights()])


def test_no_update_of_sgd_is_longer_than_rate_times_limit() -> None:
    moved, free = Moved(), Moved()
    toy_fit(toy_net(), toy_data(), optimizer="sgd", lr=1.0, clip_norm=0.1, callbacks=[moved])
    toy_fit(toy_net(), toy_data(), optimizer="sgd", lr=1.0, callbacks=[free])
    assert max(moved.far) == pytest.approx(0.1, rel=1e-4)
    assert max(free.far) > 0.5


def test_accumulated_gradients_are_cut_when_they_are_whole() -> None:
    parts, whole = toy_net(), toy_net()
    shared = {"optimizer": "sgd", "lr": 1.0, "clip_norm": 0.1}
    toy_fit(parts, toy_data(), batch_size=2, accumulate=2, **shared)
    toy_fit(whole, toy_data(), batch_size=4, **shared)
    for one, other in zip(parts.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


def test_weights_without_a_gradient_are_no_hindrance() -> None:
    grads = ClipGradients(norm=1.0, value=1.0)
    net = toy_net()
    net.append(torch.nn.Identity())
    net.unused = torch.nn.Parameter(torch.ones(2))
    toy_fit(net, toy_data(), callbacks=[grads])
    assert net.unused.tolist() == [1.0, 1.0]
