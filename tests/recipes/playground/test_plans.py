"""What a playground takes: painted points, and data of two features."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.recipes.plan.run_plan import PlannedRun
from netwright.recipes.playground.plans import (
    EPOCHS,
    MOST_ROWS,
    painted_points,
    prepare_plan,
    stage_for,
)
from tests.repetition import for_each

ROWS = [[x / 10, -x / 10, 3.0 * (x > 4)] for x in range(10)]


def test_painted_points_are_data_with_their_own_classes() -> None:
    data = painted_points(ROWS)
    assert data.spec.input_shape == (2,) and data.spec.class_names == ("0", "3")
    splits = dict(data.splits())
    assert set(splits) == {"train", "val"} and len(data.train) == 8
    rows = torch.cat([splits["train"].inputs, splits["val"].inputs])
    assert {round(float(x), 3) for x in rows[:, 0]} == {round(x / 10, 3) for x in range(10)}


@for_each(
    ("points", "words"),
    [
        (ROWS[:3], "got 3"),
        ([[0.0, 0.0, 0.0]] * 6, "two classes"),
        ([[0.0, 0.0, 9.0]] * 6, "0 to 5"),
        ([[0.0, 0.0, 0.5]] * 6, "0 to 5"),
        ([[0.0, 0.0]] * 6, "three numbers"),
        ([["a", 0.0, 1.0]] * 6, "three numbers"),
        ([[float("nan"), 0.0, 1.0]] * 6, "three numbers"),
        ([[[], 0.0, 1.0]] * 6, "three numbers"),
        ([[0.0, 0.0, 1.0]] * 5001, "5,000"),
    ],
)
def test_what_are_no_points_is_refused(points: list[list[float]], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        painted_points(points)


def test_training_has_no_end_unless_it_is_asked_for() -> None:
    def epochs(**settings: str) -> int | None:
        typed = {f"train.{name}": value for name, value in settings.items()}
        return prepare_plan(
            PlannedRun(data="moons", model="mlp", settings=typed).recipe()
        ).recipe.train.epochs

    assert epochs() == EPOCHS and epochs(epochs="3") == 3 and epochs(max_steps="5") is None


def test_images_that_are_too_large_to_be_shown_are_refused() -> None:
    settings = {"data.n": "40", "data.side": "48"}
    prepared = prepare_plan(PlannedRun(data="shapes", model="detr", settings=settings).recipe())
    with pytest.raises(ConfigError, match="up to 32 x 32 pixels"):
        stage_for(prepared)


def test_a_plan_never_switches_onednn_off_for_the_process() -> None:
    typed = {"train.onednn": "off"}
    recipe = PlannedRun(data="moons", model="mlp", settings=typed).recipe()
    assert prepare_plan(recipe).recipe.train.onednn == "on"


def test_it_computes_on_the_cpu_in_this_process_whatever_is_asked_for() -> None:
    asked = {"parallel": "shard", "workers": "3", "compile": "true", "track": "tensorboard"}
    settings = {f"train.{name}": value for name, value in asked.items()}
    prepared = prepare_plan(PlannedRun(data="moons", model="mlp", settings=settings).recipe())
    train = prepared.recipe.train
    assert (train.device, train.parallel, train.workers) == ("cpu", "auto", 0)
    assert not train.compile and not train.track


def test_of_many_rows_some_are_taken_which_is_told() -> None:
    settings = {"data.n": str(2 * MOST_ROWS)}
    prepared = prepare_plan(PlannedRun(data="moons", model="svm", settings=settings).recipe())
    assert len(prepared.data.train) == MOST_ROWS
    assert len(set(prepared.data.train.targets.tolist())) == 2
    (note,) = stage_for(prepared).opening().numbers["notes"]
    assert note == "the playground takes 5,000 of the 7,000 train rows"


def test_painted_points_take_the_place_of_the_recipes_data() -> None:
    recipe = PlannedRun(data="moons", model="mlp", settings={}).recipe()
    assert prepare_plan(recipe, painted_points(ROWS)).data.name == "painted"
