"""Small texts and models of tokens: what the tests of language modelling and tagging share."""

from bisect import bisect_right

import torch
from torch import Tensor, nn

from netwright.core.seeding import generator, seeded
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data, Split
from netwright.data.loading.loader import Batch
from netwright.data.loading.windows import WindowSplit, scored_once
from netwright.data.spec import IGNORED, DataSpec
from netwright.models.sequence.lstm import LSTM, LSTMConfig

KINDS = 5
CHAIN = torch.tensor(
    [
        [0.0, 0.7, 0.1, 0.1, 0.1],
        [0.1, 0.1, 0.7, 0.1, 0.0],
        [0.2, 0.2, 0.2, 0.2, 0.2],
        [0.9, 0.0, 0.0, 0.0, 0.1],
        [0.0, 0.0, 0.5, 0.5, 0.0],
    ],
    dtype=torch.float64,
)


def markov_text(length: int, seed: int = 0) -> Tensor:
    """Tokens of which each follows from the one before by the chain (length,)."""
    sums, text = CHAIN.cumsum(dim=1).tolist(), [0]
    draws = torch.rand(length - 1, generator=generator(seed, "text"), dtype=torch.float64)
    for draw in draws.tolist():
        text.append(min(bisect_right(sums[text[-1]], draw), KINDS - 1))
    return torch.tensor(text)


def spec_of(window: int) -> DataSpec:
    return DataSpec(
        inputs="tokens",
        input_shape=(window,),
        target="tokens",
        num_outputs=KINDS,
        vocab_size=KINDS,
    )


def text_data(length: int = 109, window: int = 4, stride: int | None = None) -> Data:
    """Windows of a text to learn from, and of another to measure on."""
    return Data(
        name="chain",
        spec=spec_of(window),
        train=WindowSplit(stream=markov_text(length), window=window, stride=stride or window),
        val=scored_once(markov_text(31, seed=1), window),
        preprocessor=ArrayEncoder(input_shape=(window,), target="class", num_outputs=KINDS),
    )


def tagged_data() -> Data:
    """Sentences of up to four words; the tag of a word is its half, but for one."""
    inputs = torch.tensor([[2, 3, 4, 0], [5, 2, 0, 0], [3, 3, 3, 3], [6, 0, 0, 0]])
    targets = torch.tensor([[1, 1, 2, 9], [2, 1, 9, 9], [1, 1, 0, 1], [3, 9, 9, 9]])
    split = Split(inputs=inputs, targets=targets.masked_fill(targets == 9, IGNORED))
    return Data(
        name="words",
        spec=DataSpec(
            inputs="tokens",
            input_shape=(4,),
            target="tags",
            num_outputs=4,
            class_names=("none", "noun", "verb", "end"),
            vocab_size=7,
            padding=0,
        ),
        train=split,
        preprocessor=ArrayEncoder(input_shape=(4,), target="class", num_outputs=4),
    )


def small_lstm(spec: DataSpec, dropout: float = 0.0) -> LSTM:
    with seeded(0):
        return LSTM(LSTMConfig(hidden=6, embedding=4, dropout=dropout), spec)


class Bigrams(nn.Module):
    """The next token from the last alone: a table of logits (V, V)."""

    def __init__(self, logits: Tensor) -> None:
        super().__init__()
        self.logits = nn.Parameter(logits)

    def forward(self, tokens: Tensor) -> Tensor:
        return self.logits[tokens]


def whole(split: Split) -> Batch:
    return Batch(split.inputs, split.targets, split.weights, torch.arange(len(split)))
