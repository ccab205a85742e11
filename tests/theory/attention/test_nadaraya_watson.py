"""Kernel regression: the rate of its error, and kernels that narrow too slowly or too fast."""

import math

import pytest
import torch

from netwright.core.seeding import generator
from netwright.layers.attention.kernels import kernel_pooling
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.attention.nadaraya_watson import (
    NADARAYA_WATSON,
    NadarayaWatsonConfig,
    squared_error,
    width_for,
)


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(NADARAYA_WATSON)


@pytest.mark.covers("attention-pooling-nw")
def test_pooling_is_the_kernel_regression_and_its_error_falls_with_n() -> None:
    rng = generator(3, "test")
    queries, keys, values = (torch.randn(7, 1, generator=rng) for _ in range(3))
    kernel = (-(queries - keys.T).square() / (2 * 0.3**2)).exp()
    by_hand = kernel @ values / kernel.sum(dim=1, keepdim=True)
    torch.testing.assert_close(kernel_pooling(queries, keys, values, width=0.3), by_hand)
    given = NadarayaWatsonConfig()
    few, many = (squared_error(given, n, generator(0, "test")) for n in (50, 5000))
    assert many < few / 10


@pytest.mark.parametrize(
    ("switched", "shrinks"),
    [({}, 0.398), ({"narrowing": False}, 1), ({"more_neighbours": False}, 0.01)],
)
def test_a_hundred_times_the_examples_narrow_the_kernel_so_much(
    switched: dict[str, bool], shrinks: float
) -> None:
    given = NadarayaWatsonConfig(width=0.5, **switched)
    assert width_for(given, 50) == 0.5
    assert width_for(given, 5000) / 0.5 == pytest.approx(shrinks, abs=1e-3)


def test_the_mean_of_all_targets_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def mean_of_all(queries, keys, values, kernel, width):  # type: ignore[no-untyped-def]
        return values.mean(dim=0).expand(len(queries), 1)

    monkeypatch.setattr("netwright.theory.attention.nadaraya_watson.kernel_pooling", mean_of_all)
    assert not NADARAYA_WATSON.check().holds


def test_the_line_of_the_chart_goes_through_the_middle_of_the_dots() -> None:
    line, dots = NADARAYA_WATSON.check(0, "quick").chart.series
    steps = list(zip(line.x, line.y, strict=True))
    (first, high), (last, low) = steps[0], steps[-1]
    assert math.log(low / high) / math.log(last / first) == pytest.approx(-4 / 5)
    assert math.prod(line.y) == pytest.approx(math.prod(dots.y))
