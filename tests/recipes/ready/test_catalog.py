"""Ready-made recipes: every file is in the table, is a recipe, and gives way to what is typed."""

import re
from pathlib import Path

import pytest

from netwright.apps.cli.typed_recipe import normal_form, typed_recipe
from netwright.core.errors import UnknownNameError
from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import build_optimizer
from netwright.optimizers.plateau import PlateauRates
from netwright.optimizers.schedules import build_schedule
from netwright.recipes.plan.recipe import Recipe, parse_recipe
from netwright.recipes.ready import catalog
from netwright.recipes.ready.catalog import READY, names_ready, recipe_path
from tests.repetition import for_each
from tests.train.toy_runs import toy_net


def recipe_of(name: str) -> Recipe:
    values = normal_form(READY[name].read())
    if values["data"]["name"] == "images":
        values["data"]["path"] = "pictures"  # a folder that the user names
    return parse_recipe(values)


def test_every_file_is_in_the_table_and_every_row_has_its_file() -> None:
    files = {f"ready/{path.stem}" for path in Path(catalog.__file__).parent.glob("*.yaml")}
    assert set(READY) == files


@for_each("name", READY)
def test_is_a_recipe_with_a_sentence(name: str) -> None:
    assert READY[name].sentence.endswith(".")
    recipe = recipe_of(name)
    assert recipe.train.epochs is not None


def test_what_is_typed_wins() -> None:
    values = typed_recipe(
        [Path("ready/mnist-cnn")], None, "digits", 3, ["model.hidden=16"], {}, {"epochs": 2}
    )
    recipe = parse_recipe(values)
    assert (recipe.model, recipe.data, recipe.seed) == ("cnn", "digits", 3)
    assert (recipe.train.epochs, recipe.train.schedule) == (2, "cosine")


def test_a_file_of_a_ready_name_is_no_recipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert names_ready("ready/a.csv")
    assert not names_ready("elsewhere/mnist-cnn")
    assert not names_ready("mlp")
    Path("ready").mkdir()
    Path("ready/a.csv").touch()
    assert not names_ready("ready/a.csv")


def test_a_file_of_ones_own_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = Path("ready/mnist-cnn")
    own.parent.mkdir()
    own.write_text("model: mlp")
    assert recipe_path(own) == own
    assert recipe_path(Path("elsewhere/mnist-cnn")) == Path("elsewhere/mnist-cnn")


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    sentence = "unknown recipe 'ready/mnist-cn'; did you mean 'ready/mnist-cnn'?"
    with pytest.raises(UnknownNameError, match=f"^{re.escape(sentence)}$"):
        recipe_path(Path("ready/mnist-cn"))


@pytest.mark.covers("resnet-bag-of-tricks")
def test_residual_networks_are_trained_as_in_their_paper() -> None:
    recipe = recipe_of("ready/resnet")
    train = recipe.train
    assert (train.batch_size, train.lr, train.weight_decay) == (256, 0.1, 1e-4)
    assert (train.optimizer, train.schedule) == ("momentum", "plateau")
    assert OPTIMIZERS.load("momentum").presets["momentum"] == 0.9
    assert not hasattr(recipe.model_settings, "dropout")
    optimizer = build_optimizer(train.rule, toy_net(), lr=train.lr)
    rates = build_schedule(
        train.schedule, optimizer, steps=100, steps_per_epoch=1, options=train.schedule_options
    )
    assert isinstance(rates, PlateauRates)
    seen = []
    for _ in range(16):  # a measure that stays the same
        seen.append(round(optimizer.param_groups[0]["lr"], 6))
        optimizer.step()
        rates.step()
        rates.see(1.0)
    assert list(dict.fromkeys(seen)) == [0.1, 0.01, 0.001]
