"""What a contest of `transformer_training.py` is, and texts as rows of tokens."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from netwright.data.dataset import Split
from netwright.data.spec import DataSpec
from netwright.data.text.tokenizer import SPECIALS

DROPOUT = 0.1
Weights = Mapping[str, Tensor]


@dataclass(frozen=True, kw_only=True)
class Size:
    """Of a network, and of its batches."""

    layers: int
    heads: int
    width: int
    length: int  # of a source and of a target; of BERT's texts
    batch: int
    vocabulary: int  # words, and the special tokens


@dataclass(frozen=True, kw_only=True)
class Contest:
    """What all learn.

    Args:
        title: what it is.
        model: ours, by name.
        size: of network and batches.
        spec: of the data.
        train: what a turn reads.
        held: what the gate reads.
        peer: builds the yardstick of our weights, (inputs, targets) -> loss.
        yardstick: its name.
        is_compiled: the yardstick itself; otherwise there is a contestant that is.
    """

    title: str
    model: str
    size: Size
    spec: DataSpec
    train: Split
    held: Split
    peer: Callable[[Size, Weights], nn.Module]
    yardstick: str
    is_compiled: bool

    @property
    def device(self) -> torch.device:
        return self.train.targets.device


def numbered(texts: Iterable[Sequence[str]], size: int) -> list[list[int]]:
    """Words by how often they occur, behind the special tokens; the rarest share a number."""
    texts = list(texts)
    common = Counter(word for text in texts for word in text).most_common(size - len(SPECIALS) - 1)
    numbers = {word: rank for rank, (word, _) in enumerate(common, start=len(SPECIALS))}
    return [[numbers.get(word, size - 1) for word in text] for text in texts]


def padded(texts: Sequence[Sequence[int]], length: int, fill: int) -> Tensor:
    return torch.tensor([[*text[:length], *[fill] * (length - len(text))] for text in texts])


def parted(whole: Split, size: Size, steps: int) -> tuple[Split, Split]:
    """As many rows as make so many updates, read several times where there are few; a batch."""
    device = whole.targets.device
    held, rest = torch.arange(len(whole), device=device).split(
        [size.batch, len(whole) - size.batch]
    )
    again = torch.arange(steps * size.batch, device=device) % len(rest)
    return whole.take(rest[again]), whole.take(held)
