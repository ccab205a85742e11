"""The model of a saved run, built again: its settings and its weights must be of one piece."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from netwright.core.adapted_module import AdaptedModule
from netwright.core.config import parse
from netwright.core.devices import device_of, pick_device
from netwright.core.errors import ConfigError, DataError
from netwright.models.catalog import MODELS
from netwright.models.dry_build import check_fits_weights
from netwright.recipes.saved.run_folder import SavedModel
from netwright.train.own.loss import LossCallable, OwnLoss, absent_loss, check_own_loss


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
        case {"part": None | str() | int() as part, "whole": bool(whole), **rest} if not rest:
            return AdaptedModule(model, part, gives_whole=whole)
    raise DataError(f"{folder} does not say how its model is called")


def put_loss(loss: LossCallable | None, model: nn.Module, saved: SavedModel) -> None:
    """Give the task of a run the loss of one's own that it was trained with."""
    name = saved.described.get("own_loss")
    if loss is None:
        saved.task.own_loss = None if name is None else absent_loss(str(name))
        return
    if name is None:
        raise ConfigError("the run was trained with a loss that has a name: remove loss")
    check_own_loss(loss)
    saved.task.own_loss = OwnLoss(loss)
    saved.task.own_loss.to(device_of(model))


def put_weights(model: nn.Module, saved: SavedModel, folder: Path) -> None:
    """Give a model the weights of a run."""
    with _fitting(folder):
        model.load_state_dict(saved.weights)


def device_of_training(config: Mapping[str, Any]) -> torch.device:
    """The device that a recipe asks for; where this machine has none such, what `auto` picks."""
    settings = config.get("train")
    name = settings.get("device", "auto") if isinstance(settings, dict) else "auto"
    try:
        return pick_device(str(name))
    except ConfigError:  # a run from another machine
        return pick_device()


@contextmanager
def _fitting(folder: Path) -> Iterator[None]:
    try:
        yield
    except ConfigError:
        raise
    except Exception as error:  # torch's refusals, or what a model makes of a forged spec
        reason = " ".join(str(error).split())
        raise DataError(f"the weights in {folder} do not fit the model: {reason:.200}") from None
