"""What a batch asks for: floating-point operations forward and back, and what is held in between.

    FLOPs           matrix products, convolutions, attention and recurrent layers
    activations     all that autograd keeps from the forward pass for the backward pass

What is recomputed in the backward pass counts as often as it is computed.

A copy of the model goes forward and back once, so that nothing of the run changes: torch's counter
makes some layers compute their gradients in another order, with other last bits.

Shapes: B batch.
"""

import copy
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from netwright.core.seeding import random_state, set_random_state
from netwright.core.trees import tensors_of
from netwright.data.loading.loader import Batch
from netwright.inspection.inside.flops import counting_flops

CONVOLUTIONS = ("convolution", "cudnn_convolution")


class BatchWork(NamedTuple):
    """What was counted.

    Args:
        forward: floating-point operations of the forward pass and the loss.
        backward: of the backward pass.
        activations: bytes that are kept for the backward pass: neither weights nor the batch.
        convolves: most of the operations are convolutions.
    """

    forward: int
    backward: int
    activations: int
    convolves: bool


def measure_work(
    model: nn.Module,
    batch: Batch,
    loss: Callable[[nn.Module, Batch], Tensor],
) -> BatchWork:
    """Send a batch through a copy of the model and back; whatever fails in that is raised.

    Args:
        model: in training mode; it stays as it is, and so do the generators.
        batch: of the usual size.
        loss: of a model and a batch; nothing of it is compiled, as kernels cannot be counted.
    """
    draws = random_state()
    try:
        copied = copy.deepcopy(model)
        kept = _Kept([*copied.parameters(), *copied.buffers(), *tensors_of(tuple(batch))])
        with counting_flops() as counter:
            with saved_tensors_hooks(kept.note, lambda tensor: tensor):
                value = loss(copied, batch)
            forward = counter.get_total_flops()
            value.backward()  # type: ignore[no-untyped-call]
            whole = counter.get_total_flops()
            by_operation = counter.get_flop_counts().get("Global", {})
    finally:
        set_random_state(draws)
    convolutions = sum(
        count
        for operation, count in by_operation.items()
        if str(operation).removeprefix("aten.").startswith(CONVOLUTIONS)
    )
    return BatchWork(
        forward=forward,
        backward=whole - forward,
        activations=kept.bytes,
        convolves=2 * convolutions > whole,
    )


class _Kept:
    """Adds up the memory of what is kept; several views of one piece of memory are that piece.

    Args:
        known: what is there anyway.
    """

    def __init__(self, known: list[Tensor]) -> None:
        self.seen = {_place(tensor) for tensor in known}
        self.bytes = 0

    def note(self, tensor: Tensor) -> Tensor:
        """Take in one tensor that is kept."""
        place = _place(tensor)
        if place not in self.seen:
            self.seen.add(place)
            self.bytes += tensor.untyped_storage().nbytes()
        return tensor


def _place(tensor: Tensor) -> tuple[torch.device, int]:
    return tensor.device, tensor.untyped_storage().data_ptr()
