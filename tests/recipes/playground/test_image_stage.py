"""A model of small images: its answers to them, and its units on the one that is looked at."""

from typing import Any

import numpy as np
import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.recipes.plan.run_plan import PlannedRun
from netwright.recipes.playground.drawings import drawn_images
from netwright.recipes.playground.image_stage import MOST_IMAGES, ImageStage
from netwright.recipes.playground.picture import MOST_LAYERS
from netwright.recipes.playground.plans import prepare_plan, stage_for
from tests.recipes.playground.test_drawings import ROWS

MLP = {"model.hidden": "3", "model.dropout": "0", "model.activation": "tanh"}


def stage_of(model: str = "mlp", data: Any = None, **settings: str) -> ImageStage:
    typed = {f"model.{name}": value for name, value in settings.items()}
    recipe = PlannedRun(data="digits", model=model, settings=typed or MLP).recipe()
    stage = stage_for(prepare_plan(recipe, drawn_images(ROWS) if data is None else data))
    assert isinstance(stage, ImageStage)
    return stage


def test_it_opens_with_images_of_which_the_first_are_held_out() -> None:
    stage = stage_of()
    told = stage.opening()
    assert told.numbers["held"] == 2 and len(told.numbers["targets"]) == 10
    data = stage.prepared.data
    assert data.val is not None
    assert told.numbers["targets"] == [*data.val.targets.tolist(), *data.train.targets.tolist()]
    corners = told.arrays["images"][:, 0, 0, 0]
    assert sorted(corners.tolist()) == [int(255 * n / 9) for n in range(10)]  # the lightest is 255


def test_of_many_images_some_are_shown() -> None:
    rows = [[place % 16, *row[1:]] for place, row in enumerate(ROWS * 30)]
    told = stage_of(data=drawn_images(rows)).opening()
    assert told.numbers["held"] == MOST_IMAGES == len(told.numbers["targets"])


def test_the_answers_are_those_of_the_model_first_to_what_is_looked_at() -> None:
    stage = stage_of()
    pixels = [255] * 32 + [0] * 32
    stage.look_at(pixels)
    image = torch.tensor(pixels).view(1, 1, 8, 8) / 255 * stage.images.amax()
    wanted = stage.prepared.model.eval()(torch.cat([image, stage.images])).softmax(dim=1)
    shades = stage.draw().arrays["answers"]
    assert np.abs(shades - 255 * wanted.detach().numpy()).max() <= 1
    quick = stage.draw(with_units=False)
    assert np.array_equal(quick.arrays["answers"], shades) and set(quick.numbers) == {"taken"}


@pytest.mark.parametrize("with_units", [False, True])
def test_what_an_image_is_taken_for_is_said_where_shades_are_alike(*, with_units: bool) -> None:
    stage = stage_of()
    *_, weight, bias = stage.prepared.model.parameters()
    with torch.no_grad():
        weight.zero_()
        bias.copy_(torch.tensor([0.0, 1e-3]))
    drawn = stage.draw(with_units=with_units)
    assert (drawn.arrays["answers"] == 127).all()
    assert drawn.numbers["taken"] == [1] * 11
    with torch.no_grad():
        bias.fill_(torch.nan)
    assert stage.draw(with_units=with_units).numbers["taken"] == [None] * 11


def test_the_first_units_show_their_weights_and_the_others_what_they_answer() -> None:
    stage = stage_of(hidden="64,3", activation="tanh", dropout="0")
    stage.look_at([0] * 63 + [255])
    drawn = stage.draw()
    assert [layer["units"] for layer in drawn.numbers["layers"]] == [64, 3, 2]
    units = drawn.arrays["units"]
    assert units.shape == (16 + 3 + 2, 16, 16)
    weights = next(stage.prepared.model.parameters())[0].detach().view(8, 8)
    brightest = divmod(int(weights.abs().argmax()), 8)
    row, column = (2 * place for place in brightest)
    assert abs(int(units[0, row, column]) - 128) == 127
    assert (units[16:] == units[16:, :1, :1]).all()  # one number, also of those that read 64 others
    assert {"weights 1", "weights 2"} <= set(drawn.arrays) and "weights 0" not in drawn.arrays
    assert drawn.arrays["inputs"][0, -1, -1] == 255


def test_filters_show_where_they_respond() -> None:
    stage = stage_of("cnn", channels="2", hidden="4")
    stage.look_at([255] * 32 + [0] * 32)
    drawn = stage.draw()
    layers = drawn.numbers["layers"]
    assert [layer["units"] for layer in layers] == [2, 4, 2]
    assert drawn.arrays["units"].shape == (8, 16, 16)
    assert "weights 2" in drawn.arrays and "weights 1" not in drawn.arrays
    assert len(set(drawn.arrays["units"][:2].flatten().tolist())) > 2


def test_of_many_convolutions_the_first_and_the_last_are_shown() -> None:
    drawn = stage_of("resnet20", width="2").draw()
    paths = [layer["path"] for layer in drawn.numbers["layers"]]
    assert len(paths) == MOST_LAYERS + 1  # and the one that is dense
    assert (paths[0], *paths[-2:]) == ("conv1", "layer3.2.conv2", "fc")
    units = sum(layer["units"] for layer in drawn.numbers["layers"])
    assert len(drawn.arrays["units"]) == units


@pytest.mark.parametrize(
    ("pixels", "got"),
    [
        ([0] * 63, "63 of them"),
        ([0, 256] + [0] * 62, "256 at place 1"),
        ([0] * 63 + [0.5], "0.5 at place 63"),
        ([True] * 64, "True at place 0"),
    ],
)
def test_what_is_no_image_is_not_looked_at(pixels: list[Any], got: str) -> None:
    stage = stage_of()
    before = stage.looked_at
    with pytest.raises(ConfigError, match=f"64 whole numbers from 0 to 255, got {got}"):
        stage.look_at(pixels)
    assert stage.looked_at is before
