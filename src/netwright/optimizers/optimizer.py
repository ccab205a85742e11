"""A named optimizer: torch's class, what it may be given, and its card."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import nn

from netwright.core.card import Card
from netwright.core.checks import nearest
from netwright.core.errors import ConfigError
from netwright.optimizers import eager

Kernel = Literal["auto", "fused", "foreach"]
Penalized = Literal["all", "weights"]


@dataclass(frozen=True, kw_only=True)
class OptimizerEntry:
    """A row's part in the catalog of optimizers.

    Args:
        make: an ordinary torch optimizer.
        lr: a good first learning rate.
        presets: settings that go with the name (momentum for "momentum"); options override them.
        fused: torch has a fused kernel for it.
        closure: a step asks for the loss again, so it needs a function that computes it.
        full_gradient: a step may also ask for the gradient over all rows.
        full_batch: a step takes all rows.
        whole_matrices: a step is of matrices as wholes, not of each number by itself.
        card: sentence, formula, symbols, source.
        code: the functions that compute the formula, where that is more than the class's `step`.
    """

    make: type[torch.optim.Optimizer]
    lr: float
    presets: Mapping[str, Any] = field(default_factory=dict)
    fused: bool = False
    closure: bool = False
    full_gradient: bool = False
    full_batch: bool = False
    whole_matrices: bool = False
    card: Card
    code: tuple[Callable[..., Any], ...] = ()

    @property
    def graph(self) -> bool:
        """Whether the closure is to give (loss, outputs) with their graph in place of the loss."""
        return getattr(self.make, "needs_graph", False)

    def options(self) -> list[str]:
        """The settings that may be given beside lr and weight_decay."""
        hidden = {"self", "params", "lr", "weight_decay", "foreach", "fused", "capturable"}
        hidden |= {"maximize", "differentiable", "decoupled_weight_decay"}
        return [name for name in inspect.signature(self.make).parameters if name not in hidden]


def build_optimizer(
    entry: OptimizerEntry,
    model: nn.Module,
    *,
    lr: float | None = None,
    weight_decay: float = 0.0,
    penalize: Penalized = "all",
    kernel: Kernel = "auto",
    options: Mapping[str, Any] | None = None,
    groups: Sequence[Any] | None = None,
) -> torch.optim.Optimizer:
    """An optimizer for the parameters of a model that are to be learned.

    Args:
        entry: which one.
        model: whose parameters.
        lr: the learning rate; None takes the entry's.
        weight_decay: as torch's class of this name understands it.
        penalize: what weight_decay pulls on: all, or the weights without biases and gains.
        kernel: "fused" does a step in one kernel a tensor list, "foreach" in a few; "auto" takes
            the fused one where torch has it; for complex weights it has none.
        options: further settings of torch's class (betas, eps, momentum ...).
        groups: of parameters, as torch takes them, each with settings of its own; None: one group
            of all that are to be learned.
    """
    options = options or {}
    settings: dict[str, Any] = {"lr": entry.lr if lr is None else lr, **entry.presets}
    settings.update({name: _read_option(entry, name, value) for name, value in options.items()})
    accepted = inspect.signature(entry.make).parameters
    if weight_decay and "weight_decay" not in accepted:
        raise ConfigError(f"{entry.make.__name__} has no weight_decay, got {weight_decay}")
    if "weight_decay" in accepted:
        settings["weight_decay"] = weight_decay  # torch's AdamW has 0.01 unless told otherwise
    if kernel == "fused" and not entry.fused:
        raise ConfigError(f"{entry.make.__name__} has no fused kernel; use kernel 'foreach'")
    learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not learned:
        raise ConfigError("the model has no parameters to learn")
    is_complex = any(parameter.is_complex() for parameter in learned)
    if is_complex:
        _check_takes_complex(entry, kernel)
    if entry.fused and kernel in {"auto", "fused"} and not is_complex:
        settings["fused"] = True
    elif "foreach" in accepted:
        settings["foreach"] = True
    try:
        if penalize == "weights" and "weight_decay" in accepted:
            return entry.make(_weights_and_rest(learned), **settings)
        return entry.make(learned if groups is None else groups, **settings)
    except (ValueError, TypeError, LookupError, RuntimeError) as error:
        raise ConfigError(f"{entry.make.__name__}: {error}") from None


def _check_takes_complex(entry: OptimizerEntry, kernel: Kernel) -> None:
    """Refuse complex weights where a rule is of real ones only, as ours are and fused kernels."""
    if entry.make.__module__ != eager.__name__:
        raise ConfigError(
            f"{entry.make.__name__} needs real weights; adam and sgd also take complex ones"
        )
    if kernel == "fused":
        raise ConfigError("torch's fused kernels need real weights; use kernel 'foreach'")


def check_one_group(optimizer: torch.optim.Optimizer) -> None:
    """Refuse groups with settings of their own where one step is solved for all weights."""
    if len(optimizer.param_groups) > 1:
        raise ValueError(
            f"only one parameter group is supported, got {len(optimizer.param_groups)}"
        )


def _read_option(entry: OptimizerEntry, name: str, value: Any) -> Any:
    """An option as torch wants it; an unknown one, or one of another kind, is refused."""
    known, kind = entry.options(), entry.make.__name__
    if name in {"lr", "weight_decay"}:
        raise ConfigError(f"{name} is not an option of {kind}: set train.{name}")
    if name not in known:
        hint = nearest(name, known) or f"; there are {', '.join(known)}"
        raise ConfigError(f"unknown option {name!r} of {kind}{hint}")
    read = _as_torch(value)
    wanted = _what_is_wanted(inspect.signature(entry.make).parameters[name], read)
    if wanted:
        raise ConfigError(f"{name} of {kind} must be {wanted}, got {value!r}")
    return read


def _what_is_wanted(parameter: inspect.Parameter, value: Any) -> str:
    """What such a setting must be, in words, where the value is something else; else nothing."""
    default, hint = parameter.default, parameter.annotation
    if parameter.name == "line_search_fn":
        fits, wanted = value in (None, "strong_wolfe"), "'strong_wolfe' or none"
    elif isinstance(default, bool):
        fits, wanted = isinstance(value, bool), "true or false"
    elif isinstance(default, tuple):
        as_long = isinstance(value, tuple) and len(value) == len(default)
        fits, wanted = as_long and all(map(_is_number, value)), f"{len(default)} numbers"
    elif hint is int:
        fits, wanted = type(value) is int, "a whole number"
    elif hint == int | None:
        fits, wanted = value is None or type(value) is int, "a whole number or none"
    elif isinstance(default, int | float):  # torch writes `momentum: float = 0`
        fits, wanted = _is_number(value), "a finite number"
    else:
        return ""
    return "" if fits else wanted


def _is_number(value: Any) -> bool:
    return type(value) in {int, float} and math.isfinite(value)


def _weights_and_rest(learned: list[nn.Parameter]) -> list[dict[str, Any]]:
    """Two groups: matrices and kernels, which decay, and biases and gains, which do not."""
    weights = [parameter for parameter in learned if parameter.ndim >= 2]
    rest = [parameter for parameter in learned if parameter.ndim < 2]
    groups: list[dict[str, Any]] = [{"params": weights}, {"params": rest, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]


def _as_torch(value: Any) -> Any:
    """YAML has lists where torch wants tuples (betas), and reads 1e-8 as text."""
    if isinstance(value, list | tuple):
        return tuple(_as_torch(item) for item in value)
    if isinstance(value, str):
        for number in (int, float):
            with suppress(ValueError):
                return number(value)
    return value
