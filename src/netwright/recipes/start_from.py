"""A new run from the weights of an old one."""

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.recipes.run_folder import read_weights


def take_weights(module: nn.Module, run: Path) -> None:
    """Give a module the best weights of a run; all of its parts must be there, in their shapes."""
    weights = read_weights(run)
    difference = _first_difference(weights, module.state_dict())
    if difference:
        raise ConfigError(f"the weights of {run} do not fit this model: {difference}")
    module.load_state_dict(weights)


def _first_difference(there: Mapping[str, Tensor], here: Mapping[str, Tensor]) -> str:
    for name in [*here, *(name for name in there if name not in here)]:
        was, wanted = _shape(there, name), _shape(here, name)
        if was != wanted:
            return f"{name!r} is {was} there and {wanted} here"
    return ""


def _shape(weights: Mapping[str, Tensor], name: str) -> str:
    if name not in weights:
        return "absent"
    return "x".join(str(size) for size in weights[name].shape) or "one number"
