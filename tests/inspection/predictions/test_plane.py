"""The plane through the inputs: components as scikit-learn finds them, and what is asked where."""

import pytest
import torch
from sklearn.decomposition import PCA
from torch import Tensor

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.predictions.plane import GRID, MOST_POINTS, plane_through, sample_plane
from tests.repetition import for_each


def cloud(num_inputs: int, size: int) -> Tensor:
    """Inputs that spread differently in every direction, away from the origin."""
    generator = torch.Generator().manual_seed(0)
    spread = torch.randn(num_inputs, size, generator=generator) * torch.linspace(3, 0.5, size)
    return (spread @ torch.randn(size, size, generator=generator) + 5).double()


def keep(inputs: Tensor) -> Tensor:
    """The model that answers with the first two numbers of its input."""
    return inputs.flatten(1)[:, :2]


@for_each(("num_inputs", "size"), [(50, 3), (200, 12), (12, 12), (10, 40), (4, 9)])
def test_components_are_those_of_scikit_learn(num_inputs: int, size: int) -> None:
    flat = cloud(num_inputs, size)
    plane = plane_through(flat)
    wanted = PCA(n_components=2, svd_solver="full").fit(flat.numpy())
    assert plane.origin.tolist() == pytest.approx(wanted.mean_.tolist())
    assert plane.axes.flatten().tolist() == pytest.approx(wanted.components_.flatten().tolist())
    assert plane.variance_share == pytest.approx(wanted.explained_variance_ratio_.sum())
    projected = wanted.transform(flat.numpy())
    assert plane.project(flat).flatten().tolist() == pytest.approx(projected.flatten().tolist())


def test_two_features_are_the_plane_itself() -> None:
    flat = cloud(9, 2)
    plane = plane_through(flat)
    assert plane.project(flat).equal(flat)
    assert plane.lift(flat).equal(flat)
    assert (plane.is_slice, plane.variance_share) == (False, 1.0)


def test_what_is_lifted_falls_back_to_its_place() -> None:
    plane = plane_through(cloud(30, 7))
    places = torch.tensor([[0.0, 0.0], [1.0, -2.0]], dtype=torch.float64)
    assert plane.project(plane.lift(places)).flatten().tolist() == pytest.approx([0, 0, 1, -2])
    assert plane.lift(places)[0].tolist() == pytest.approx(plane.origin.tolist())


@for_each(("num_inputs", "size"), [(1, 5), (2, 5), (8, 5), (8, 30)])
def test_axes_are_at_right_angles_also_where_inputs_lie_on_a_line(
    num_inputs: int, size: int
) -> None:
    line = torch.outer(torch.arange(1.0, num_inputs + 1), torch.ones(size)).double()
    plane = plane_through(line)
    products = (plane.axes @ plane.axes.T).flatten().tolist()
    assert products == pytest.approx([1, 0, 0, 1], abs=1e-9)
    assert plane.variance_share == pytest.approx(1.0 if num_inputs > 1 else 0.0)


def test_components_of_very_many_inputs_are_nearly_those_of_all() -> None:
    flat = cloud(5_000, 3)
    wanted = PCA(n_components=2, svd_solver="full").fit(flat.numpy())
    plane = plane_through(flat)
    assert plane.axes.flatten().tolist() == pytest.approx(
        wanted.components_.flatten().tolist(), abs=0.1
    )


def test_cells_are_asked_in_their_middle_from_below_left() -> None:
    inputs = torch.tensor([[0.0, 10.0], [1.0, 30.0]])
    sample = sample_plane(keep, inputs, ("x", "y"))
    assert sample.answers.shape == (GRID, GRID, 2)
    assert sample.frame.extent == pytest.approx((-0.08, 1.08, 8.4, 31.6))
    x, y = sample.frame.cell_centres
    assert (x[0], x[-1]) == pytest.approx((-0.08 + 1.16 / 240, 1.08 - 1.16 / 240))
    assert sample.answers[0, :, 0].tolist() == pytest.approx(x, abs=1e-6)
    assert sample.answers[:, 0, 1].tolist() == pytest.approx(y, abs=1e-5)
    assert sample.answers[-1, :, 0].tolist() == pytest.approx(x, abs=1e-6)


def test_points_lie_in_their_cells() -> None:
    inputs = cloud(60, 2)
    sample = sample_plane(keep, inputs, ("x", "y"))
    x, y = (torch.tensor(centres) for centres in sample.frame.cell_centres)
    rows, columns = sample.cells.unbind(1)
    assert (x[columns] - sample.points[:, 0]).abs().max() <= (x[1] - x[0]) / 2 + 1e-9
    assert (y[rows] - sample.points[:, 1]).abs().max() <= (y[1] - y[0]) / 2 + 1e-9


def test_a_slice_keeps_all_other_components_at_their_mean() -> None:
    inputs = cloud(80, 6)
    asked: list[Tensor] = []

    def listen(part: Tensor) -> Tensor:
        asked.append(part)
        return keep(part)

    sample = sample_plane(listen, inputs, ())
    grid = torch.cat(asked)[: GRID * GRID]
    others = torch.tensor(PCA().fit(inputs.numpy()).components_[2:])
    assert float(((grid - inputs.mean(dim=0)) @ others.T).abs().max()) < 1e-9
    assert sample.frame.is_slice
    assert sample.frame.x_name == "principal component 1"


def test_the_model_gets_inputs_as_it_knows_them_in_batches() -> None:
    inputs = torch.rand(5, 1, 4, 4, generator=torch.Generator().manual_seed(0))
    shapes: list[tuple[int, ...]] = []

    def listen(part: Tensor) -> Tensor:
        shapes.append(tuple(part.shape[1:]))
        assert part.dtype == torch.float32
        assert len(part) <= 2_048
        assert not torch.is_grad_enabled()
        return keep(part)

    sample = sample_plane(listen, inputs, ())
    assert set(shapes) == {(1, 4, 4)}
    # Of examples the model is asked as they are, not as they fall on the plane.
    assert sample.predictions.flatten().tolist() == inputs.flatten(1)[:, :2].flatten().tolist()


def test_two_features_are_shown_in_their_own_units() -> None:
    inputs = torch.tensor([[-1.0, 0.0], [1.0, 2.0]])
    units = (torch.tensor([100.0, 7.0]), torch.tensor([10.0, 0.5]))
    sample = sample_plane(keep, inputs, ("x", "y"), units)
    assert sample.points.tolist() == [[90.0, 7.0], [110.0, 8.0]]
    assert sample.frame.x_range == pytest.approx((88.4, 111.6))
    assert sample.frame.y_range == pytest.approx((6.92, 8.08))
    assert sample.answers[0, 0, 0] == pytest.approx(-1.16 + 2.32 / 240)  # asked as it is encoded
    assert sample.cells.equal(sample_plane(keep, inputs, ("x", "y")).cells)


def test_the_units_of_features_are_not_those_of_components() -> None:
    inputs = cloud(9, 3)
    units = (torch.ones(3), torch.ones(3))
    assert sample_plane(keep, inputs, (), units).frame == sample_plane(keep, inputs, ()).frame


def test_an_axis_without_spread_takes_that_of_the_other() -> None:
    frame = sample_plane(keep, torch.tensor([[0.0, 3.0], [4.0, 3.0]]), ("x", "y")).frame
    assert frame.y_range == pytest.approx((3 - 2.32, 3 + 2.32))
    alone = sample_plane(keep, torch.tensor([[2.0, 3.0]]), ("x", "y")).frame
    assert alone.extent == pytest.approx((1.42, 2.58, 2.42, 3.58))
    line = torch.outer(torch.linspace(-1, 1, 9), torch.ones(7))
    low, high = sample_plane(keep, line, ()).frame.y_range
    assert high - low > 1  # rounding is no spread


def test_of_very_many_inputs_some_are_shown_and_all_are_in_the_window() -> None:
    inputs = torch.zeros(5 * MOST_POINTS, 2)
    inputs[7, 0] = 50.0
    sample = sample_plane(keep, inputs, ("x", "y"))
    assert len(sample.points) == len(sample.predictions) == len(sample.rows) == MOST_POINTS
    assert sample.frame.x_range[1] > 50


def test_descriptions_say_which_plane_it_is() -> None:
    two = sample_plane(keep, cloud(9, 2), ("x", "y")).frame
    assert two.description == "The plane is that of the two features."
    sliced = sample_plane(keep, cloud(9, 4), ()).frame
    share = f"{100 * sliced.variance_share:.1f} % of the variance"
    assert "a slice through the mean" in sliced.description
    assert share in sliced.description


def test_refusals() -> None:
    with pytest.raises(DataError, match=r"^a plane needs inputs of 2 numbers or more, got 1$"):
        sample_plane(keep, torch.ones(3, 1), ("x",))
    with pytest.raises(DataError, match=r"^feature_names must hold 2 names, got 1$"):
        sample_plane(keep, torch.ones(3, 2), ("x",))
    with pytest.raises(ShapeError, match=r"^inputs must not be empty, got shape \(0, 2\)$"):
        sample_plane(keep, torch.ones(0, 2), ("x", "y"))
    with pytest.raises(ShapeError, match=r"^answers must have shape \(14400, K\), got \(14400,\)$"):
        sample_plane(lambda part: part[:, 0], torch.ones(3, 2), ("x", "y"))
    with pytest.raises(DataError, match=r"^answers must be finite, got nan at \[0, 0\]"):
        sample_plane(lambda part: part * torch.nan, torch.ones(3, 2), ("x", "y"))
