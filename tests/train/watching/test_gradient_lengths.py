"""Lengths that are asked for twice are computed once, and never those of other gradients."""

import pytest
import torch
from torch import Tensor

import netwright.train.watching.gradient_lengths as room
from netwright.train.callback import Callback
from netwright.train.state import TrainState
from netwright.train.watching.gradient_lengths import GradientLengths
from netwright.train.watching.lengths import lengths_of
from tests.train.toy_runs import toy_data, toy_net, toy_trainer


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tensors lengths were computed of, each time."""
    seen: list[int] = []

    def counted(tensors: list[Tensor]) -> Tensor:
        seen.append(len(tensors))
        return lengths_of(tensors)

    monkeypatch.setattr(room, "lengths_of", counted)
    return seen


def test_the_same_gradients_are_read_once(computed: list[int]) -> None:
    lengths, gradients = GradientLengths(), [torch.full((4,), 2.0), torch.ones(9)]
    assert lengths.of(gradients).tolist() == [4.0, 3.0]
    assert lengths.of(list(gradients)).tolist() == [4.0, 3.0]
    assert computed == [2]


def test_gradients_that_were_changed_replaced_or_forgotten_are_read_anew(
    computed: list[int],
) -> None:
    lengths, first, second = GradientLengths(), torch.ones(4), torch.ones(9)
    lengths.of([first, second])
    first.mul_(3)
    assert lengths.of([first, second]).tolist() == [6.0, 3.0]
    assert lengths.of([first, torch.zeros(9).add_(5)]).tolist() == [6.0, 15.0]
    assert lengths.of([first]).tolist() == [6.0]
    lengths.forget()
    assert lengths.of([first]).tolist() == [6.0]
    assert computed == [2, 2, 2, 1, 1]


def test_no_gradient_is_held_once_they_are_forgotten() -> None:
    data, model = toy_data(), toy_net()
    trainer = toy_trainer(data)
    state = trainer.start(model, data)
    trainer.fit(state, data)
    assert state.lengths._gradients == []


class Tripled(Callback):
    """Somebody's own change of gradients, after the guard has seen them."""

    def __init__(self) -> None:
        self.seen: list[bool] = []

    def on_before_update(self, state: TrainState) -> None:
        before = state.lengths.of(state.whole_gradients()).clone()
        for gradient in state.whole_gradients():
            gradient.mul_(3)
        after = state.lengths.of(state.whole_gradients())
        self.seen.append(torch.allclose(after, 3 * before))


def test_who_comes_later_sees_what_others_made_of_the_gradients() -> None:
    data, tripled = toy_data(), Tripled()
    trainer = toy_trainer(data, callbacks=[tripled])
    trainer.fit(trainer.start(toy_net(), data), data)
    assert tripled.seen
    assert all(tripled.seen)
