r"""Batches of pairs of about one length, cut to it: little of them is padding.

    order = a new permutation an epoch; within every 50 batches of it sorted by length;
            then batches, not rows, in a random order
    k     = the least of 1 ... 16 so that k/16 of the longest source and target holds all of a batch

A batch in random order is as wide as the longest of its pairs; sorted ones are nearly equally long.
That pools are sorted, not all rows, keeps batches different from epoch to epoch. Widths are
sixteenths of the longest, so that there are at most 16 shapes, for which memory is found and code
compiled. A CUDA graph of an update serves the batches of its own shape; the others run kernel by
kernel. The order is a pure function of seed and epoch, as every other.

Shapes: N pairs, B batch, S source tokens, T target tokens.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 5.1: "batched together by
approximate sequence length".
"""

from typing import Self

import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.core.trees import Tree
from netwright.data.dataset import Split
from netwright.data.spec import IGNORED, DataSpec

POOL = 50  # batches that are sorted together
STEPS = 16  # widths that a batch may have


class Lengths:
    """How long the pairs of a split are, as shares of the longest.

    Args:
        source_length: S.
        target_length: T.
        shares: of each pair (N,), on the CPU: the larger of source and target by the longest.
    """

    def __init__(self, source_length: int, target_length: int, shares: Tensor) -> None:
        self.source_length, self.target_length, self.shares = source_length, target_length, shares

    @classmethod
    def of(cls, split: Split, spec: DataSpec) -> Self:
        """Those of encoded pairs; what else is refused."""
        if spec.inputs != "pairs" or spec.sentinels:
            kind = "equally long texts" if spec.sentinels else spec.inputs
            raise ConfigError(f"by_length is for pairs of texts, this data has {kind}")
        source, told = split_pairs(split.inputs, spec.source_length)
        padding = IGNORED if spec.padding is None else spec.padding  # which is no token
        read = _last(source.ne(padding)).double() / source.shape[1]
        said = _last(split.targets.ne(IGNORED)).double() / told.shape[1]
        return cls(source.shape[1], told.shape[1], torch.maximum(read, said).cpu())

    def order(self, seed: int, epoch: int, batch_size: int) -> Tensor:
        """The rows of an epoch (N,): batch after batch, in each of about one length."""
        random = generator(seed, "order", epoch)
        drawn = torch.randperm(len(self.shares), generator=random)
        pools = torch.split(drawn, POOL * batch_size)
        rows = torch.cat([pool[self.shares[pool].argsort(stable=True)] for pool in pools])
        whole = len(rows) // batch_size
        batches = rows[: whole * batch_size].view(whole, batch_size)
        mixed = batches[torch.randperm(whole, generator=random)].flatten()
        return torch.cat((mixed, rows[whole * batch_size :]))  # the last batch may be smaller

    def cut(self, inputs: Tree, targets: Tensor, rows: Tensor) -> tuple[Tree, Tensor]:
        """Pairs (B, S + T) and targets (B, T) without the columns that only pad them.

        Args:
            inputs: of these rows; they become source and told, (B, S') and (B, T').
            targets: of these rows.
            rows: their places in the split, on the CPU: nothing waits for the device.
        """
        step = int((self.shares[rows].max() * STEPS).ceil().clamp_min(1))
        source, told = split_pairs(inputs, self.source_length)
        width = _part(self.target_length, step)
        return (
            (source[:, : _part(self.source_length, step)], told[:, :width]),
            targets[:, :width],
        )


def split_pairs(inputs: Tree, source_length: int) -> tuple[Tensor, Tensor]:
    """Sources and what a decoder is told, of pairs (B, S + T) or of those that `cut` gave."""
    if isinstance(inputs, Tensor):
        return inputs[:, :source_length], inputs[:, source_length:]
    source, told = inputs
    return source, told


def _last(counts: Tensor) -> Tensor:
    """The number of the last place of each row (N, T) that counts, from 1; 0: none does."""
    places = torch.arange(1, counts.shape[1] + 1, device=counts.device)
    return (counts * places).amax(dim=1)


def _part(length: int, step: int) -> int:
    return -(-length * step // STEPS)
