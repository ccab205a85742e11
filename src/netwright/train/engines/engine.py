"""What every engine does, by the one that gives each rank all of the model."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from netwright.core.errors import ConfigError
from netwright.optimizers.optimizer import Kernel
from netwright.train.engines.part import ReadRows
from netwright.train.memory_format import lay_out
from netwright.train.precision import Precision
from netwright.train.ranks import ALONE, Ranks


class Engine:
    """Every rank holds all weights; gradients are summed when the last batch of an update is over.

    Every rank calls the same methods in the same order.

    Args:
        ranks: the processes that train together.
        offload: what a rank holds of weights, gradients and moments waits on the host.
    """

    shards = False  # whether a rank holds a part of each weight only

    def __init__(self, ranks: Ranks = ALONE, *, offload: bool = False) -> None:
        if offload and not self.shards:
            raise ConfigError("offload needs parallel=shard")
        self.ranks, self.offload = ranks, offload

    @property
    def streams(self) -> tuple[int, ...]:
        """The end of the path of a stream of noise: ranks that hold other weights have another."""
        return ()

    def place(
        self,
        model: nn.Module,
        device: torch.device,
        *,
        precision: Precision = "fp32",
        channels_last: bool | None = None,
    ) -> nn.Module:
        """Bring a model to its device; gives the module that is trained.

        Args:
            model: where it was built.
            device: of this rank.
            precision: of the matrix work.
            channels_last: the memory format, see `memory_format.py`.
        """
        model.to(device)
        lay_out(model, channels_last, precision, device)
        return model

    def kernel(self, asked: Kernel, kind: type[Optimizer]) -> Kernel:
        """The kernel of a kind of optimizer where one is asked for, or the quickest that it has."""
        return asked

    def stepping(self, optimizer: Optimizer) -> AbstractContextManager[None]:
        """A block in which an optimizer takes a step."""
        return nullcontext()

    def queues_step(self, optimizer: Optimizer) -> bool:
        """Whether a step works on plain tensors where the work is, and nothing waits for it."""
        return True

    def begin_batch(self, model: nn.Module, *, last: bool) -> None:
        """Before the forward pass of a batch: whether it is the last one of its update."""

    def sum_gradients(self, model: nn.Module) -> None:
        """After the last backward pass of an update: every gradient is that of all ranks."""
        self.ranks.sum_gradients(model)

    def own(self, tensors: Iterable[Tensor]) -> list[Tensor]:
        """What this rank holds of weights, or of tensors like them, in its memory.

        Work on each number by itself is done on these.
        """
        return list(tensors)

    def rows(self, count: int) -> slice:
        """Which of so many rows of a weight this rank holds."""
        return slice(0, count)

    def norm(self, parts: Sequence[Tensor]) -> Tensor:
        """The length of all tensors together, of which these are the own parts."""
        return torch.nn.utils.get_total_norm(parts, foreach=True)

    def whole_norms(self, norms: Tensor) -> Tensor:
        """From the lengths of own parts (N,) to those of whole tensors."""
        return norms

    def taken_apart(self, tree: Any) -> Any:
        """A tree of tensors as it is saved: a `Part` stands for what ranks hold parts of."""
        return tree

    def put_together(self, shape: Sequence[int], read: ReadRows) -> Tensor:
        """What this rank holds of a tensor that was saved in parts.

        Args:
            shape: of the whole.
            read: gives some of its rows.
        """
        return read(0, shape[0])

    def hand_back(self, trained: nn.Module) -> None:
        """Training is over: the model that was placed holds what was learned."""
