"""Weight spectra: matrices whose singular values are known, and noise that does not stand out."""

import math
import re

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import DataError
from netwright.inspection.drawing.figure_style import new_figure
from netwright.inspection.inside import weight_spectra
from netwright.inspection.inside.weight_spectra import (
    MOST_PANELS,
    measure_weight_spectra,
    noise_edge,
    noise_values,
    weight_matrices,
)
from tests.inspection.drawn import check_sound, words_on
from tests.inspection.untouched import untouched


def holding(*matrices: Tensor) -> nn.ParameterList:
    return nn.ParameterList([nn.Parameter(matrix) for matrix in matrices])


def normals(*shape: int, seed: int = 0) -> Tensor:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=random, dtype=torch.float64)


def test_an_orthogonal_matrix_is_flat() -> None:
    matrix = torch.linalg.qr(normals(20, 20)).Q
    (one,) = measure_weight_spectra(holding(matrix)).matrices
    assert one.values == pytest.approx([1.0] * 20)
    assert one.stable_rank == pytest.approx(20)
    assert one.condition == pytest.approx(1)
    assert one.standing_out == 0


def test_a_matrix_of_rank_one_has_one_value() -> None:
    matrix = torch.outer(torch.arange(1.0, 5.0), torch.tensor([3.0, 0.0, 4.0]))
    view = measure_weight_spectra(holding(matrix))
    (one,) = view.matrices
    assert one.values == pytest.approx([5 * math.sqrt(30), 0.0, 0.0], abs=1e-5)
    assert one.stable_rank == pytest.approx(1)
    assert one.condition is None
    assert view.table_rows()[0]["condition"] == "infinite"


@pytest.mark.parametrize("shape", [(7, 40), (40, 7)])
def test_singular_values_are_those_of_torch_for_wide_and_tall_matrices(
    shape: tuple[int, int],
) -> None:
    matrix = normals(*shape)
    (one,) = measure_weight_spectra(holding(matrix)).matrices
    assert one.shape == shape
    assert one.values == pytest.approx(torch.linalg.svdvals(matrix).tolist(), rel=1e-9)
    largest, smallest = one.values[0], one.values[-1]
    assert one.condition == pytest.approx(largest / smallest)
    assert one.spread == pytest.approx(float(matrix.std(correction=0)))


@pytest.mark.parametrize("shape", [(64, 64), (30, 120)])
def test_of_a_hundred_random_matrices_about_one_stands_out(shape: tuple[int, int]) -> None:
    matrices = normals(200, *shape, seed=1)
    largest = torch.linalg.matrix_norm(matrices, 2)
    assert 0 <= int((largest > noise_edge(shape)).sum()) <= 6  # 2 are expected
    # The edge is not far off: half of its margin over the bulk is passed by many.
    assert int((largest > math.sqrt(shape[0]) + math.sqrt(shape[1]) - 1).sum()) > 100


def test_noise_has_the_law_of_marchenko_and_pastur() -> None:
    shape = (200, 500)
    values = torch.linalg.svdvals(normals(*shape)).numpy()
    predicted = noise_values(shape)
    assert np.abs(values - predicted).max() < 0.02 * predicted[0]
    assert (predicted**2).mean() == pytest.approx(500, rel=0.01)  # the variance is kept
    square = noise_values((3, 3))
    assert (np.diff(square) < 0).all()
    assert square[-1] > 0


def test_what_is_planted_stands_out_of_the_noise() -> None:
    noise = normals(60, 100)
    directions = torch.linalg.qr(normals(60, 3, seed=1)).Q @ torch.linalg.qr(normals(100, 3)).Q.T
    view = measure_weight_spectra(holding(noise, noise + 40 * directions))
    assert [one.standing_out for one in view.matrices] == [0, 3]
    assert view.clearest.name == "1"
    assert view.caption.startswith(
        'Learned structure stands out from noise most clearly in "1": 3 of its 60 singular '
        "values lie above"
    )
    assert any("60 x 100, 3 stand out" in words for words in words_on(view))
    assert "No matrix stands out" in measure_weight_spectra(holding(noise)).caption


def test_convolutions_are_read_as_matrices_and_vectors_are_left_out() -> None:
    model = nn.Sequential(nn.Conv2d(3, 8, 2), nn.BatchNorm2d(8), nn.Linear(4, 1), nn.LSTM(2, 3))
    shapes = {name: tuple(one.shape) for name, one in weight_matrices(model).items()}
    assert shapes == {"0.weight": (8, 12), "3.weight_ih_l0": (12, 2), "3.weight_hh_l0": (12, 3)}
    with untouched(model):
        measure_weight_spectra(model)


def test_of_many_matrices_some_are_shown_and_large_ones_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(weight_spectra, "MOST_SIDE", 4)
    small = [normals(3, 9) for _ in range(MOST_PANELS + 3)]
    view = measure_weight_spectra(holding(*small, normals(5, 5)))
    assert len(view.matrices) == MOST_PANELS
    assert (view.total, view.too_large) == (MOST_PANELS + 4, ("15",))
    assert view.caption.endswith(' 12 of 16 matrices are shown. Too large to measure: "15".')
    sentence = "must have a side of at most 4 for its singular values, got (5, 5)"
    with pytest.raises(DataError, match=re.escape(sentence)):
        measure_weight_spectra(holding(normals(5, 5)))


def test_matrices_of_zeros_and_of_ones_stand_out_of_nothing() -> None:
    view = measure_weight_spectra(holding(torch.zeros(3, 4), torch.ones(2, 2)))
    zeros, ones = view.matrices
    assert (zeros.standing_out, zeros.lift, zeros.stable_rank, zeros.condition) == (0, 0, 0, None)
    assert (ones.standing_out, ones.lift, ones.condition) == (0, 0, None)
    assert ones.stable_rank == pytest.approx(1)
    assert "No matrix stands out" in view.caption
    check_sound(view)


def test_a_model_without_matrices_and_weights_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(DataError, match="no weight matrix with at least two rows and two columns"):
        measure_weight_spectra(nn.Linear(3, 1))
    with pytest.raises(DataError, match=re.escape("0 must be finite, got nan at [0, 0]")):
        measure_weight_spectra(holding(torch.full((2, 2), torch.nan)))


@pytest.mark.parametrize(
    ("low", "high", "written"),
    [
        (0.8, 800.0, "1 10 100"),
        (0.15, 10.0, "0.2 0.5 1 2 5 10"),
        (2.1, 4.9, "3 4"),
    ],
)
def test_an_axis_has_a_few_ticks_all_written(low: float, high: float, written: str) -> None:
    axes = new_figure(3, 2).subplots()
    axes.loglog()
    axes.set_xlim(low, high)
    weight_spectra._write_few_ticks(axes.xaxis)
    assert [label.get_text() for label in axes.get_xticklabels()] == written.split()
    assert not axes.xaxis.get_minorticklocs().size
