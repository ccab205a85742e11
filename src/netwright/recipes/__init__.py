"""Recipes: model, data, training and seed as one config; a run is what a recipe leaves.

`doctor`, `explain` and `search` are packages here; as functions they are `nw.doctor` and so on.
"""

from typing import TYPE_CHECKING

from netwright.core.lazy_names import homes_in, lazy_names

if TYPE_CHECKING:
    from netwright.recipes.estimators.scikit_learn import NetClassifier as NetClassifier
    from netwright.recipes.estimators.scikit_learn import NetRegressor as NetRegressor
    from netwright.recipes.exchange.import_run import import_run as import_run
    from netwright.recipes.fitting.find_lr import find_lr as find_lr
    from netwright.recipes.fitting.fit import fit as fit
    from netwright.recipes.fitting.fit import prepare as prepare
    from netwright.recipes.fitting.prepared import Prepared as Prepared
    from netwright.recipes.fitting.verify_resume import verify_resume as verify_resume
    from netwright.recipes.judging.compare import compare as compare
    from netwright.recipes.judging.comparison import Comparison as Comparison
    from netwright.recipes.judging.cross_validate import cross_validate as cross_validate
    from netwright.recipes.judging.cross_validation import CrossValidation as CrossValidation
    from netwright.recipes.plan.recipe import Recipe as Recipe
    from netwright.recipes.plan.recipe import parse_recipe as parse_recipe
    from netwright.recipes.plan.regularizers import REGULARIZERS as REGULARIZERS
    from netwright.recipes.ready.catalog import READY as READY
    from netwright.recipes.run.look_inside import inspect as inspect
    from netwright.recipes.run.look_inside import inspectable as inspectable
    from netwright.recipes.run.run import Run as Run
    from netwright.recipes.run.run import open_run as open_run
    from netwright.recipes.saved.verify import verify as verify
    from netwright.recipes.views.catalog import VIEWS as VIEWS

_HOMES = homes_in(
    __name__,
    {
        "estimators.scikit_learn": ["NetClassifier", "NetRegressor"],
        "exchange.import_run": ["import_run"],
        "fitting.find_lr": ["find_lr"],
        "fitting.fit": ["fit", "prepare"],
        "fitting.prepared": ["Prepared"],
        "fitting.verify_resume": ["verify_resume"],
        "judging.compare": ["compare"],
        "judging.comparison": ["Comparison"],
        "judging.cross_validate": ["cross_validate"],
        "judging.cross_validation": ["CrossValidation"],
        "plan.recipe": ["Recipe", "parse_recipe"],
        "plan.regularizers": ["REGULARIZERS"],
        "ready.catalog": ["READY"],
        "run.look_inside": ["inspect", "inspectable"],
        "run.run": ["Run", "open_run"],
        "saved.verify": ["verify"],
        "views.catalog": ["VIEWS"],
    },
)
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
