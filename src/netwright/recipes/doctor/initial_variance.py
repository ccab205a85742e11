"""How the differences between examples pass through a network before it has learned anything.

    s_l = sqrt(mean_j Var_b z_l[b, j])        the spread of layer l over the batch

Where s_l shrinks to nothing all examples look alike to the last layer; where it grows, units
saturate and the first steps are far too large.

Shapes: B batch, z (B, ...) what a linear layer or a convolution puts out.
Source: He et al., "Delving Deep into Rectifiers" (2015), section 2.2.
"""

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd

from netwright.core.devices import device_of
from netwright.core.finding import Finding
from netwright.core.trees import Tree
from netwright.data.checkup.examination import Unseen
from netwright.data.checkup.wording import counted

MOST_SHRINKING = 100.0  # torch's own start brings LeNet's spread to a twentieth, and it learns
MOST_GROWTH = 10.0  # no usual start makes spreads grow
LEAST_LAYERS = 2  # hidden ones


def measure_spreads(model: nn.Module, inputs: Tree) -> dict[str, float]:
    """Layer -> its spread s_l, in the order of use, first calls only; the model is not changed.

    Batch norm is at work as in the first step; dropout, whose noise would hide a spread, is not.
    """
    model = copy.deepcopy(model).to(device_of(model))  # cuDNN wants weights in one piece
    for part in model.modules():
        part.training = isinstance(part, _BatchNorm)
    spreads: dict[str, float] = {}

    def watch(path: str, part: nn.Module) -> None:
        def keep(module: nn.Module, given: Any, output: Tensor) -> None:
            spreads.setdefault(path, spread(output))

        part.register_forward_hook(keep)

    for path, part in model.named_modules():
        if isinstance(part, nn.Linear | _ConvNd):
            watch(path, part)
    with torch.no_grad():
        model(inputs)
    return spreads


def spread(values: Tensor) -> float:
    """The root of the mean variance over the batch; of no units, 0."""
    if not values.numel():
        return 0.0
    numbers = values if values.is_complex() else values.float()
    return float(numbers.var(dim=0, correction=0).mean().sqrt())


def find_initial_variance(model: nn.Module, inputs: Tree) -> Finding | Unseen | None:
    """A spread at the last hidden layer that is far from that of the inputs."""
    layers = measure_spreads(model, inputs)
    paths, spreads = list(layers)[:-1], list(layers.values())[:-1]  # the last may start at zero
    if len(spreads) < LEAST_LAYERS:
        return Unseen(f"{counted(len(spreads), 'hidden layer')}, wanted at least {LEAST_LAYERS}")
    # Tokens have no spread, and several inputs not the same one.
    is_one = isinstance(inputs, Tensor) and inputs.is_floating_point()
    first = spread(inputs) if is_one else spreads[0]
    last = spreads[-1]
    if not first or first / MOST_SHRINKING <= last <= first * MOST_GROWTH:
        return None
    what = "shrink" if last < first else "grow"  # also to what is not finite
    fix, see = _remedy(model)
    return Finding(
        illness="bad-initial-variance",
        sentence=f"at the start, differences between examples {what} from {first:.2g} to "
        f"{last:.2g} over the {len(spreads)} hidden layers (up to {paths[-1]!r})",
        fix=fix,
        see=see,
    )


def _remedy(model: nn.Module) -> tuple[str, str]:
    """The start that suits the activation, as a setting where the model has one."""
    config = getattr(model, "config", None)
    if getattr(config, "activation", None) == "sigmoid":
        return "Give --set model.initializer=logistic, or --set model.activation=relu", (
            "logistic-init"
        )
    if hasattr(config, "initializer"):
        return "Give --set model.initializer=he-normal", "he-keeps-variance"
    return (
        "Initialise weights with standard deviation sqrt(2 / inputs), as "
        "torch.nn.init.kaiming_normal_ does, or normalise between layers",
        "he-keeps-variance",
    )
