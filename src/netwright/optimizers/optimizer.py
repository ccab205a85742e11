"""A named optimizer: torch's class, what it may be given, and its card."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import nn

from netwright.core.card import Card
from netwright.core.checks import nearest
from netwright.core.errors import ConfigError

Kernel = Literal["auto", "fused", "foreach"]


@dataclass(frozen=True, kw_only=True)
class OptimizerEntry:
    """A row's part in the catalog of optimizers.

    Args:
        make: an ordinary torch optimizer.
        lr: a good first learning rate.
        presets: settings that go with the name (momentum for "momentum"); options override them.
        fused: torch has a fused kernel for it.
        closure: a step asks for the loss again, so it needs a function that computes it.
        card: sentence, formula, symbols, source.
    """

    make: type[torch.optim.Optimizer]
    lr: float
    presets: Mapping[str, Any] = field(default_factory=dict)
    fused: bool = False
    closure: bool = False
    card: Card

    def options(self) -> list[str]:
        """The settings that may be given beside lr and weight_decay."""
        hidden = {"self", "params", "lr", "weight_decay", "foreach", "fused", "capturable"}
        hidden |= {"maximize", "differentiable"}
        return [name for name in inspect.signature(self.make).parameters if name not in hidden]


def build_optimizer(
    entry: OptimizerEntry,
    model: nn.Module,
    *,
    lr: float | None = None,
    weight_decay: float = 0.0,
    kernel: Kernel = "auto",
    options: Mapping[str, Any] | None = None,
) -> torch.optim.Optimizer:
    """An optimizer for the parameters of a model that are to be learned.

    Args:
        entry: which one.
        model: whose parameters.
        lr: the learning rate; None takes the entry's.
        weight_decay: as torch's class of this name understands it.
        kernel: "fused" does a step in one kernel a tensor list, "foreach" in a few; "auto" takes
            the fused one where torch has it.
        options: further settings of torch's class (betas, eps, momentum ...).
    """
    known = entry.options()
    for name in options or {}:
        if name not in known:
            hint = nearest(name, known) or f"; there are {', '.join(known)}"
            raise ConfigError(f"unknown option {name!r} of {entry.make.__name__}{hint}")
    settings: dict[str, Any] = {"lr": entry.lr if lr is None else lr, **entry.presets}
    settings.update({name: _as_torch(value) for name, value in (options or {}).items()})
    accepted = inspect.signature(entry.make).parameters
    if weight_decay and "weight_decay" not in accepted:
        raise ConfigError(f"{entry.make.__name__} has no weight_decay, got {weight_decay}")
    if "weight_decay" in accepted:
        settings["weight_decay"] = weight_decay  # torch's AdamW has 0.01 unless told otherwise
    if kernel == "fused" and not entry.fused:
        raise ConfigError(f"{entry.make.__name__} has no fused kernel; use kernel 'foreach'")
    if entry.fused and kernel in {"auto", "fused"}:
        settings["fused"] = True
    elif "foreach" in accepted:
        settings["foreach"] = True
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not learned:
        raise ConfigError("the model has no parameters to learn")
    try:
        return entry.make(learned, **settings)
    except (ValueError, TypeError, LookupError, RuntimeError) as error:
        raise ConfigError(f"{entry.make.__name__}: {error}") from None


def _as_torch(value: Any) -> Any:
    """YAML has lists where torch wants tuples (betas), and reads 1e-8 as text."""
    if isinstance(value, list | tuple):
        return tuple(_as_torch(item) for item in value)
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value
