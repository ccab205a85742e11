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

LINEAR = {"class": "softmax", "real": "ridge"}
NETWORKS = ("mlp-plr", "table-resnet", "ft-transformer")


def usual_models(target: str, *, many_rows: bool = False) -> tuple[str, ...]:
    """The models for such targets, the quicker kind of trees first.

    Of reals a forest tries every feature at each split. On many rows it is slow in any case, and
    boosting that looks at every value slower still.
    """
    linear = LINEAR[target]
    if many_rows:
        return (linear, "hist-boosting", "mlp", "random-forest", *NETWORKS, "gradient-boosting")
    trees = ("random-forest", "hist-boosting")
    trees = trees if target == "class" else trees[::-1]
    return (linear, *trees, "mlp", "gradient-boosting", *NETWORKS)


def choose_models(
    names: Sequence[str], spec: DataSpec, *, many_rows: bool = False
) -> tuple[str, ...]:
    """The models to try: those that are named, or the usual ones for such data."""
    if spec.inputs != "features" or spec.target not in LINEAR:
        what = "labels" if spec.target == "labels" else f"{spec.inputs} -> {spec.target}"
        raise ConfigError(
            f"a search over models is for tables with one class or with reals to predict, this is "
            f"{what}: name a model to search its settings"
        )
    if isinstance(names, str):
        raise ConfigError(f"models must be a list of names, got {names!r}")
    chosen = tuple(dict.fromkeys(names)) or usual_models(spec.target, many_rows=many_rows)
    for name in chosen:
        kind = MODELS.load(name)
        if issubclass(kind, Ensemble):
            raise ConfigError(f"models must be single models, got the ensemble {name!r}")
        check_fits(kind, name, spec)
    return chosen
