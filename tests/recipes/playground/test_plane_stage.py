"""The plane of two features: its window, its points, and the pictures on it, by hand."""

import numpy as np
import torch

from netwright.recipes.plan.run_plan import PlannedRun
from netwright.recipes.playground.plane_stage import CELLS, PlaneStage, choose_plane
from netwright.recipes.playground.plans import painted_points, prepare_plan

ROWS = [[x / 10, -x / 10, 1.0 * (x > 4)] for x in range(-10, 11)]


def stage_of(hidden: str = "3", rows: list[list[float]] = ROWS) -> PlaneStage:
    settings = {"model.hidden": hidden, "model.dropout": "0", "model.activation": "tanh"}
    recipe = PlannedRun(data="moons", model="mlp", settings=settings).recipe()
    return PlaneStage(prepare_plan(recipe, painted_points(rows)))


def test_points_within_the_unit_square_have_it_as_their_window() -> None:
    told = stage_of().opening().numbers
    assert told["x"] == told["y"] == [-1.0, 1.0]
    wide = stage_of(rows=[[2 * x, y, target] for x, y, target in ROWS]).opening().numbers
    assert wide["x"][0] < -2 and wide["x"][1] - wide["x"][0] == wide["y"][1] - wide["y"][0]


def test_the_picture_is_what_the_model_answers_row_by_row_from_above() -> None:
    stage = stage_of()
    model, side = stage.prepared.model, stage.cells
    place = torch.tensor([[-1 + 1 / side, 1 - 1 / side]])  # the first cell: left and above
    wanted = model(place).softmax(dim=1)[0]
    drawn = stage.draw()
    shades = drawn.arrays["answers"]
    assert shades.shape == (2, side, side)
    assert np.abs(shades[:, 0, 0] - 255 * wanted.detach().numpy()).max() <= 1
    below = model(torch.tensor([[-1 + 1 / side, -1 + 1 / side]])).softmax(dim=1)[0]
    assert np.abs(shades[:, -1, 0] - 255 * below.detach().numpy()).max() <= 1


def test_units_and_lines_are_those_of_the_layers() -> None:
    stage = stage_of("3,20")
    drawn = stage.draw()
    assert [layer["units"] for layer in drawn.numbers["layers"]] == [3, 20, 2]
    assert drawn.arrays["units"].shape == (3 + 16 + 2, 16, 16)
    assert drawn.arrays["weights 0"].shape == (3, 2) and drawn.arrays["weights 1"].shape == (16, 3)
    weight = next(stage.prepared.model.parameters()).detach()
    largest = int(weight.abs().argmax())
    assert abs(int(drawn.arrays["weights 0"].flatten()[largest]) - 128) == 127


def test_a_picture_without_units_has_the_same_regions() -> None:
    stage = stage_of()
    quick, whole = stage.draw(with_units=False), stage.draw()
    assert np.array_equal(quick.arrays["answers"], whole.arrays["answers"])
    assert list(quick.arrays) == ["answers"] and not quick.numbers
    assert stage.prepared.model.training


def test_a_model_that_takes_long_has_fewer_cells() -> None:
    prepared = stage_of().prepared
    moments = iter(range(100))
    assert choose_plane(prepared, 0.5, lambda: float(next(moments))).cells == CELLS[-1]
    assert choose_plane(prepared, 0.5, lambda: 0.0).cells == CELLS[0]
