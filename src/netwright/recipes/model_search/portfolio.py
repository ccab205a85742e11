"""Which models of the catalog a search tries on a table: the quick and strong ones first.

A linear model, a forest, boosting on histograms and an MLP err in different ways and take seconds:
a search that has no more time than they need ends with a stack of them.
"""

from collections.abc import Sequence

from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.models.ensembles.ensemble import Ensemble
from netwright.models.model import check_fits

_LATER = ("mlp", "gradient-boosting", "mlp-plr", "table-resnet", "ft-transformer")
USUAL = {  # the quicker kind of trees first: of reals a forest tries every feature at each split
    "class": ("softmax", "random-forest", "hist-boosting", *_LATER),
    "real": ("ridge", "hist-boosting", "random-forest", *_LATER),
}


def choose_models(names: Sequence[str], spec: DataSpec) -> tuple[str, ...]:
    """The models to try: those that are named, or the usual ones for such targets."""
    if spec.inputs != "features" or spec.target not in USUAL:
        what = "labels" if spec.target == "labels" else f"{spec.inputs} -> {spec.target}"
        raise ConfigError(
            f"a search over models is for tables with one class or with reals to predict, this is "
            f"{what}: name a model to search its settings"
        )
    if isinstance(names, str):
        raise ConfigError(f"models must be a list of names, got {names!r}")
    chosen = tuple(dict.fromkeys(names)) or USUAL[spec.target]
    for name in chosen:
        kind = MODELS.load(name)
        if issubclass(kind, Ensemble):
            raise ConfigError(f"models must be single models, got the ensemble {name!r}")
        check_fits(kind, name, spec)
    return chosen
