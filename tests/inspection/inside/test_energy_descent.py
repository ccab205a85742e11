"""The descent of the energy: its numbers, its rises, and a sound picture."""

import pytest
import torch

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.inside.energy_descent import measure_energy_descent
from tests.inspection.drawn import check_sound, words_on


def test_numbers_and_rises_by_hand() -> None:
    energies = torch.tensor([[3.0, 1.0], [1.0, 2.0], [-1.0, 0.0]])
    view = measure_energy_descent([0.0, 0.5, 1.0], energies)
    assert view.energies == ((3.0, 1.0, -1.0), (1.0, 2.0, 0.0))
    assert view.num_rises == 1
    assert "went from 2 to -0.5 in the mean, and rose at 1 step." in view.caption
    assert {"sweeps", "energy"} <= set(words_on(view))
    check_sound(view)


def test_rounding_is_no_rise() -> None:
    view = measure_energy_descent([0.0, 1.0, 2.0], torch.tensor([[1.0], [0.0], [1e-8]]))
    assert view.num_rises == 0
    assert "and never rose." in view.caption


def test_refusals() -> None:
    with pytest.raises(ShapeError, match=r"^energies must have shape \(2, B\), got \(1, 3\)$"):
        measure_energy_descent([0.0, 1.0], torch.zeros(1, 3))
    with pytest.raises(ShapeError, match=r"^energies must not be empty, got shape \(1, 0\)$"):
        measure_energy_descent([0.0], torch.zeros(1, 0))
    with pytest.raises(DataError, match=r"^energies must be finite, got nan at \[0, 0\]"):
        measure_energy_descent([0.0], torch.full((1, 1), torch.nan))
