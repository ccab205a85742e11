"""Schedules: ends and middles by hand, warm-up, agreement with torch, and the run's end."""

import re
import warnings
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.optim.lr_scheduler import (
    CosineAnnealingLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    LRScheduler,
    OneCycleLR,
    StepLR,
)

from netwright.core.config import describe
from netwright.core.errors import ConfigError, UnknownNameError
from netwright.core.seeding import generator
from netwright.optimizers.schedule import Moment
from netwright.optimizers.schedules import SCHEDULES, build_schedule, eased
from tests.repetition import for_each

FALLING = ("constant", "cosine", "linear", "step", "exponential", "inverse-sqrt", "plateau")
ENDING = [name for name in SCHEDULES if SCHEDULES.load(name).depends_on_length]


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


def planned(
    name: str,
    steps: int,
    warmup: int = 0,
    lr: float = 0.8,
    steps_per_epoch: int = 1,
    **options: Any,
) -> list[float]:
    schedule = build_schedule(
        name,
        sgd(lr),
        steps=steps,
        steps_per_epoch=steps_per_epoch,
        warmup=warmup,
        options=options,
    )
    return rates(schedule, steps)


@pytest.mark.covers("lr-cosine")
def test_cosine_ends_and_middle() -> None:
    found = planned("cosine", 8)
    assert (found[0], found[4], found[8]) == pytest.approx((0.8, 0.4, 0.0), abs=1e-12)
    # With a floor of a quarter, 0.2: the middle is the mean of the ends, cos(pi / 3) = 1/2.
    found = planned("cosine", 12, floor=0.25)
    assert (found[0], found[6], found[12]) == pytest.approx((0.8, 0.5, 0.2), abs=1e-12)
    assert found[4] == pytest.approx(0.2 + 0.6 * 0.75)


def test_linear_and_constant() -> None:
    assert planned("linear", 4) == pytest.approx([0.8, 0.6, 0.4, 0.2, 0.0])
    assert planned("linear", 4, floor=0.5) == pytest.approx([0.8, 0.7, 0.6, 0.5, 0.4])
    assert planned("constant", 4) == [0.8] * 5


@pytest.mark.covers("lr-step-decay")
def test_steps_fall_after_every_so_many_epochs() -> None:
    found = planned("step", 20, steps_per_epoch=2, every=5, factor=0.1)
    assert (found[0], found[10], found[20]) == pytest.approx((0.8, 0.08, 0.008))
    assert found[:10] == [0.8] * 10
    # Epochs are those of the run: a warm-up does not move the drops.
    warm = planned("step", 20, warmup=3, steps_per_epoch=2, every=5, factor=0.1)
    assert warm[3:] == found[3:]


@pytest.mark.covers("lr-exponential-decay")
def test_exponential_rates_have_one_ratio() -> None:
    found = planned("exponential", 12, steps_per_epoch=3, factor=0.5)
    ratios = [after / before for before, after in pairwise(found)]
    assert ratios == pytest.approx([0.5 ** (1 / 3)] * 12)
    assert found[::3] == pytest.approx([0.8, 0.4, 0.2, 0.1, 0.05])
    assert planned("exponential", 4, warmup=2, factor=0.5)[1:4] == pytest.approx([0.8, 0.8, 0.4])


def test_one_cycle_rises_falls_and_ends_next_to_nothing() -> None:
    found = planned("one-cycle", 10, lr=1.0, rise=0.5, start=0.2, floor=0.0)
    # The top is at step 0.5 * 10 - 1 = 4, the end at step 9.
    assert (found[0], found[2], found[4], found[9]) == pytest.approx((0.2, 0.6, 1.0, 0.0))
    assert found[:5] == sorted(found[:5])
    assert found[4:] == sorted(found[4:], reverse=True)


def test_inverse_square_root_is_the_rule_of_the_transformer() -> None:
    warmup, width = 40, 512
    found = planned("inverse-sqrt", 300, warmup=warmup, lr=(width * warmup) ** -0.5)
    expected = [width**-0.5 * min(step**-0.5, step * warmup**-1.5) for step in range(1, 302)]
    assert found == pytest.approx(expected, rel=1e-12)
    assert planned("inverse-sqrt", 3, lr=1.0) == pytest.approx([1, 2**-0.5, 3**-0.5, 0.5])


@settings(derandomize=True, deadline=None)
@given(st.integers(0, 300))
def test_factors_start_at_one_and_stay_between_zero_and_one(step: int) -> None:
    for name in SCHEDULES:
        schedule = SCHEDULES.load(name)
        options = schedule.settings()
        assert 0 <= schedule.factor(options, Moment(step, 200, 10)) <= 1
        if name in FALLING:
            assert schedule.factor(options, Moment(0, 200, 10)) == 1.0
    assert eased(1, 0, step / 300) + eased(1, 0, 1 - step / 300) == pytest.approx(1.0)


@pytest.mark.parametrize("steps", [1, 7, 50])
def test_agrees_with_torch(steps: int) -> None:
    lr = 0.3
    exactly = partial(pytest.approx, rel=0, abs=1e-12)
    curve = CosineAnnealingLR(sgd(lr), T_max=steps, eta_min=0.03)
    assert planned("cosine", steps, lr=lr, floor=0.1) == exactly(rates(curve, steps))
    line = LinearLR(sgd(lr), start_factor=1.0, end_factor=0.0, total_iters=steps)
    assert planned("linear", steps, lr=lr) == exactly(rates(line, steps))
    drops = StepLR(sgd(lr), step_size=3, gamma=0.5)
    ours = planned("step", steps, lr=lr, every=3, factor=0.5)
    assert ours == exactly(rates(drops, steps))
    decay = ExponentialLR(sgd(lr), gamma=0.9)
    ours = planned("exponential", steps, lr=lr, factor=0.9)
    assert ours == exactly(rates(decay, steps))


@for_each("steps", [1, 2, 7, 50])
@for_each(("rise", "divisor", "last"), [(0.3, 25.0, 1e4), (0.45, 10.0, 100.0)])
def test_one_cycle_agrees_with_torch(steps: int, rise: float, divisor: float, last: float) -> None:
    cycle = OneCycleLR(
        sgd(1.0),
        max_lr=0.3,
        total_steps=steps + 1,  # torch counts the step that would come next
        pct_start=rise,
        div_factor=divisor,
        final_div_factor=last,
        cycle_momentum=False,
    )
    theirs = []
    for _ in range(steps + 1):
        theirs.append(cycle.get_last_lr()[0])
        cycle.optimizer.step()
        if len(theirs) <= steps:
            cycle.step()
    options: dict[str, Any] = {
        "rise": rise,
        "start": 1 / divisor,
        "floor": 1 / divisor / last,
    }
    ours = planned("one-cycle", steps + 1, lr=0.3, **options)[: steps + 1]
    assert ours == pytest.approx(theirs, rel=0, abs=1e-12)


def test_warm_up_rises_in_equal_steps_to_the_full_rate() -> None:
    # Four steps of warm-up: 1/4, 2/4, 3/4, 4/4 of 0.8; then the line falls from its top.
    found = planned("linear", 8, warmup=4)
    assert found == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8, 0.6, 0.4, 0.2, 0.0])
    assert planned("constant", 5, warmup=2) == pytest.approx([0.4, 0.8, 0.8, 0.8, 0.8, 0.8])


@for_each("warmup", [3, 9])
@for_each("name", SCHEDULES)
def test_warm_up_as_long_as_the_run_only_rises(name: str, warmup: int) -> None:
    found = planned(name, 3, warmup=warmup)[:3]
    assert found == pytest.approx([0.8 * (step + 1) / warmup for step in range(3)])


@pytest.mark.parametrize("name", ENDING)
def test_rate_stays_where_it_ended(name: str) -> None:
    found = rates(build_schedule(name, sgd(0.8), steps=4), 10)
    assert found[4:] == [found[4]] * 7


@for_each("name", [name for name in SCHEDULES if name not in ENDING])
def test_a_longer_run_begins_with_the_shorter_one(name: str) -> None:
    longer = planned(name, 90, warmup=3, steps_per_epoch=2)
    assert planned(name, 30, warmup=3, steps_per_epoch=2) == longer[:31]


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


@for_each("name", SCHEDULES)
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


def test_a_warm_up_takes_the_place_of_the_rise_of_one_cycle() -> None:
    found = planned("one-cycle", 9, warmup=5, lr=1.0, floor=0.0)
    # The top is step 4, the last of the warm-up, and the end step 8, which is four steps later.
    assert found[:5] == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0])
    assert found[6::2] == pytest.approx([0.5, 0.0], abs=1e-12)


@for_each(
    ("name", "options", "sentence"),
    [
        ("step", {"evry": 3}, r"unknown setting 'schedule_options.evry'; did you mean 'every'\?"),
        ("step", {"every": 0}, "schedule_options.every must be greater than 0, got 0"),
        ("step", {"factor": 2}, "schedule_options.factor must be at most 1.0, got 2"),
        ("exponential", {"factor": "x"}, "schedule_options.factor must be a number, got 'x'"),
        ("cosine", {"floor": -1}, "schedule_options.floor must be at least 0.0, got -1"),
        ("one-cycle", {"rise": 1}, "schedule_options.rise must be less than 1.0, got 1"),
    ],
)
def test_bad_options_are_refused(name: str, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{sentence}$"):
        planned(name, 8, **options)


@for_each("name", SCHEDULES)
def test_each_setting_explains_itself(name: str) -> None:
    assert all(field.doc for field in describe(SCHEDULES.load(name).settings))


@pytest.mark.covers("lr-scheduling-general")
def test_a_falling_rate_gets_below_the_noise_floor_of_a_constant_one() -> None:
    # x <- x - eta (x + noise) rests at the variance eta / (2 - eta) for a constant eta.
    runs, steps, lr = 2000, 800, 0.2
    noise = torch.randn(steps, runs, generator=generator(0, "noise"))

    def last_error(build: Callable[[torch.optim.Optimizer], LRScheduler]) -> float:
        x = nn.Parameter(torch.full((runs,), 3.0))
        optimizer = torch.optim.SGD([x], lr=lr)
        schedule = build(optimizer)
        for draw in noise:
            x.grad = x.detach() + draw
            optimizer.step()
            schedule.step()
        return x.square().mean().item()

    def ours(name: str) -> float:
        return last_error(lambda optimizer: build_schedule(name, optimizer, steps=steps))

    flat = ours("constant")
    assert flat == pytest.approx(lr / (2 - lr), rel=0.15)
    one_over_t = last_error(lambda optimizer: LambdaLR(optimizer, lambda t: 1 / (1 + lr * t)))
    assert (
        max(one_over_t, *(ours(name) for name in ("inverse-sqrt", "cosine", "linear"))) < flat / 10
    )


def test_the_names_are_these() -> None:
    assert set(SCHEDULES) == {
        *("constant", "cosine", "linear", "step", "exponential"),
        *("one-cycle", "inverse-sqrt", "plateau"),
    }
