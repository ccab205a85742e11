"""An optimizer of one's own: a class, a partial, any function of parameters, or an instance.

optimizer=torch.optim.NAdam, lr=1e-3                     built here, with lr where it is given
optimizer=partial(torch.optim.SGD, lr=0.1, momentum=0.9)
optimizer=lambda parameters: Lion(parameters)
optimizer=torch.optim.SGD(module.parameters(), lr=0.1)
optimizer={"generator": ..., "discriminator": ...}       one for each child of these names
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from netwright.core.checks import nearest
from netwright.core.errors import ConfigError
from netwright.train.own.names import name_of
from netwright.train.own.optimizer_group import OptimizerGroup

OptimizerMaker = Callable[..., Optimizer] | Optimizer
Grouping = Callable[[nn.Module], Sequence[Any]]


def check_own_optimizer(given: Any) -> None:
    """Refuse what is neither an optimizer nor makes one."""
    for one in given.values() if isinstance(given, Mapping) else [given]:
        if not isinstance(one, Optimizer) and not callable(one):
            raise ConfigError(
                "optimizer must be a name, a class, a function of parameters or an optimizer, got "
                f"{type(one).__name__}"
            )
    if isinstance(given, Mapping) and not given:
        raise ConfigError("optimizer must name at least one child of the module, got none")


def build_own_optimizer(
    given: Any,
    module: nn.Module,
    settings: Mapping[str, Any],
    grouping: Grouping | None = None,
) -> Optimizer:
    """The caller's optimizer for a module's parameters.

    Args:
        given: the caller's, or one for each child by its name.
        module: whose parameters it is to move.
        settings: lr, weight_decay and further ones, where they are given.
        grouping: makes the groups of parameters; None: all that are to be learned.
    """
    if isinstance(given, Mapping):
        if grouping is not None:
            raise ConfigError("parameter_groups is for one optimizer, these are several")
        children = dict(module.named_children())
        for name in given:
            if name not in children:
                hint = nearest(str(name), children) or f"; there are {', '.join(children)}"
                raise ConfigError(f"optimizer {name!r} is for no child of the module{hint}")
        return OptimizerGroup(
            {name: _build(one, children[name], settings, None) for name, one in given.items()}
        )
    return _build(given, module, settings, grouping)


def groups_of(grouping: Grouping, module: nn.Module) -> list[Any]:
    """The caller's groups of parameters; refused where they are not the module's."""
    groups = grouping(module)
    if isinstance(groups, dict) or not hasattr(groups, "__iter__"):
        raise ConfigError(
            "parameter_groups must return a list of parameters or of dicts with 'params', got "
            f"{type(groups).__name__}"
        )
    return list(groups)


def _build(
    given: OptimizerMaker,
    module: nn.Module,
    settings: Mapping[str, Any],
    grouping: Grouping | None,
) -> Optimizer:
    if isinstance(given, Optimizer):
        for name in ("parameter_groups",) if grouping is not None else settings:
            raise ConfigError(f"{name} is that of the optimizer that you built: remove {name}")
        optimizer = given
        for group in optimizer.param_groups:  # a schedule that was only tried has moved it
            group["lr"] = group.pop("initial_lr", group.get("lr"))
    else:
        learned = [weight for weight in module.parameters() if weight.requires_grad]
        if not learned:
            raise ConfigError("the model has no parameters to learn")
        optimizer = _made(given, groups_of(grouping, module) if grouping else learned, settings)
    _check(optimizer, module)
    return optimizer


def _made(
    make: Callable[..., Optimizer], parameters: Sequence[Any], settings: Mapping[str, Any]
) -> Optimizer:
    try:
        optimizer = make(parameters, **settings)
    except (TypeError, ValueError, KeyError, RuntimeError) as error:
        raise ConfigError(f"the optimizer {name_of(make)} cannot be built: {error}") from None
    if not isinstance(optimizer, Optimizer):
        kind = type(optimizer).__name__
        raise ConfigError(f"{name_of(make)} must return a torch optimizer, got {kind}")
    return optimizer


def _check(optimizer: Optimizer, module: nn.Module) -> None:
    """Refuse weights that are not the module's, and steps that ask for the loss again."""
    kind, own = type(optimizer).__name__, set(map(id, module.parameters()))
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    strange = sum(id(weight) not in own for weight in weights)
    if strange or not weights:
        raise ConfigError(
            f"{kind} has {strange or 'no'} parameters that are not the model's: build it from "
            "model.parameters()"
            if strange
            else f"{kind} has no parameters: build it from model.parameters()"
        )
    closure = inspect.signature(type(optimizer).step).parameters.get("closure")
    if closure is not None and closure.default is closure.empty:
        raise ConfigError(
            f"{kind} asks for the loss again within a step, which one of your own cannot: use the "
            "name 'lbfgs'"
        )
    if any(group.get("lr") is None for group in optimizer.param_groups):
        raise ConfigError(f"{kind} has no learning rate 'lr' in its groups of parameters")


def given_settings(
    lr: float | None, weight_decay: float, options: Mapping[str, Any]
) -> dict[str, Any]:
    """What a caller's class is built with: only what was said."""
    settings = {} if lr is None else {"lr": lr}
    return {**settings, **({"weight_decay": weight_decay} if weight_decay else {}), **options}


def first_rate(optimizer: torch.optim.Optimizer) -> float:
    """The learning rate that it was built with, of its first group."""
    group = optimizer.param_groups[0]
    return float(group.get("initial_lr", group["lr"]))
