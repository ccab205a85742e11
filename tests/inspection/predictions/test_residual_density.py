"""Residuals beside normal noise: bars of area one, and the share that lies within two."""

import numpy as np
import pytest
import torch

from netwright.core.errors import DataError
from netwright.inspection.predictions.residual_density import (
    MOST_OUTPUTS,
    WITHIN_TWO,
    measure_residual_density,
)


def test_bars_have_the_area_one_and_normal_noise_its_share() -> None:
    residuals = torch.randn(20_000, 2, generator=torch.Generator().manual_seed(0))
    view = measure_residual_density(residuals, ("a", "b"))
    for output in view.outputs:
        assert np.dot(output.density, np.diff(output.edges)) == pytest.approx(1.0)
        assert output.inside == pytest.approx(WITHIN_TWO, abs=0.005)
    assert view.image("svg").startswith(b"<?xml")


def test_share_within_two_by_hand_and_by_weight() -> None:
    residuals = torch.tensor([[0.0], [1.0], [-2.5], [3.0]])
    assert measure_residual_density(residuals, ("a",)).outputs[0].inside == 0.5
    weights = torch.tensor([1.0, 1.0, 1.0, 5.0])
    assert measure_residual_density(residuals, ("a",), weights).outputs[0].inside == 0.25


def test_the_first_few_outputs_are_shown() -> None:
    view = measure_residual_density(torch.randn(9, 6), [f"y{place}" for place in range(6)])
    assert [output.name for output in view.outputs] == [
        f"y{place}" for place in range(MOST_OUTPUTS)
    ]


def test_names_that_are_too_few_are_refused() -> None:
    with pytest.raises(DataError, match=r"^names must hold 2 names, got 1$"):
        measure_residual_density(torch.zeros(3, 2), ("a",))
