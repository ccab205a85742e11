"""Schedules: ends and middles by hand, warm-up, agreement with torch, and the run's end."""

import re
import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, LRScheduler

from netwright.core.errors import UnknownNameError
from netwright.optimizers.schedules import SCHEDULES, build_schedule, constant, cosine, linear


def sgd(lr: float) -> torch.optim.Optimizer:
    return torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=lr)


def rates(schedule: LRScheduler, steps: int) -> list[float]:
    """The rate of each of `steps` updates, and the one that would come next."""
    found = []
    for _ in range(steps + 1):
        found.append(float(schedule.optimizer.param_groups[0]["lr"]))
        schedule.optimizer.step()
        schedule.step()
    return found


def planned(name: str, steps: int, warmup: int = 0, lr: float = 0.8) -> list[float]:
    return rates(build_schedule(name, sgd(lr), steps=steps, warmup=warmup), steps)


@pytest.mark.covers("lr-cosine")
def test_cosine_ends_and_middle() -> None:
    assert cosine(0.0) == 1.0
    assert cosine(0.5) == pytest.approx(0.5)
    assert cosine(1.0) == pytest.approx(0.0, abs=1e-15)
    # cos(pi / 3) = 1/2
    assert cosine(1 / 3) == pytest.approx(0.75)
    found = planned("cosine", 8)
    assert (found[0], found[4], found[8]) == pytest.approx((0.8, 0.4, 0.0), abs=1e-12)


def test_linear_and_constant() -> None:
    assert planned("linear", 4) == pytest.approx([0.8, 0.6, 0.4, 0.2, 0.0])
    assert planned("constant", 4) == [0.8] * 5
    assert [linear(0.25), constant(0.25)] == [0.75, 1.0]


@settings(derandomize=True, deadline=None)
@given(st.floats(0, 1))
def test_shapes_fall_from_one_to_zero(progress: float) -> None:
    for name in SCHEDULES:
        shape = SCHEDULES.load(name)
        assert shape(0.0) == 1.0
        assert 0 <= shape(progress) <= 1
    assert cosine(progress) + cosine(1 - progress) == pytest.approx(1.0)


@pytest.mark.parametrize("steps", [1, 7, 50])
def test_agrees_with_torch(steps: int) -> None:
    curve = CosineAnnealingLR(sgd(0.3), T_max=steps)
    assert planned("cosine", steps, lr=0.3) == pytest.approx(rates(curve, steps), abs=1e-12)
    line = LinearLR(sgd(0.3), start_factor=1.0, end_factor=0.0, total_iters=steps)
    assert planned("linear", steps, lr=0.3) == pytest.approx(rates(line, steps), abs=1e-12)


def test_warm_up_rises_in_equal_steps_to_the_full_rate() -> None:
    # Four steps of warm-up: 1/4, 2/4, 3/4, 4/4 of 0.8; then the line falls from its top.
    found = planned("linear", 8, warmup=4)
    assert found == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8, 0.6, 0.4, 0.2, 0.0])
    assert planned("constant", 5, warmup=2) == pytest.approx([0.4, 0.8, 0.8, 0.8, 0.8, 0.8])


@pytest.mark.parametrize("warmup", [3, 9])
def test_warm_up_as_long_as_the_run_only_rises(warmup: int) -> None:
    found = planned("cosine", 3, warmup=warmup)[:3]
    assert found == pytest.approx([0.8 * (step + 1) / warmup for step in range(3)])


@pytest.mark.parametrize("name", SCHEDULES)
def test_rate_stays_where_it_ended(name: str) -> None:
    schedule = build_schedule(name, sgd(0.8), steps=4)
    found = rates(schedule, 10)
    assert found[4:] == [found[4]] * 7


def test_every_group_is_scaled_by_the_same_factor() -> None:
    groups = [
        {"params": [nn.Parameter(torch.zeros(1))], "lr": 1.0},
        {"params": [nn.Parameter(torch.zeros(1))], "lr": 0.1},
    ]
    optimizer = torch.optim.SGD(groups)
    schedule = build_schedule("linear", optimizer, steps=2)
    rates(schedule, 0)
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.05]


def test_state_goes_on_where_it_was() -> None:
    straight = planned("cosine", 6, warmup=2)
    first = build_schedule("cosine", sgd(0.8), steps=6, warmup=2)
    rates(first, 2)
    optimizer = sgd(0.8)
    second = build_schedule("cosine", optimizer, steps=6, warmup=2)
    optimizer.load_state_dict(first.optimizer.state_dict())
    second.load_state_dict(first.state_dict())
    with warnings.catch_warnings():  # torch counts steps of the new optimizer object only
        warnings.simplefilter("ignore")
        assert rates(second, 3) == pytest.approx(straight[3:])


@pytest.mark.parametrize("name", SCHEDULES)
def test_its_card_explains_it_in_symbols_of_its_formula(name: str) -> None:
    card = SCHEDULES.load(name).card
    assert card.sentence[0].isupper()
    assert card.sentence.endswith(".")
    assert re.search(r"\((1[89]|20)\d\d\)", card.source)
    assert "$" not in card.formula
    assert card.symbols
    assert all(symbol in card.formula for symbol in card.symbols)


def test_unknown_name_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"^unknown schedule 'cosin'; did you mean 'cosine"):
        build_schedule("cosin", sgd(0.1), steps=1)
