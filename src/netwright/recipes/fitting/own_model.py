"""The model of a run where it is the user's own: a module, or what makes one.

NetClassifier(module)                                  a copy of it learns: fit begins anew
nw.fit(MyNet, data)                                    a class or function without arguments
nw.compare("mlp", lambda spec: nn.Linear(spec.num_features, spec.num_outputs))
"""

import copy
import inspect

from torch import nn

from netwright.core.errors import ConfigError, NetwrightError
from netwright.core.seeding import derive_seed, seeded
from netwright.data.spec import DataSpec
from netwright.recipes.plan.named_recipe import OwnModel

TAKES_SPEC = (
    ": take the sizes from the DataSpec, as num_features and num_outputs, or use functools.partial"
)


def build_own_model(model: OwnModel, spec: DataSpec, seed: int) -> nn.Module:
    """An untrained module: a copy of the one that is given, or a new one.

    Args:
        model: the user's.
        spec: what inputs and targets are, for a function that takes it.
        seed: of the weights that a function draws.
    """
    if isinstance(model, nn.Module):
        return copy.deepcopy(model)
    if not callable(model):
        raise ConfigError(
            "model must be a name, an nn.Module or a function that returns one, got "
            f"{type(model).__name__}"
        )
    wanted = [
        one
        for one in inspect.signature(model).parameters.values()
        if one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    name = getattr(model, "__name__", type(model).__name__)
    if len(wanted) > 1:
        raise ConfigError(
            f"{name} must take nothing, or a DataSpec with num_features and num_outputs, got "
            f"{len(wanted)} arguments: use functools.partial"
        )
    try:
        with seeded(derive_seed(seed, "weights")):
            made = model(spec) if wanted else model()  # type: ignore[call-arg]
    except NetwrightError:
        raise
    except Exception as error:  # whatever a user's function raises, it is told as one sentence
        given = "with a DataSpec" if wanted else "without arguments"
        reason = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
        way_out = TAKES_SPEC if wanted else ""
        raise ConfigError(f"{name}, called {given}, fails: {reason}{way_out}") from error
    if not isinstance(made, nn.Module):
        raise ConfigError(f"{name} must return an nn.Module, got {type(made).__name__}")
    return made
