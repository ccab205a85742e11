"""The model of a saved run, built again: its settings and its weights must be of one piece."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import torch
from torch import nn

from netwright.core.adapted_module import AdaptedModule
from netwright.core.config import parse
from netwright.core.devices import device_of, pick_device
from netwright.core.errors import ConfigError, DataError
from netwright.models.catalog import MODELS
from netwright.models.dry_build import check_fits_weights
from netwright.recipes.saved.run_folder import SavedModel
from netwright.train.own.loss import LossCallable, absent_loss, check_own_loss
from netwright.train.own.metrics import check_measurable, read_metrics
from netwright.train.own.model_loss import MODEL, build_own_loss
from netwright.train.tasks.language_modelling import LanguageModelling


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


def trained_model(model: nn.Module | None, saved: SavedModel, folder: Path) -> nn.Module:
    """A model with the weights of a run, as the run called it.

    Args:
        model: the user's own; None: the one that the run names.
        saved: the run's `model/`.
        folder: of the run, for refusals.
    """
    if model is None:
        model = build_saved_model(saved, folder)
    match saved.described.get("adapted"):  # it takes or gives several tensors
        case None:
            pass
        case {"part": None | str() | int() as part, "whole": bool(whole), **rest} if not rest:
            model = AdaptedModule(model, part, gives_whole=whole)
        case _:
            raise DataError(f"{folder} does not say how its model is called")
    with _fitting(folder):
        model.load_state_dict(saved.weights)
    return model


def put_own(
    loss: LossCallable | Literal["model"] | None, metrics: Any, saved: SavedModel, model: nn.Module
) -> None:
    """Give the task of a run the loss that it was trained with, and metrics of one's own."""
    name = saved.described.get("own_loss")
    if loss is not None:
        if name is None:
            raise ConfigError("the run was trained with a loss that has a name: remove loss")
        if loss != MODEL:
            check_own_loss(loss)
        _put_loss(loss, saved, model)
    elif name == MODEL:
        _put_loss(MODEL, saved, model)
    elif name is not None:
        saved.task.own_loss = absent_loss(str(name))
    saved.task.own_metrics = read_metrics(metrics)
    check_measurable(saved.task.own_metrics, saved.spec.target)


def _put_loss(loss: LossCallable | Literal["model"], saved: SavedModel, model: nn.Module) -> None:
    predicts_next = isinstance(saved.task, LanguageModelling) and saved.task.targets_follow
    saved.task.own_loss = build_own_loss(loss, model, predicts_next=predicts_next)
    saved.task.own_loss.to(device_of(model))


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
