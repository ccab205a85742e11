"""What a run holds in memory between its updates, by kind."""

from collections.abc import Iterable

from torch import Tensor

from netwright.core.trees import tensors_of
from netwright.train.state import TrainState


def held_bytes(state: TrainState) -> dict[str, int]:
    """Bytes of weights, buffers and the optimizer's state; of what they share, once."""
    return {
        "weights": _bytes(state.model.parameters()),
        "buffers": _bytes(state.model.buffers()),
        "optimizer": _bytes(tensors_of(list(state.optimizer.state.values()))),
    }


def gradient_bytes(state: TrainState) -> int:
    """Bytes of the gradients, while they are there."""
    return _bytes(state.whole_gradients())


def _bytes(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.nbytes for tensor in {id(tensor): tensor for tensor in tensors}.values())
