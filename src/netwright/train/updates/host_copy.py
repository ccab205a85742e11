"""Numbers on their way from the device to the host, which nothing waits for."""

import torch
from torch import Tensor


class HostCopy:
    """A copy that is queued behind all work so far.

    Args:
        numbers: on any device; what is written to them later is not in the copy.
    """

    def __init__(self, numbers: Tensor) -> None:
        self._event: torch.Event | None = None
        if not numbers.is_cuda:
            self._numbers = numbers.detach().to("cpu", copy=True)
            return
        self._numbers = torch.empty_like(numbers, device="cpu", pin_memory=True)
        self._numbers.copy_(numbers.detach(), non_blocking=True)
        self._event = torch.Event(numbers.device)
        self._event.record()

    @property
    def is_here(self) -> bool:
        """Whether `read` would give the numbers at once."""
        return self._event is None or self._event.query()

    def read(self) -> Tensor:
        """The numbers on the host; waits for the device where they are not there yet."""
        if self._event is not None:
            self._event.synchronize()
        return self._numbers
