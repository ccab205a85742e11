"""The model of a saved run, built again: its settings and its weights must be of one piece."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from torch import nn

from netwright.core.adapted_module import AdaptedModule
from netwright.core.config import parse
from netwright.core.errors import ConfigError, DataError
from netwright.models.catalog import MODELS
from netwright.models.dry_build import check_fits_weights
from netwright.recipes.saved.run_folder import SavedModel


def build_saved_model(saved: SavedModel, folder: Path) -> nn.Module:
    """The untrained model of a run; refused, before it takes memory, where the weights do not fit.

    Args:
        saved: the run's `model/`.
        folder: of the run, for refusals.
    """
    if not saved.described["name"]:
        kind = saved.described["class"]
        raise ConfigError(
            f"{folder} contains your own module, {kind}: pass it as open_run(folder, model)"
        )
    with _fitting(folder):
        kind = MODELS.load(saved.described["name"])
        settings = parse(kind.settings, saved.described["settings"], "model")
        check_fits_weights(lambda: kind.build(settings, saved.spec), saved.weights)
        return kind.build(settings, saved.spec)


def adapted_again(model: nn.Module, saved: SavedModel, folder: Path) -> nn.Module:
    """The model as the run called it: one that takes or gives several tensors is adapted."""
    if "adapted" not in saved.described:
        return model
    match saved.described["adapted"]:
        case {"part": None | str() | int() as part, **rest} if not rest:
            return AdaptedModule(model, part)
    raise DataError(f"{folder} does not say how its model is called")


def put_weights(model: nn.Module, saved: SavedModel, folder: Path) -> None:
    """Give a model the weights of a run."""
    with _fitting(folder):
        model.load_state_dict(saved.weights)


@contextmanager
def _fitting(folder: Path) -> Iterator[None]:
    try:
        yield
    except ConfigError:
        raise
    except Exception as error:  # torch's refusals, or what a model makes of a forged spec
        reason = " ".join(str(error).split())
        raise DataError(f"the weights in {folder} do not fit the model: {reason:.200}") from None
