"""Curves of probabilities: blocks by hand, honest in every class, rising, and refused if broken."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.metrics.isotonic import RisingCurve, choose_curves, honest_probabilities
from netwright.metrics.probability import log_loss


def of_second(*chances: float) -> Tensor:
    second = torch.tensor(chances, dtype=torch.float64)
    return torch.stack([1 - second, second], dim=1)


def test_what_falls_is_put_together_to_its_mean() -> None:
    chances = of_second(0.1, 0.2, 0.3, 0.4, 0.8)
    targets = torch.tensor([0, 1, 0, 0, 1])
    (curve,) = choose_curves(chances, targets)
    eps = 1 / 7
    # 1, 0, 0 falls: its mean is 1/3; 0 and 1 are as far as five rows go
    wanted = [eps, 1 / 3, 1 / 3, 1 / 3, 1 - eps]
    got = honest_probabilities(chances, (curve,))
    np.testing.assert_allclose(got[:, 1], wanted, rtol=1e-12)
    np.testing.assert_allclose(got.sum(1), np.ones(5), rtol=1e-12)
    between = honest_probabilities(of_second(0.0, 0.6, 1.0), (curve,))[:, 1]
    np.testing.assert_allclose(between, [eps, (1 / 3 + 1 - eps) / 2, 1 - eps], rtol=1e-12)


def test_a_weight_of_two_is_a_row_twice() -> None:
    chances, targets = of_second(0.2, 0.4, 0.6), torch.tensor([1, 0, 1])
    weighted = choose_curves(chances, targets, torch.tensor([1.0, 2.0, 1.0]))
    got = honest_probabilities(chances, weighted)[:, 1]
    np.testing.assert_allclose(got, [1 / 3, 1 / 3, 1 - 1 / 5], rtol=1e-12)


def test_too_sure_answers_of_three_classes_become_honest() -> None:
    numbers = torch.Generator().manual_seed(0)
    logits = torch.randn(6_000, 3, generator=numbers, dtype=torch.float64)
    targets = logits.softmax(1).multinomial(1, generator=numbers)[:, 0]
    said = (4 * logits).softmax(1)  # much too sure
    curves = choose_curves(said[:3_000], targets[:3_000])
    assert len(curves) == 3
    honest = honest_probabilities(said[3_000:], curves)
    np.testing.assert_allclose(honest.sum(1), np.ones(3_000), rtol=1e-12)
    best = log_loss(logits[3_000:].softmax(1), targets[3_000:])
    got, before = (log_loss(one, targets[3_000:]) for one in (honest, said[3_000:]))
    assert got < best + 0.03 < before


def test_a_single_knot_is_level_and_types_stay() -> None:
    (curve,) = choose_curves(of_second(0.5, 0.5), torch.tensor([0, 1]))
    got = honest_probabilities(of_second(0.1, 0.9).float(), (curve,))
    assert got.dtype == torch.float32
    assert got[:, 1].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("knots", "values"),
    [((), ()), ((0.1,), ()), ((0.1, 0.1), (0.2, 0.3)), ((0.1,), (1.0,)), ((math.nan,), (0.5,))],
)
def test_curves_that_no_rows_give_are_refused(
    knots: tuple[float, ...], values: tuple[float, ...]
) -> None:
    with pytest.raises(DataError, match=r"curve of probabilities"):
        RisingCurve(knots, values)
