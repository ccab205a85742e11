"""What is handed over in Python to be trained more than once: each begins with a copy of it."""

import torch
from torch import nn

from netwright.recipes.fitting.fit import resolve
from netwright.recipes.fitting.own_objects import NO_OBJECTS, OwnObjects
from netwright.train.own.parts import OwnParts


def test_a_recipe_is_put_together_with_a_copy_of_the_module() -> None:
    module, loss = nn.Linear(2, 2), nn.CrossEntropyLoss()
    recipe, data, _ = resolve(module, "moons", device="cpu")
    prepared = OwnObjects(module, OwnParts(loss=loss)).prepare(recipe, data)
    assert prepared.model is not module
    assert torch.equal(next(prepared.model.parameters()), module.weight)
    assert prepared.own.loss is loss
    assert prepared.recipe.own == {"loss": "CrossEntropyLoss()"}


def test_without_any_the_recipe_says_all() -> None:
    recipe, data, _ = resolve("logistic", "moons", device="cpu")
    assert NO_OBJECTS.prepare(recipe, data).recipe.model == "logistic"
