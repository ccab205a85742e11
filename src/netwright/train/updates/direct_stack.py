r"""Forward and backward of a stack of layers worked by hand, on a CPU.

    z = x W^T + b,  dR/dW = delta^T x,  dR/db = sum_i delta_i,  dR/dx = delta W,    delta = dR/dz

torch's autograd records each operation and then goes back through its records; for a small network
that takes a good part of the step. Of layers that are called one after the other the order is
known. Autograd goes back through the loss, whatever it is, down to the logits; from there on the
kernels are called that it would call, in the same order, so that gradients have the same bits.

Shapes: B examples, D inputs and K outputs of a layer.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeGuard, cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.modules import module as of_all_modules

from netwright.core.trees import Tree
from netwright.layers.module_hooks import count_hooks
from netwright.layers.stack import layers_in_order
from netwright.train.settings import TrainConfig
from netwright.train.tasks.task import Task

DEVICE = "cpu"
aten = torch.ops.aten
# dR/dx of y = phi(x) from (phi, dR/dy, x, y), by the kernels that torch's autograd calls.
SLOPES: Mapping[type[nn.Module], Callable[[Any, Tensor, Tensor, Tensor], Tensor]] = {
    nn.Identity: lambda _phi, delta, _x, _y: delta,
    nn.ReLU: lambda _phi, delta, _x, y: aten.threshold_backward(delta, y, 0),
    nn.Sigmoid: lambda _phi, delta, _x, y: aten.sigmoid_backward(delta, y),
    nn.Tanh: lambda _phi, delta, _x, y: aten.tanh_backward(delta, y),
    nn.SiLU: lambda _phi, delta, x, _y: aten.silu_backward(delta, x),
    nn.GELU: lambda phi, delta, x, _y: aten.gelu_backward(delta, x, approximate=phi.approximate),
    nn.LeakyReLU: lambda phi, delta, x, _y: aten.leaky_relu_backward(
        delta, x, phi.negative_slope, False
    ),
    nn.ELU: lambda phi, delta, x, _y: aten.elu_backward(delta, phi.alpha, 1, 1, False, x),
}


class _Stage(Protocol):
    """A layer, both ways."""

    def forward(self, x: Tensor) -> tuple[Tensor, Any]:
        """(B, D) -> (B, K), and what the way back needs."""

    def learns(self) -> bool:
        """Whether it has weights that want a gradient."""

    def back(self, kept: Any, delta: Tensor, *, further: bool) -> Tensor:
        """Add the gradients of the weights, given dR/dy; gives dR/dx where it goes further."""


class _Affine:
    """z = x W^T + b."""

    def __init__(self, layer: nn.Linear) -> None:
        self.own = layer._parameters  # a weight that is replaced is used from then on

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        weight, bias = self._weights()
        return functional.linear(x, weight, bias), x

    def learns(self) -> bool:
        return any(weight is not None and weight.requires_grad for weight in self._weights())

    def back(self, kept: Tensor, delta: Tensor, *, further: bool) -> Tensor:
        weight, bias = self._weights()
        if weight.requires_grad:
            _add(weight, torch.mm(delta.t(), kept))
        if bias is not None and bias.requires_grad:
            _add(bias, delta.sum(0))
        return torch.mm(delta, weight) if further else delta

    def _weights(self) -> tuple[Tensor, Tensor | None]:
        return cast(Tensor, self.own["weight"]), self.own["bias"]


class _Activation:
    """y = phi(x)."""

    def __init__(self, phi: nn.Module) -> None:
        self.phi, self.slope = phi, SLOPES[type(phi)]

    def forward(self, x: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        y: Tensor = self.phi.forward(x)
        return y, (x, y)

    def learns(self) -> bool:
        return False

    def back(self, kept: tuple[Tensor, Tensor], delta: Tensor, *, further: bool) -> Tensor:
        return self.slope(self.phi, delta, *kept) if further else delta


class _Drop:
    """y = x m / (1 - p), where each m is 0 with probability p and 1 otherwise."""

    def __init__(self, layer: nn.Dropout) -> None:
        self.layer = layer

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        p = self.layer.p
        if not self.layer.training or not p:
            return x, None
        kept = torch.empty_like(x).bernoulli_(1 - p).div_(1 - p)  # as torch draws it
        return x * kept, kept

    def learns(self) -> bool:
        return False

    def back(self, kept: Tensor | None, delta: Tensor, *, further: bool) -> Tensor:
        return delta if kept is None else delta * kept


class _Flat:
    """The numbers of an example in a row; nothing below it learns."""

    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        return x.flatten(1), None

    def learns(self) -> bool:
        return False

    def back(self, kept: None, delta: Tensor, *, further: bool) -> Tensor:
        return delta


class DirectStack:
    """A network whose gradients are worked by hand.

    Args:
        network: the stack.
        layers: of it, in order.
    """

    def __init__(self, network: nn.Module, layers: Sequence[nn.Module]) -> None:
        self.network, self.layers = network, list(layers)
        self.stages = [_stage(layer) for layer in layers]
        self.flattens = isinstance(layers[0], nn.Flatten)
        self.modules, self.weights = list(network.modules()), list(network.parameters())
        self.kept: list[Any] = []
        self.logits: Tensor | None = None

    def __call__(self, inputs: Tree) -> Any:
        """What the network gives; a batch that it does not take goes the usual way."""
        self.kept, self.logits = [], None  # of a batch that an error ended
        return self._forward(inputs) if self._takes(inputs) else self.network(inputs)

    def _takes(self, inputs: Tree) -> TypeGuard[Tensor]:
        """Whether a batch can go through: the layers are as they were, and nobody watches them.

        A single row is laid out as its own transpose, of which autograd may take another kernel.
        """
        if type(inputs) is not Tensor or len(inputs) < 2 or inputs.requires_grad:
            return False
        if inputs.ndim != 2 and not self.flattens:
            return False
        if any(map(count_hooks, self.modules)) or any(map(_is_hooked, self.weights)):
            return False
        if torch.is_autocast_enabled(DEVICE) or not self._is_as_built():
            return False
        return not of_all_modules._has_any_global_hook()  # type: ignore[no-untyped-call]

    def _is_as_built(self) -> bool:
        """Whether no callback has put another layer in the place of one, or changed its kind."""
        now = layers_in_order(self.network) or []
        return len(now) == len(self.layers) and all(map(_is_same, now, self.layers))

    def _forward(self, inputs: Tensor) -> Tensor:
        """The logits (B, C), down to which autograd goes back through the loss."""
        x, self.kept, had_slopes = inputs, [], torch.is_grad_enabled()
        torch._C._set_grad_enabled(False)  # `no_grad` makes three objects for it each time
        try:
            for stage in self.stages:
                x, kept = stage.forward(x)
                self.kept.append(kept)
        finally:
            torch._C._set_grad_enabled(had_slopes)
        self.logits = x.detach().requires_grad_()
        return self.logits

    def backward(self) -> None:
        """Add the gradients of the weights, once autograd has left that of the logits."""
        kept, logits, self.kept, self.logits = self.kept, self.logits, [], None
        if logits is None or logits.grad is None:
            return  # the batch went another way, or the loss does not depend on it
        delta, stages = logits.grad, self.stages
        lowest = next((i for i, stage in enumerate(stages) if stage.learns()), len(stages))
        torch._C._set_grad_enabled(False)
        try:
            for place in range(len(stages) - 1, lowest - 1, -1):
                delta = stages[place].back(kept.pop(), delta, further=place > lowest)
        finally:
            torch._C._set_grad_enabled(True)


def direct_stack(network: nn.Module, task: Task, config: TrainConfig) -> DirectStack | None:
    """How a network is trained by hand; None where it is left to autograd.

    Args:
        network: on the device where it is trained.
        task: what for; a loss of the caller's own may look at more than logits.
        config: of the training.
    """
    layers, weights = layers_in_order(network), list(network.parameters())
    if task.own_loss is not None or not layers or not weights or not all(map(_is_known, layers)):
        return None
    # With second derivatives, compiled or computed again, the pass is not torch's plain one.
    is_plain = config.precision == "fp32" and not (
        config.rule.closure or config.compile or config.activation_checkpointing
    )
    own = [id(weight) for layer in layers for weight in layer.parameters()]
    is_usual = all(
        type(weight) is nn.Parameter and weight.device.type == DEVICE and weight.is_floating_point()
        for weight in weights
    )
    # A weight that two layers share has one gradient, which autograd adds up in its own order.
    return (
        DirectStack(network, layers)
        if is_plain and is_usual and sorted(own) == sorted(map(id, weights))
        else None
    )


def _is_known(layer: nn.Module) -> bool:
    kind, own = type(layer), vars(layer)  # asked of every layer in every step
    if "forward" in own:
        return False
    if kind is nn.Flatten:
        return (own["start_dim"], own["end_dim"]) == (1, -1)
    if kind is nn.Dropout:
        return bool(own["p"] < 1)
    return kind is nn.Linear or (kind in SLOPES and not own.get("inplace"))


def _stage(layer: nn.Module) -> _Stage:
    if isinstance(layer, nn.Linear):
        return _Affine(layer)
    if isinstance(layer, nn.Dropout):
        return _Drop(layer)
    return _Flat() if isinstance(layer, nn.Flatten) else _Activation(layer)


def _add(weight: Tensor, gradient: Tensor) -> None:
    """As autograd does: the first gradient is kept, others are added to it."""
    weight.grad = gradient if weight.grad is None else weight.grad.add_(gradient)


def _is_same(layer: nn.Module, before: nn.Module) -> bool:
    return layer is before and _is_known(layer)


def _is_hooked(weight: Tensor) -> bool:
    return bool(weight._backward_hooks or weight._post_accumulate_grad_hooks)
