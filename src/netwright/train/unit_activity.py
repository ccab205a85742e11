"""Units that no longer take part: ReLUs that no example wakes, sigmoids and tanhs that are flat.

A dead unit is 0 on the whole batch, and so is its slope: it learns nothing from any example. A
sigmoid or tanh is flat where its slope is less than a hundredth of its largest.

Activations are seen wherever they are called, as a module or as a function; what a fused kernel
does inside, as torch's LSTM, is not. Each belongs to the layer with weights that was entered last.

Shapes: B batch, C channels or units.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from netwright.core.evaluation import evaluating

FLAT = 0.01  # of the largest slope


class Activity(NamedTuple):
    """Shares of one layer, each None where it has no such units."""

    dead: float | None
    saturated: float | None


def dead_share(outputs: Tensor) -> Tensor:
    """Of ReLU outputs (B, C, ...) of images or (..., C): the units that are 0 everywhere."""
    units = outputs.movedim(1, -1) if outputs.dim() == 4 else outputs
    return (units.reshape(-1, units.shape[-1]) == 0).all(dim=0).float().mean()


def flat_share_of_sigmoid(outputs: Tensor) -> Tensor:
    """The numbers s whose slope s (1 - s) is less than a hundredth of 1/4."""
    return (4 * outputs * (1 - outputs) < FLAT).float().mean()


def flat_share_of_tanh(outputs: Tensor) -> Tensor:
    """The numbers t whose slope 1 - t^2 is less than a hundredth of 1."""
    return (1 - outputs.square() < FLAT).float().mean()


_ATEN = torch.ops.aten
DYING = {_ATEN.relu.default: dead_share, _ATEN.relu_.default: dead_share}
SQUASHING = {
    _ATEN.sigmoid.default: flat_share_of_sigmoid,
    _ATEN.sigmoid_.default: flat_share_of_sigmoid,
    _ATEN.tanh.default: flat_share_of_tanh,
    _ATEN.tanh_.default: flat_share_of_tanh,
}


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Measures what activations put out, by the layer they follow."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.layer = ""
        self.dead: dict[str, list[Tensor]] = {}
        self.flat: dict[str, list[Tensor]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        outputs = func(*args, **(kwargs or {}))
        for shares, found in ((DYING, self.dead), (SQUASHING, self.flat)):
            if func in shares and outputs.numel():
                found.setdefault(self.layer, []).append(shares[func](outputs))
        return outputs


def measure_unit_activity(
    model: nn.Module, inputs: Tensor, layers: Mapping[str, nn.Module]
) -> dict[str, Activity]:
    """How many units of each layer sleep on these inputs (B, ...); means where it has several.

    The model is at rest meanwhile, and nothing is drawn: it is afterwards as it was before.

    Args:
        model: what is looked at.
        inputs: a batch.
        layers: its parts with weights, by name.
    """
    watch = _Watch()

    def enter(name: str) -> Any:
        return lambda *_: setattr(watch, "layer", name)

    handles = [part.register_forward_pre_hook(enter(name)) for name, part in layers.items()]
    devices = [inputs.device] if inputs.is_cuda else []
    try:
        with evaluating(model), torch.random.fork_rng(devices), watch:
            model(inputs)
    finally:
        for handle in handles:
            handle.remove()
    return {
        name: Activity(dead=_mean(watch.dead.get(name)), saturated=_mean(watch.flat.get(name)))
        for name in layers
    }


def _mean(shares: list[Tensor] | None) -> float | None:
    return None if shares is None else round(torch.stack(shares).mean().item(), 4)
