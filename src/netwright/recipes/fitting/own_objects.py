"""What a caller hands over in Python where several are trained: each begins with a new module."""

from dataclasses import dataclass

from netwright.data.dataset import Data
from netwright.recipes.fitting.fit import put_together
from netwright.recipes.fitting.own_model import build_own_model
from netwright.recipes.fitting.prepared import Prepared
from netwright.recipes.plan.named_recipe import OwnModel
from netwright.recipes.plan.recipe import Recipe
from netwright.train.own.parts import NO_PARTS, OwnParts


@dataclass(frozen=True)
class OwnObjects:
    """Objects that no recipe can name.

    Args:
        model: the caller's module, of which a copy is trained, or what makes one; None where the
            recipe names its model.
        parts: a loss, an optimizer's class, a training step ...
    """

    model: OwnModel | None = None
    parts: OwnParts = NO_PARTS

    def prepare(self, recipe: Recipe, data: Data) -> Prepared:
        """A recipe put together with them; they stay as they are."""
        model = self.model
        module = None if model is None else build_own_model(model, data.spec, recipe.seed)
        return put_together(recipe, data, module, own=self.parts)


NO_OBJECTS = OwnObjects()
