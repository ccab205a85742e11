"""The engine, optimizer and schedule of a run: those that settings name, or a caller's own."""

from collections.abc import Mapping

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from netwright.core.adapted_module import AdaptedModule
from netwright.core.devices import pick_device
from netwright.core.errors import ConfigError
from netwright.optimizers.optimizer import build_optimizer
from netwright.optimizers.schedules import build_schedule
from netwright.train.engines.catalog import build_engine
from netwright.train.engines.engine import Engine
from netwright.train.own.optimizer import build_own_optimizer, given_settings, groups_of
from netwright.train.own.optimizer_group import OptimizerGroup
from netwright.train.own.parts import OwnParts
from netwright.train.own.schedule import OwnSchedule, build_own_schedule
from netwright.train.ranks import Ranks
from netwright.train.settings import Pace, TrainConfig

OFFLOADED = ("cuda",)  # devices from which shards can be brought to the host


def build_run_engine(
    config: TrainConfig, own: OwnParts, ranks: Ranks, model: nn.Module, device: torch.device
) -> Engine:
    """How the ranks hold a model.

    Args:
        config: the settings.
        own: what a caller handed over.
        ranks: the processes that train together.
        model: what is trained.
        device: of this rank.
    """
    if config.parallel == "shard":
        check_sharding(config, own, model)
    can_shard = not reason_against_shards(config, own, model)
    named = config.parallel
    return build_engine(named, ranks, model, device, can_shard=can_shard, offload=config.offload)


def build_run_optimizer(
    config: TrainConfig,
    own: OwnParts,
    model: nn.Module,
    *,
    period: int,
    engine: Engine | None = None,
) -> Optimizer:
    """What moves the weights.

    Args:
        config: the settings.
        own: what a caller handed over.
        model: whose weights.
        period: updates of an epoch, after which an optimizer looks at all rows again.
        engine: which kernels can take the weights depends on it.
    """
    if own.optimizer is None:
        entry, grouping = config.rule, own.parameter_groups
        snapshots = {"period": period} if entry.full_gradient else {}
        return build_optimizer(
            entry,
            model,
            lr=config.lr,
            weight_decay=config.weight_decay,
            penalize=config.penalize,
            kernel=(engine or Engine()).kernel(config.kernel, entry.make),
            options={**snapshots, **config.optimizer_options},
            groups=None if grouping is None else groups_of(grouping, model),
        )
    given = given_settings(config.lr, config.weight_decay, config.optimizer_options)
    optimizer = build_own_optimizer(own.optimizer, model, given, own.parameter_groups)
    if isinstance(optimizer, OptimizerGroup):
        for name in ("layer_decay", "unfreeze_every", "l1", "l2"):
            if getattr(config, name):
                raise ConfigError(f"{name} is for one optimizer, these are several")
    return optimizer


def check_own_step(config: TrainConfig, own: OwnParts, ranks: Ranks) -> None:
    """Refuse what a step of the caller's own, or several optimizers, cannot be trained with."""
    if own.training_step is not None and config.rule.closure:
        raise ConfigError(
            f"training_step is not supported with {config.optimizer}, which asks for the loss again"
        )
    if not isinstance(own.optimizer, Mapping):
        return
    if not ranks.is_alone:
        raise ConfigError("several optimizers train in one process")
    refused = {
        "accumulate": (config.accumulate > 1, "1: each takes its own steps"),
        "on_non_finite": (config.on_non_finite == "skip", "stop or roll-back: one has moved"),
        "precision": (config.precision == "fp16-mixed", "fp32 or bf16-mixed"),
    }
    for name, (is_given, wanted) in refused.items():
        if is_given:
            raise ConfigError(f"with several optimizers {name} must be {wanted}")


def check_sharding(config: TrainConfig, own: OwnParts, model: nn.Module) -> None:
    """Refuse what does not go with weights of which each rank holds a part."""
    if reason := reason_against_shards(config, own, model):
        raise ConfigError(
            f"parallel=shard is not supported with {reason}: set parallel to replicate"
        )
    device = pick_device(config.device)
    if config.offload and device.type not in OFFLOADED:
        raise ConfigError(f"offload needs a CUDA device, got {device.type}: set offload to false")


def reason_against_shards(config: TrainConfig, own: OwnParts, model: nn.Module) -> str:
    """What does not go with weights of which each rank holds a part; empty where all does."""
    weights = model.named_parameters()
    numbers = [name for name, weight in weights if weight.ndim == 0 or weight.is_complex()]
    refused = {
        f"precision {config.precision}": config.precision == "fp16-mixed",
        f"the optimizer {config.optimizer}": config.rule.closure or config.rule.whole_matrices,
        "compile": config.compile,
        "unfreeze_every": config.unfreeze_every is not None,
        "carry_state": config.carry_state,
        "profile": config.profile,
        "capture on": config.capture == "on",
        "a training_step of your own": own.training_step is not None,
        "an optimizer of your own that is built already": isinstance(own.optimizer, Optimizer),
        f"{numbers[:1]}, which is one number or complex": bool(numbers),
        # FSDP2 looks for gradients in tensors, tuples and dicts only.
        "a module of several inputs or outputs": isinstance(model, AdaptedModule),
    }
    return next((name for name, is_asked in refused.items() if is_asked), "")


def build_run_schedule(
    config: TrainConfig, own: OwnParts, optimizer: Optimizer, pace: Pace
) -> LRScheduler | OwnSchedule:
    """What moves the learning rate."""
    if own.schedule is not None:
        return build_own_schedule(own.schedule, optimizer)
    return build_schedule(
        config.schedule,
        optimizer,
        steps=pace.all_updates,
        steps_per_epoch=pace.updates,
        warmup=config.warmup,
        options=config.schedule_options,
    )
