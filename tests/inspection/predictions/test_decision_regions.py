"""Decision regions: the line of a linear model where it must be, colours, points and slices."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure
from torch import Tensor

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.drawing.wording import legend_name
from netwright.inspection.predictions.decision_regions import (
    DecisionRegions,
    class_colours,
    measure_decision_regions,
)
from netwright.inspection.predictions.plane import GRID
from tests.inspection.drawn import HOSTILE, check_sound, words_on
from tests.repetition import slow_but


def linear(weights: Tensor, bias: Tensor) -> Callable[[Tensor], Tensor]:
    """A softmax regression: weights (F, C), bias (C,)."""
    return lambda inputs: (inputs.flatten(1) @ weights + bias).softmax(dim=1)


def cloud(num_inputs: int, *shape: int) -> Tensor:
    return torch.randn(num_inputs, *shape, generator=torch.Generator().manual_seed(0))


def boundary(figure: Figure) -> list[np.ndarray[tuple[int, int], np.dtype[np.float64]]]:
    """The vertices of every line that was drawn between regions."""
    lines = [part for part in figure.axes[0].collections if isinstance(part, ContourSet)]
    return [np.array(path.vertices) for line in lines for path in line.get_paths()]


def two_regions(weights: list[float], bias: float, **options: Tensor) -> DecisionRegions:
    """Of a logistic model whose boundary is weights . x + bias = 0."""
    model = linear(torch.tensor([[0.0, weights[0]], [0.0, weights[1]]]), torch.tensor([0.0, bias]))
    inputs = 2 * cloud(50, 2)
    targets = (inputs @ torch.tensor(weights) + bias > 0).long()
    units = (options["offset"], options["scale"]) if options else None
    return measure_decision_regions(model, inputs, targets, ("no", "yes"), ("x", "y"), units)


@pytest.mark.parametrize("sharpness", [0.3, 1.0, 30.0])
def test_the_boundary_of_a_logistic_model_is_its_line(sharpness: float) -> None:
    view = two_regions([2 * sharpness, 1 * sharpness], -1 * sharpness)
    (line,) = boundary(view.plot())
    cell = (view.frame.x_range[1] - view.frame.x_range[0]) / GRID
    assert len(line) > 50
    assert np.abs(line @ np.array([2.0, 1.0]) - 1).max() / 5**0.5 < cell
    crossing_x = (
        np.interp(0.0, line[:, 1], line[:, 0])
        if line[0, 1] < line[-1, 1]
        else (np.interp(0.0, line[::-1, 1], line[::-1, 0]))
    )
    assert crossing_x == pytest.approx(0.5, abs=cell)


def test_a_threshold_moves_the_boundary_and_what_is_wrong() -> None:
    """p(yes) = 1 / (1 + exp(-x)) is above 0.9 from x = log 9 on."""
    model = linear(torch.tensor([[0.0, 1.0], [0.0, 0.0]]), torch.zeros(2))
    inputs = 2 * cloud(50, 2)
    targets = (inputs[:, 0] > 0).long()
    view = measure_decision_regions(
        model, inputs, targets, ("no", "yes"), ("x", "y"), threshold=0.9
    )
    for line in boundary(view.plot()):
        np.testing.assert_allclose(line[:, 0], np.log(9), atol=0.1)
    between = (inputs[:, 0] > 0) & (inputs[:, 0] < np.log(9))
    assert sum(view.point_is_wrong) == int(between.sum()) > 0
    assert "yes is predicted above probability 0.9" in view.caption


def test_every_cell_has_the_class_of_its_side() -> None:
    view = two_regions([2.0, 1.0], -1.0)
    x, y = np.meshgrid(*view.frame.cell_centres)
    assert (np.array(view.classes) == (2 * x + y - 1 > 0)).all()
    wanted = 1 / (1 + np.exp(-np.abs(2 * x + y - 1)))
    assert np.array(view.confidence) == pytest.approx(wanted, abs=1e-6)
    assert np.array(view.margin) == pytest.approx(2 * wanted - 1, abs=1e-6)


def test_the_line_is_where_it_is_in_the_features_own_units() -> None:
    offset, scale = torch.tensor([100.0, -5.0]), torch.tensor([10.0, 3.0])
    view = two_regions([2.0, 1.0], -1.0, offset=offset, scale=scale)
    (line,) = boundary(view.plot())
    encoded = (line - offset.numpy()) / scale.numpy()
    assert np.abs(encoded @ np.array([2.0, 1.0]) - 1).max() < 0.05


def test_three_regions_meet_in_one_place() -> None:
    angles = torch.tensor([0.5, 0.5 + 2 * torch.pi / 3, 0.5 + 4 * torch.pi / 3])
    weights = 2 * torch.stack((angles.cos(), angles.sin()))
    inputs = cloud(30, 2)
    targets = (inputs @ weights).argmax(dim=1)
    model = linear(weights, torch.zeros(3))
    view = measure_decision_regions(model, inputs, targets, ("a", "b", "c"), ("x", "y"))
    cell = (view.frame.x_range[1] - view.frame.x_range[0]) / GRID
    for line in boundary(view.plot()):
        assert np.hypot(line[:, 0], line[:, 1]).min() < 2 * cell
        scores = np.sort(line @ weights.numpy(), axis=1)
        assert (scores[:, -1] - scores[:, -2]).max() < 4 * cell
    assert sum(view.point_is_wrong) == 0
    assert set(np.unique(view.classes)) == {0, 1, 2}


def test_wrong_points_are_ringed_and_counted() -> None:
    model = linear(torch.tensor([[0.0, 9.0], [0.0, 0.0]]), torch.zeros(2))
    inputs = torch.tensor([[-1.0, 0.0], [1.0, 0.0], [2.0, 1.0]])
    view = measure_decision_regions(model, inputs, torch.tensor([0, 0, 1]), "ab", ("x", "y"))
    assert view.point_is_wrong == (False, True, False)
    assert view.point_classes == (0, 0, 1)
    assert view.points == ((-1.0, 0.0), (1.0, 0.0), (2.0, 1.0))
    assert "the model gets wrong (1). The plane is that of the two features." in view.caption
    axes = view.plot().axes[0]
    dots = next(part for part in axes.collections if len(part.get_facecolor()) == 3)
    assert np.array(dots.get_offsets()).tolist() == [[-1.0, 0.0], [1.0, 0.0], [2.0, 1.0]]
    wanted = class_colours(2)[[0, 0, 1]]
    assert np.array(dots.get_facecolor())[:, :3] == pytest.approx(wanted)
    rings = axes.collections[-1]
    assert np.array(rings.get_offsets()).tolist() == [[1.0, 0.0]]
    assert "wrong" in words_on(view)


def test_on_a_slice_points_are_judged_as_they_are_and_the_agreement_is_told() -> None:
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(300, 5, generator=generator) * torch.tensor([4.0, 3.0, 1.0, 0.1, 0.1])
    hidden = torch.zeros(5, 2)
    hidden[2, 1] = 50.0  # the class depends on what the slice does not show
    targets = (inputs[:, 2] > 0).long()
    view = measure_decision_regions(linear(hidden, torch.zeros(2)), inputs, targets, "ab", ())
    assert sum(view.point_is_wrong) == 0
    assert 0.3 < view.agreement < 0.8
    seen = torch.zeros(5, 2)
    seen[0, 1] = 50.0
    targets = (inputs[:, 0] > 0).long()
    view = measure_decision_regions(linear(seen, torch.zeros(2)), inputs, targets, "ab", ())
    assert view.agreement > 0.95
    assert view.caption.endswith(f"; they agree for {100 * view.agreement:.1f} %.")


@pytest.mark.parametrize(("agreement", "misleads"), [(0.34, True), (0.599, True), (0.6, False)])
def test_a_slice_that_says_little_about_the_examples_says_so_first(
    agreement: float, misleads: bool
) -> None:
    inputs = cloud(9, 3)
    model = linear(torch.eye(3), torch.zeros(3))
    view = measure_decision_regions(model, inputs, torch.arange(9) % 3, "abc", ())
    caption = replace(view, agreement=agreement).caption
    warning = (
        f"This slice agrees with the model's predictions for only {100 * agreement:.1f} % of the "
        "examples: it shows the space near the mean, not where the examples lie. Each point has "
    )
    assert caption.startswith(warning if misleads else "Each point has ")
    assert caption.endswith(
        "differ from the colour behind them" + ("." if misleads else "; they agree for 60.0 %.")
    )


def test_a_plane_of_two_features_is_no_slice_and_warns_of_nothing() -> None:
    caption = replace(two_regions([2.0, 1.0], -1.0), agreement=0.1).caption
    assert "slice" not in caption


def test_surer_is_stronger_and_guessing_is_pale() -> None:
    raster = np.array(two_regions([2.0, 1.0], -1.0).plot().axes[0].images[0].get_array())
    strength = 1 - raster.min(axis=2)
    view = two_regions([2.0, 1.0], -1.0)
    order = np.argsort(np.array(view.confidence), axis=None)
    assert strength.flatten()[order[0]] < 0.15
    assert strength.flatten()[order[-1]] > 0.4
    image = view.plot().axes[0].images[0]
    assert (image.origin, tuple(image.get_extent())) == ("lower", view.frame.extent)
    corner = raster[-1, -1]  # class 1, the second colour: more red than blue
    assert corner[0] > corner[2]


def test_regions_are_one_small_picture() -> None:
    image = two_regions([2.0, 1.0], -1.0).image("svg")
    assert image.count(b"<image") == 1
    assert len(image) < 60_000


@pytest.mark.parametrize("count", slow_but([2, 15], [2, 5, 10, 15, 100]))
def test_every_number_of_classes_gives_a_sound_figure(count: int) -> None:
    weights = torch.randn(2, count, generator=torch.Generator().manual_seed(2))
    names = [HOSTILE[index % 5] + str(index) for index in range(count)]
    model = linear(3 * weights, torch.zeros(count))
    targets = torch.arange(60) % count
    check_sound(measure_decision_regions(model, cloud(60, 2), targets, names, HOSTILE[:2]))


def test_a_class_that_begins_with_an_underscore_is_in_the_legend() -> None:
    model = linear(torch.eye(2), torch.zeros(2))
    names = ("_other", "b")
    view = measure_decision_regions(model, cloud(4, 2), torch.tensor([0, 1, 0, 1]), names, "xy")
    (legend,) = view.plot().legends
    assert [text.get_text() for text in legend.get_texts()][:2] == [legend_name("_other"), "b"]


def test_the_same_answer_everywhere_has_no_boundary() -> None:
    def constant(inputs: Tensor) -> Tensor:
        return torch.full((len(inputs), 3), 1 / 3)

    view = measure_decision_regions(constant, cloud(9, 1, 3, 3), torch.arange(9) % 3, "abc", ())
    assert boundary(view.plot()) == []
    assert view.agreement == 1.0
    check_sound(view)


def test_colours_of_classes_are_all_different() -> None:
    for count in (2, 10, 11, 60):
        colours = class_colours(count)
        assert colours.shape == (count, 3)
        assert len(np.unique(colours.round(3), axis=0)) == count
        assert ((colours >= 0) & (colours <= 1)).all()


def test_refusals() -> None:
    model = linear(torch.ones(2, 3), torch.zeros(3))
    inputs, targets = cloud(4, 2), torch.tensor([0, 1, 0, 1])
    with pytest.raises(DataError, match=r"^class_names must hold 3 names, got 2$"):
        measure_decision_regions(model, inputs, targets, ("a", "b"), ("x", "y"))
    with pytest.raises(ShapeError, match=r"^targets must have shape \(4\), got \(3,\)$"):
        measure_decision_regions(model, inputs, targets[:3], "abc", ("x", "y"))
    with pytest.raises(DataError, match=r"^targets must lie in \[0, 3\), got 7$"):
        measure_decision_regions(model, inputs, targets * 7, "abc", ("x", "y"))
    one = linear(torch.ones(2, 1), torch.zeros(1))
    with pytest.raises(DataError, match=r"^there must be at least 2 classes, got 1$"):
        measure_decision_regions(one, inputs, targets * 0, "a", ("x", "y"))
