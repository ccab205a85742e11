"""One number for all that is not finite; the guard's own tests run with it, too."""

import pytest
import torch
from torch import nn

from netwright.train.updates import finite_check
from netwright.train.updates.finite_check import (
    LAG,
    FiniteCheck,
    HeldBuffers,
    is_checked_on_device,
)
from tests.repetition import for_each
from tests.train.toy_runs import toy_start

NAN, INF = float("nan"), float("inf")


@for_each("value", [NAN, INF, -INF])
@for_each("place", ["loss", "gradient"])
def test_the_number_is_1_from_the_first_bad_value_on(value: float, place: str) -> None:
    check = FiniteCheck(toy_start(), [])
    loss, grads = torch.tensor(2.0), [torch.ones(3), torch.full((2, 2), 1e30)]
    check.look(loss, grads)
    assert check.bad == 0
    assert torch.equal(grads[1], torch.full((2, 2), 1e30))  # their squares are infinite
    if place == "loss":
        check.look(torch.tensor(value), grads)
    else:
        check.look(loss, [torch.tensor([1.0, value]), torch.ones(1)])
    assert check.bad == 1
    check.look(loss, grads)
    assert check.bad == 1


def test_buffers_hold_what_they_held_after_the_last_good_batch() -> None:
    first = [torch.tensor([1.0, 2.0]), torch.tensor(3), torch.tensor([[4.0]])]
    buffers = [buffer.clone() for buffer in first]
    held, good, bad = HeldBuffers(buffers), torch.tensor(0.0), torch.tensor(1.0)
    buffers[0].fill_(7.0)
    held.settle(good)
    assert buffers[0].tolist() == [7.0, 7.0]
    for buffer in buffers:
        buffer.fill_(9)
    buffers[0][0] = NAN
    held.settle(bad)
    assert [buffer.tolist() for buffer in buffers] == [[7.0, 7.0], 3, [[4.0]]]
    buffers[1].fill_(5)
    held.put_back()
    assert buffers[1] == 3


def test_the_first_bad_batch_is_told_when_it_is_old_enough() -> None:
    state = toy_start()
    check = FiniteCheck(state, [])
    for number in range(LAG + 1):
        check.look(torch.tensor(NAN if number == 1 else 1.0), [])
        state.position = number
        check.note(state)
    first = check.first_bad()
    assert first is None  # batch 0, which is good, is the only one that is old enough
    check.note(state)
    second = check.first_bad()
    assert second is not None
    assert second.position == 1


def test_all_batches_are_read_where_that_is_asked_for() -> None:
    state = toy_start()
    check = FiniteCheck(state, [])
    check.note(state)
    assert check.first_bad(newest=True) is None
    check.look(torch.tensor(NAN), [])
    state.position = 1
    check.note(state)
    assert check.first_bad() is None
    bad = check.first_bad(newest=True)
    assert bad is not None
    assert bad.position == 1


def test_it_is_for_devices_that_compute_while_the_host_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = toy_start(optimizer="adam")
    state.redo = lambda batch: None
    assert not is_checked_on_device(state)
    monkeypatch.setattr(finite_check, "WAITED_FOR", ("cpu",))
    assert is_checked_on_device(state)
    state.optimizer = torch.optim.Adam(nn.Linear(2, 2).parameters(), fused=False)
    assert not is_checked_on_device(state)
    state.optimizer = torch.optim.RMSprop(nn.Linear(2, 2).parameters())
    assert not is_checked_on_device(state)
    halves = nn.Linear(2, 2, dtype=torch.bfloat16)
    state.optimizer = torch.optim.SGD(halves.parameters(), fused=True)
    assert not is_checked_on_device(state)
