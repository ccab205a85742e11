"""Curvature: a line by hand, critical points, both ways to a spectrum, a model left as it was."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import mse_loss

from netwright.backprop.second_order import CriticalPoint
from netwright.core.errors import ConfigError, DataError
from netwright.core.seeding import seeded
from netwright.inspection.training.curvature import (
    MOST_BY_ROWS,
    MOST_WHOLE,
    Curvature,
    measure_curvature,
)
from tests.inspection.drawn import check_sound, words_on
from tests.written_copy import written_copy


class Squares(nn.Linear):
    def forward(self, x: Tensor) -> Tensor:
        return written_copy(super().forward(x)).square()


def rows(count: int, features: int) -> Tensor:
    return torch.randn(count, features, generator=torch.Generator().manual_seed(0))


def against(targets: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda output: mse_loss(output, targets)


def line_view(*, at_minimum: bool) -> tuple[Curvature, Tensor]:
    """Of y = w x without a bias, whose Hessian is 2 X^T X / N."""
    x = rows(20, 3)
    y = x.sum(dim=1, keepdim=True) + rows(20, 1)
    line = nn.Linear(3, 1, bias=False)
    with torch.no_grad():
        best = torch.linalg.lstsq(x.double(), y.double()).solution.T.float()
        line.weight.copy_(best if at_minimum else torch.zeros_like(best))
    return measure_curvature(line, x, against(y), steps=5, lr=0.1, optimizer="sgd"), x


def test_the_spectrum_of_a_line_is_that_of_its_inputs() -> None:
    view, x = line_view(at_minimum=False)
    expected = torch.linalg.eigvalsh(2 * x.double().T @ x.double() / 20)
    assert view.values == pytest.approx(expected.tolist(), rel=1e-5)
    assert (view.rows, view.weights, view.is_whole, view.negative) == (20, 3, True, 0)
    assert view.counts == pytest.approx([1.0] * 3)
    assert view.stable_lr == pytest.approx(2 / float(expected[-1]), rel=1e-5)
    assert view.point is None


def test_the_loss_of_a_line_along_the_gradient_is_as_foretold() -> None:
    view, _ = line_view(at_minimum=False)
    foretold = [view.step.predicted(rate) for rate in view.rates]
    assert view.losses == pytest.approx(foretold, rel=1e-4)
    assert view.rates[0] == 0
    assert view.rates[-1] == pytest.approx(2.5 * view.step.best_lr)
    assert view.slope == pytest.approx(view.step.slope**0.5)


def test_where_least_squares_is_solved_there_is_a_minimum() -> None:
    view, _ = line_view(at_minimum=True)
    assert view.point == CriticalPoint("minimum", 0)
    assert "The gradient is 0 up to rounding: this is a minimum." in view.caption


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_whether_there_is_a_slope_is_no_matter_of_units(scale: float) -> None:
    line, x = nn.Linear(3, 1, bias=False), scale * rows(20, 3)
    nn.init.zeros_(line.weight)
    view = measure_curvature(line, x, against(torch.ones(20, 1)), steps=5)
    assert view.point is None


def test_the_best_step_that_was_tried_is_told() -> None:
    view, _ = line_view(at_minimum=False)
    lowest = min(view.losses)
    assert f"of 17 that were tried {view.step.best_lr:.4g}" not in view.caption  # between two
    assert f" did, to {lowest:.4g}." in view.caption


def test_two_layers_of_zero_weights_stand_on_a_saddle() -> None:
    net = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    for part in net.parameters():
        nn.init.zeros_(part)
    one = torch.ones(1, 1)
    view = measure_curvature(net, one, against(one), steps=5)
    assert view.values == pytest.approx([-2.0, 2.0])  # of (1 - a b)^2
    assert view.point == CriticalPoint("saddle", 1)
    assert (view.slope, view.rates) == (0.0, ())
    assert "this is a saddle" in view.caption
    assert "A step down the slope" not in words_on(view)


def test_of_a_large_model_the_ends_are_those_of_its_whole_spectrum() -> None:
    with seeded(0):
        layer = nn.Linear(40, 40)
    assert sum(part.numel() for part in layer.parameters()) > MOST_WHOLE
    x = rows(30, 40) * torch.linspace(0.2, 2, 40)
    view = measure_curvature(layer, x, against(rows(30, 40)), steps=30)
    wide = torch.cat((x, torch.ones(30, 1)), dim=1).double()
    ends = torch.linalg.eigvalsh(2 * wide.T @ wide / (30 * 40))
    assert not view.is_whole
    assert view.values[-1] == pytest.approx(float(ends[-1]), rel=1e-4)
    assert view.values[0] == pytest.approx(0.0, abs=1e-5)
    assert view.negative == 0
    assert sum(view.counts) == pytest.approx(view.weights)
    assert "30 values that Lanczos found" in view.caption
    assert "at least 0 curve down" in view.caption


def test_where_rows_of_the_hessian_come_one_by_one_its_ends_are_looked_for_sooner() -> None:
    with seeded(0):
        small, large = Squares(3, 8), Squares(3, 32)
    views = [measure_curvature(net, rows(2, 3), torch.sum, steps=4) for net in (small, large)]
    assert [view.weights for view in views] == [32, 128]
    assert [view.is_whole for view in views] == [True, False]
    assert MOST_BY_ROWS < views[1].weights < MOST_WHOLE


def test_a_few_eigenvalues_of_a_flat_place_decide_nothing() -> None:
    layer = nn.Linear(40, 40)
    for part in layer.parameters():
        nn.init.zeros_(part)
    view = measure_curvature(layer, rows(5, 40), against(torch.zeros(5, 40)), steps=5)
    assert view.point is not None
    assert view.point.kind == "undecided"


def test_a_way_that_curves_down_has_no_best_step_and_is_drawn() -> None:
    one = nn.Linear(1, 1, bias=False)
    nn.init.constant_(one.weight, 0.5)
    view = measure_curvature(one, torch.ones(1, 1), lambda w: -(w**2).sum(), steps=5, lr=0.1)
    assert view.values == pytest.approx([-2.0])
    assert view.rates[-1] == pytest.approx(1.0)  # the weight moves by 1
    assert "No direction curves up" in view.caption
    assert "along the negative gradient the loss does not curve up" in view.caption
    check_sound(view)


def test_a_model_is_left_as_it_was() -> None:
    with seeded(0):
        net = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 2))
    net[0].bias.requires_grad_(False)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    views = [
        measure_curvature(net, rows(8, 2), against(rows(8, 2)), steps=5, lr=0.1, optimizer="sgd")
        for _ in range(2)
    ]
    assert views[0] == views[1]  # nothing is drawn by chance
    assert views[0].weights == 8 + 4 + 4 + 8 + 2
    assert all(torch.equal(before[name], value) for name, value in net.state_dict().items())
    assert net.training and net[2].training
    assert [part.requires_grad for part in net[0].parameters()] == [True, False]
    assert all(part.grad is None for part in net.parameters())
    assert "the run used sgd with 0.1" in views[0].caption
    check_sound(views[0])
    shown = words_on(views[0])
    assert {"curvature (eigenvalue of the Hessian)", "learning rate of the step"} <= set(shown)


def test_what_has_no_finite_curvature_is_refused() -> None:
    sentence = "^a loss is differentiated by a model's parameters, Identity has none$"
    with pytest.raises(ConfigError, match=sentence):
        measure_curvature(nn.Identity(), rows(2, 2), Tensor.sum, steps=5)
    broken = nn.Linear(2, 1)
    nn.init.constant_(broken.weight, float("nan"))
    with pytest.raises(DataError, match=r"^the gradient must be finite, got nan at \[0\]"):
        measure_curvature(broken, rows(2, 2), lambda output: (output**2).sum(), steps=5)
