"""netwright: train, see and prove everything a deep-learning course teaches.

    import netwright as nw
    run = nw.fit("mlp", "digits", epochs=20)
    run.evaluate()

Names are loaded when they are first used, so importing the package costs nothing.
"""

from typing import TYPE_CHECKING

from netwright.core.lazy_names import lazy_names
from netwright.core.version import VERSION

if TYPE_CHECKING:
    from netwright import backprop as backprop
    from netwright import data as data
    from netwright import decoding as decoding
    from netwright import inspection as inspection
    from netwright import layers as layers
    from netwright import losses as losses
    from netwright import metrics as metrics
    from netwright import models as models
    from netwright import optimizers as optimizers
    from netwright import recipes as recipes
    from netwright import theory as theory
    from netwright import train as train
    from netwright.core.errors import NetwrightError as NetwrightError
    from netwright.data.dataset import Data as Data
    from netwright.data.spec import DataSpec as DataSpec
    from netwright.recipes.doctor.doctor import doctor as doctor
    from netwright.recipes.estimators.scikit_learn import NetClassifier as NetClassifier
    from netwright.recipes.estimators.scikit_learn import NetRegressor as NetRegressor
    from netwright.recipes.exchange.import_run import import_run as import_run
    from netwright.recipes.explain.explain import explain as explain
    from netwright.recipes.fitting.find_lr import find_lr as find_lr
    from netwright.recipes.fitting.fit import fit as fit
    from netwright.recipes.judging.compare import compare as compare
    from netwright.recipes.judging.compare_runs import compare_runs as compare_runs
    from netwright.recipes.judging.cross_validate import cross_validate as cross_validate
    from netwright.recipes.judging.group_metrics import evaluate_groups as evaluate_groups
    from netwright.recipes.model_search.search_models import search_models as search_models
    from netwright.recipes.run.look_inside import inspect as inspect
    from netwright.recipes.run.look_inside import inspectable as inspectable
    from netwright.recipes.run.run import Run as Run
    from netwright.recipes.run.run import open_run as open_run
    from netwright.recipes.saved.load_recipe import load_recipe as load_recipe
    from netwright.recipes.saved.run_list import list_runs as list_runs
    from netwright.recipes.saved.run_notes import note_run as note_run
    from netwright.recipes.saved.verify import verify as verify
    from netwright.recipes.search.search import search as search
    from netwright.train.callback import Callback as Callback
    from netwright.train.settings import TrainConfig as TrainConfig
    from netwright.train.trainer import Trainer as Trainer

__version__ = VERSION

_HOMES = {
    "Callback": "netwright.train.callback",
    "Data": "netwright.data.dataset",
    "DataSpec": "netwright.data.spec",
    "NetClassifier": "netwright.recipes.estimators.scikit_learn",
    "NetRegressor": "netwright.recipes.estimators.scikit_learn",
    "NetwrightError": "netwright.core.errors",
    "Run": "netwright.recipes.run.run",
    "TrainConfig": "netwright.train.settings",
    "Trainer": "netwright.train.trainer",
    "backprop": "netwright.backprop",
    "compare": "netwright.recipes.judging.compare",
    "compare_runs": "netwright.recipes.judging.compare_runs",
    "cross_validate": "netwright.recipes.judging.cross_validate",
    "data": "netwright.data",
    "decoding": "netwright.decoding",
    "doctor": "netwright.recipes.doctor.doctor",
    "evaluate_groups": "netwright.recipes.judging.group_metrics",
    "explain": "netwright.recipes.explain.explain",
    "find_lr": "netwright.recipes.fitting.find_lr",
    "fit": "netwright.recipes.fitting.fit",
    "import_run": "netwright.recipes.exchange.import_run",
    "inspect": "netwright.recipes.run.look_inside",
    "inspectable": "netwright.recipes.run.look_inside",
    "inspection": "netwright.inspection",
    "layers": "netwright.layers",
    "list_runs": "netwright.recipes.saved.run_list",
    "load_recipe": "netwright.recipes.saved.load_recipe",
    "losses": "netwright.losses",
    "metrics": "netwright.metrics",
    "models": "netwright.models",
    "note_run": "netwright.recipes.saved.run_notes",
    "open_run": "netwright.recipes.run.run",
    "optimizers": "netwright.optimizers",
    "recipes": "netwright.recipes",
    "search": "netwright.recipes.search.search",
    "search_models": "netwright.recipes.model_search.search_models",
    "theory": "netwright.theory",
    "train": "netwright.train",
    "verify": "netwright.recipes.saved.verify",
}
__getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
