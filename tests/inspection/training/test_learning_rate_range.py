"""The range test as a view: smoothing, what is suggested and when nothing is, and the figure."""

import json
import math
import random
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from netwright.inspection.training.learning_rate_range import (
    LearningRateRange,
    measure_learning_rate_range,
    smooth,
)
from tests.repetition import for_each

RATES = [1e-7 * 10 ** (update / 10) for update in range(81)]  # ten for each power of ten


def valley(*, low: float = 0.5, at: int = 50) -> list[float]:
    """1 at first; from update 30 on down to `low` at update `at`, then up again."""
    return [
        1.0 if update < 30 else low + (1 - low) * abs(update - at) / (at - 30)
        for update in range(len(RATES))
    ]


def noisy(losses: Sequence[float], noise: float, seed: int = 0) -> list[float]:
    draw = random.Random(seed)
    return [loss + draw.gauss(0, noise) for loss in losses]


def test_smoothing_is_a_mean_that_forgets() -> None:
    # 0.1 * 1 / 0.1; (0.9 * 0.1 + 0.1 * 2) / 0.19; (0.81 * 0.1 + 0.9 * 0.2 + 0.1 * 6) / 0.271
    assert smooth([1.0, 2.0, 6.0]) == pytest.approx((1.0, 0.29 / 0.19, 0.861 / 0.271))


def test_smoothing_is_the_one_of_pandas() -> None:
    losses = noisy(valley(), 0.3)
    assert smooth(losses) == pytest.approx(list(pd.Series(losses).ewm(alpha=0.1).mean()))


def test_a_constant_stays_as_it_is_from_the_first_value_on() -> None:
    assert smooth([0.7] * 40) == pytest.approx([0.7] * 40)


def test_a_tenth_of_the_rate_of_the_smallest_smoothed_loss_is_suggested() -> None:
    found = measure_learning_rate_range(RATES, valley())
    expected = min(range(81), key=lambda update: found.smoothed[update])
    assert found.lowest == expected > 50  # the mean lags behind
    assert found.suggestion == float(f"{RATES[expected] / 10:.1e}")  # two digits
    assert (found.start, found.spread) == (1.0, 0.0)
    assert found.fall == pytest.approx(1 - found.smoothed[expected])


def test_the_suggestion_moves_with_the_rates() -> None:
    found = measure_learning_rate_range(RATES, valley())
    slower = measure_learning_rate_range([rate / 100 for rate in RATES], valley())
    assert found.suggestion is not None
    assert slower.suggestion == pytest.approx(found.suggestion / 100)


def test_a_lucky_first_batch_is_no_minimum() -> None:
    found = measure_learning_rate_range(RATES, [0.01, *valley()[1:]])
    assert found.smoothed[0] < found.smoothed[found.lowest]
    assert found.lowest > 50


def test_start_and_spread_are_those_of_the_first_twenty() -> None:
    losses = [1.0, 3.0] * 10 + [0.5] * 61
    found = measure_learning_rate_range(RATES, losses)
    assert (found.start, found.spread) == (2.0, 1.0)


def test_a_fall_counts_where_it_exceeds_what_batches_differ_by() -> None:
    for spread, seen in ((0.27, True), (0.29, False)):
        first = [1 - spread, 1 + spread] * 10
        found = measure_learning_rate_range(RATES, first + valley(low=0.6)[20:])
        assert found.spread == pytest.approx(spread)
        assert 0.27 < found.fall < 0.29
        assert (found.suggestion is not None) is seen


@pytest.mark.parametrize(("low", "seen"), [(0.9985, True), (0.9999, False)])
def test_a_fall_in_the_last_digits_is_none_even_where_every_batch_is_the_same(
    low: float, seen: bool
) -> None:
    found = measure_learning_rate_range(RATES, [1.0] * 40 + [low] * 41)
    assert found.spread == 0
    assert (found.suggestion is not None) is seen


def test_noise_alone_hardly_ever_suggests_anything() -> None:
    suggested = [
        measure_learning_rate_range(RATES, noisy([1.0] * 81, 0.2, seed)).suggestion
        for seed in range(200)
    ]
    assert sum(rate is not None for rate in suggested) <= 10


@for_each("count", [1, 5, 20, 21])
def test_a_loss_that_only_rises_suggests_nothing(count: int) -> None:
    found = measure_learning_rate_range(RATES[:count], [1.1**update for update in range(count)])
    assert found.suggestion is None
    assert found.lowest == min(20, count - 1)


def test_the_caption_tells_what_was_tried_and_what_follows() -> None:
    losses = [2.0] * 40 + [1.0] * 41
    losses[-1] = 9.0
    assert measure_learning_rate_range(RATES, losses).caption == (
        "The learning rate rose from 1e-07 to 10 over 81 updates. The smoothed loss fell from 2 to "
        "1.015, where the rate was 7.9; a tenth of that, 0.79, is suggested."
    )


def falling(*, until: int) -> list[float]:
    """1 at first; from update 30 on down by a hundredth each, up to `until`, then up as fast."""
    return [1 - 0.01 * max(0, min(i, 2 * until - i) - 30) for i in range(len(RATES))]


@for_each(
    ("losses", "still"),
    [
        (falling(until=80), True),
        ([*falling(until=80)[:-3], 0.51, 0.51, 0.51], True),
        (falling(until=60), False),
        ([*falling(until=80)[:-1], 9.0], False),  # blown up at the last rate
        ([1.0] * 30 + [0.5] * 46 + [0.505] * 5, False),  # the smallest is among the last six
        ([1.0] * 81, False),
        ([1.0] * 75 + [0.999] * 6, False),  # no fall at all
    ],
)
def test_a_loss_that_falls_to_the_end_gives_only_a_lower_bound(
    losses: list[float], still: bool
) -> None:
    found = measure_learning_rate_range(RATES, losses)
    assert found.is_still_falling is still
    sentence = (
        "is suggested. The loss was still falling at the largest rate tried, so the suggestion is "
        "only a lower bound."
    )
    assert found.caption.endswith(sentence) is still
    labels = drawn(found)[0]
    assert (f"suggested: at least {found.suggestion or 0:g}" in labels) is still


def test_the_caption_says_where_nothing_is_seen() -> None:
    flat = [1.0, 1.2] * 20
    assert measure_learning_rate_range(RATES[:40], flat).caption == (
        "The learning rate rose from 1e-07 to 0.00079 over 40 updates. The loss fell by 0.006556 "
        "at most, no more than its noise, 0.1: there is no clear descent and no rate is "
        "suggested; larger batches are less noisy."
    )
    rising = [1.0] * 20 + [2.0] * 20
    assert "The loss fell by 0 at most" in measure_learning_rate_range(RATES[:40], rising).caption


def test_the_window_holds_the_fall_and_leaves_the_explosion_out() -> None:
    found = measure_learning_rate_range(RATES, [*valley()[:60], *([1e30] * 21)])
    low, high = found.window
    assert low < found.smoothed[found.lowest] < found.start < high < 2


@pytest.mark.parametrize("loss", [0.0, -3.0, 5.0])
def test_the_window_is_open_where_the_loss_never_moves(loss: float) -> None:
    low, high = measure_learning_rate_range(RATES, [loss] * 81).window
    assert low < loss < high


def drawn(found: LearningRateRange) -> tuple[list[str], list[list[float]]]:
    figure = found.plot()
    (axes,) = figure.axes
    (legend,) = figure.legends
    assert axes.get_xscale() == "log"
    assert axes.get_ylim() == found.window
    return [text.get_text() for text in legend.get_texts()], [
        np.asarray(line.get_xdata(), dtype=float).tolist() for line in axes.get_lines()
    ]


def test_the_figure_marks_the_suggestion_and_the_smallest_loss() -> None:
    found = measure_learning_rate_range(RATES, valley())
    names, places = drawn(found)
    assert names == ["loss of a batch", "smoothed", "start", f"suggested: {found.suggestion:g}"]
    assert places[0] == places[1] == RATES
    assert places[3] == [RATES[found.lowest]]
    assert places[4] == [found.suggestion] * 2


def test_the_figure_marks_nothing_where_nothing_is_suggested() -> None:
    names, places = drawn(measure_learning_rate_range(RATES, [1.0] * 81))
    assert names == ["loss of a batch", "smoothed", "start"]
    assert len(places) == 3


@pytest.mark.parametrize(
    "losses", [[0.0], [1.0] * 50 + [1e38], noisy(valley(), 0.1)], ids=["one", "huge", "usual"]
)
def test_every_measurement_can_be_drawn_and_told_as_json(losses: list[float]) -> None:
    found = measure_learning_rate_range(RATES[: len(losses)], losses)
    assert found.image("svg").startswith(b"<?xml")
    assert len(found.image("svg")) < 300_000
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert list(told) == ["lr", "loss", "smoothed", "start", "spread", "suggestion"]
    assert told["loss"] == losses
    assert all(math.isfinite(value) for value in told["smoothed"])
