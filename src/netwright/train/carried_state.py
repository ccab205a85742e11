"""What a model carries from batch to batch: it is saved with the weights, but was never learned."""

from typing import Protocol, runtime_checkable

from torch import Tensor, nn


@runtime_checkable
class CarriesState(Protocol):
    """A model that can begin a batch where the last one ended; its buffer `carried` holds how.

    The buffer is not declared: from Python 3.12 on `isinstance` looks for attributes where a module
    does not keep its buffers.
    """

    def carry_state(self, batch_size: int | None) -> None:
        """While training, batches of this many rows go on from each other; None: no longer."""

    def forget(self) -> None:
        """The next batch begins at the beginning."""


def lasting_tensors(model: nn.Module) -> dict[str, Tensor]:
    """All of a model's state by name, but for what it only carries from batch to batch."""
    tensors = dict(model.state_dict())
    if isinstance(model, CarriesState):
        tensors.pop("carried", None)
    return tensors
