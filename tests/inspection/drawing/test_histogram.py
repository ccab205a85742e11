"""Histograms: edges by hand, NumPy's counts, and values that are all the same."""

import numpy as np
import pytest
import torch

from netwright.inspection.drawing.histogram import histogram, histogram_edges
from tests.repetition import for_each


def test_edges_go_from_the_least_to_the_greatest() -> None:
    edges = histogram_edges(torch.tensor([3.0, -1.0, 0.0]), 3)
    assert edges == pytest.approx((-1.0, -0.2, 0.6, 1.4, 2.2, 3.0))


@for_each(("num_values", "bins"), [(1, 5), (25, 5), (48, 7), (64, 9), (100, 11), (10_000, 31)])
def test_bins_are_the_root_of_the_values_and_odd(num_values: int, bins: int) -> None:
    assert len(histogram_edges(torch.tensor([0.0, 1.0]), num_values)) == bins + 1


@for_each("value", [0.0, 7.0, -1e17, 1e300])
def test_a_constant_lies_in_the_middle_bin(value: float) -> None:
    values = torch.full((9,), value, dtype=torch.float64)
    assert histogram(values, histogram_edges(values, 9)) == (0.0, 0.0, 9.0, 0.0, 0.0)


def test_counts_are_numpys() -> None:
    values = torch.randn(200, generator=torch.Generator().manual_seed(0))
    weights = torch.rand(200, generator=torch.Generator().manual_seed(1))
    edges = histogram_edges(values, 200)
    wanted = np.histogram(values.double().numpy(), bins=len(edges) - 1, weights=weights.numpy())
    assert edges == pytest.approx(wanted[1].tolist())
    assert histogram(values, edges, weights) == pytest.approx(wanted[0].tolist(), rel=1e-5)
    assert sum(histogram(values, edges)) == 200
