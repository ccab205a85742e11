"""Toy tasks on sequences whose answers are known: adding, recall, parity and brackets.

Each asks for one thing that a memory has to do: keep two numbers apart, keep one token long, keep
one bit that changes with every token, keep a stack. No two sequences are the same, so that what is
held out was not seen in training.

Shapes: N sequences, T steps.
Source: Hochreiter and Schmidhuber, "Long Short-Term Memory" (1997), sections 5.2 and 5.4, for
recall and adding; Minsky and Papert, "Perceptrons" (1969), for parity; Chomsky and
Schuetzenberger, "The Algebraic Theory of Context-Free Languages" (1963), for brackets.
"""

import string
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate
from math import comb
from random import Random
from typing import Annotated

import torch
from annotated_types import Ge, Interval
from torch import Tensor

from netwright.core.config import Doc, Size
from netwright.core.errors import ConfigError
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data, Split, check_data
from netwright.data.preprocessing import Preprocessor
from netwright.data.series.symbols import PADDING, SymbolEncoder
from netwright.data.source import Source
from netwright.data.spec import DataSpec
from netwright.data.split import hold_out
from netwright.data.synthetic.base import LICENCE, SyntheticConfig, stream

NOISE = "01"  # what recall has to look past
PAIRS = ("()", "[]", "{}")


@dataclass(frozen=True, kw_only=True)
class AddingConfig(SyntheticConfig):
    """Two of many numbers are marked; their sum is asked for."""

    n: Annotated[Size, Doc("total number of sequences, including those held out")] = 20_000
    length: Annotated[int, Ge(2), Doc("steps per sequence")] = 100


def load_adding(config: AddingConfig) -> Data:
    """Series (T, 2): a number of [0, 1) and a mark, which is 1 once in each half; the sum of both.

    Who always says 1 is off by the variance of the sum, 2 / 12 = 0.167 in mean square.
    """
    random = stream(config, "adding")
    numbers = torch.rand(config.n, config.length, generator=random)  # (N, T)
    half = config.length // 2
    first = torch.randint(0, half, (config.n, 1), generator=random)
    second = torch.randint(half, config.length, (config.n, 1), generator=random)
    marks = torch.zeros_like(numbers).scatter_(1, torch.cat((first, second), dim=1), 1.0)
    spec = DataSpec(
        inputs="series",
        input_shape=(config.length, 2),
        target="real",
        num_outputs=1,
        target_names=("sum",),
    )
    encoder = ArrayEncoder(input_shape=spec.input_shape, target="real", num_outputs=1)
    inputs = torch.stack((numbers, marks), dim=2)  # (N, T, 2)
    sums = (numbers * marks).sum(dim=1, keepdim=True)  # (N, 1)
    return _held_out("adding", config, spec, encoder, Split(inputs=inputs, targets=sums))


@dataclass(frozen=True, kw_only=True)
class RecallConfig(SyntheticConfig):
    """The first symbol is asked for when all the noise after it has gone by."""

    n: Annotated[Size, Doc("total number of sequences, including those held out")] = 4_000
    length: Annotated[int, Ge(2), Doc("tokens per sequence")] = 100
    symbols: Annotated[
        int,
        Interval(ge=2, le=26),
        Doc("number of different first tokens, A, B ..., one class each"),
    ] = 8


def load_recall(config: RecallConfig) -> Data:
    """One of A, B ..., then 0s and 1s by chance; the class is the first token.

    Over a few steps there are few sequences: they may repeat then, and a note says so.
    """
    random = stream(config, "recall")
    names = string.ascii_uppercase[: config.symbols]
    different = config.symbols * len(NOISE) ** (config.length - 1)
    is_rich = 2 * config.n <= different

    def draw(rows: Tensor) -> Tensor:
        noise = torch.randint(0, len(NOISE), (len(rows), config.length - 1), generator=random)
        return torch.cat((rows[:, None] % config.symbols, config.symbols + noise), dim=1) + 1

    tokens = draw_distinct(config.n, draw) if is_rich else draw(torch.arange(config.n))
    encoder = SymbolEncoder(symbols=names + NOISE, length=config.length, class_names=tuple(names))
    data = _symbol_data("recall", config, encoder, tokens, tokens[:, 0] - 1)
    if is_rich:
        return data
    note = f"there are {different} different sequences for {config.n} rows: splits share some"
    return replace(data, notes=(note,))


@dataclass(frozen=True, kw_only=True)
class VaryingConfig(SyntheticConfig):
    """Sequences of different lengths; the short ones teach what the long ones ask."""

    n: Annotated[Size, Doc("total number of sequences, including those held out")] = 10_000
    length: Annotated[int, Ge(2), Doc("maximum tokens per sequence")] = 20
    min_length: Annotated[int, Ge(2), Doc("minimum tokens per sequence")] = 2

    def __post_init__(self) -> None:
        """Refuse lengths that leave nothing between them."""
        super().__post_init__()
        if self.min_length > self.length:
            raise ConfigError(
                f"min_length must be at most length, got {self.min_length} and {self.length}"
            )


@dataclass(frozen=True, kw_only=True)
class ParityConfig(VaryingConfig):
    """Whether there is an even or an odd number of ones: every token counts."""

    def __post_init__(self) -> None:
        """Refuse more sequences than can be drawn."""
        super().__post_init__()
        different = sum(2**length for length in range(self.min_length, self.length + 1))
        if 2 * self.n > different:  # the last of all would take forever to be drawn
            raise ConfigError(
                f"n must be at most half of the {different} different sequences, got {self.n}"
            )


def load_parity(config: ParityConfig) -> Data:
    """Bits by chance, of a length by chance; the class is their sum modulo 2."""
    random = stream(config, "parity")
    shortest, longest = config.min_length, config.length

    def draw(rows: Tensor) -> Tensor:
        lengths = torch.randint(shortest, longest + 1, (len(rows), 1), generator=random)
        bits = torch.randint(0, 2, (len(rows), longest), generator=random)
        return torch.where(torch.arange(longest) < lengths, bits + 1, PADDING)

    tokens = draw_distinct(config.n, draw)
    encoder = SymbolEncoder(symbols="01", length=longest, class_names=("even", "odd"))
    ones = (tokens - 1).clamp(min=0).sum(dim=1)  # padding adds nothing
    return _symbol_data("parity", config, encoder, tokens, ones % 2)


@dataclass(frozen=True, kw_only=True)
class BracketsConfig(VaryingConfig):
    """Whether every bracket is closed by its own kind and in its own turn."""

    kinds: Annotated[
        int, Interval(ge=1, le=3), Doc("kinds of brackets: (), [] and {}; one kind needs no stack")
    ] = 2

    def __post_init__(self) -> None:
        """Refuse lengths without an even one between them, and more texts than can be drawn."""
        super().__post_init__()
        if self.min_length == self.length and self.length % 2:
            raise ConfigError(f"brackets come in pairs, got min_length = length = {self.length}")
        # Catalan's numbers. At least as many are unbalanced: exchange the first with the last.
        balanced = sum(comb(2 * p, p) // (p + 1) * self.kinds**p for p in self.pairs)
        if self.n > balanced:  # half of the rows are balanced; the last would take forever
            raise ConfigError(f"n must be at most the {balanced} balanced texts, got {self.n}")

    @property
    def pairs(self) -> range:
        """How many pairs a text may have."""
        return range((self.min_length + 1) // 2, self.length // 2 + 1)


def load_brackets(config: BracketsConfig) -> Data:
    """Even rows are balanced; in each odd one two brackets of the row before changed places.

    So both classes have the same brackets, and counting them tells nothing.
    """
    random = Random(int(torch.randint(2**62, (), generator=stream(config, "brackets"))))
    encoder = SymbolEncoder(
        symbols="".join(PAIRS[: config.kinds]),
        length=config.length,
        class_names=("balanced", "unbalanced"),
    )

    def draw(rows: Tensor) -> Tensor:
        counts = random.choices(config.pairs, k=len(rows))
        texts = [balanced_brackets(count, config.kinds, random) for count in counts]
        both = (encoder.encode(texts), encoder.encode([spoiled(text, random) for text in texts]))
        return torch.stack(both, dim=1)  # (M, 2, T)

    tokens = draw_distinct((config.n + 1) // 2, draw).flatten(0, 1)[: config.n]
    return _symbol_data("brackets", config, encoder, tokens, torch.arange(config.n) % 2)


def balanced_brackets(pairs: int, kinds: int, random: Random) -> str:
    """A balanced text, each with the same chance.

    Of n openings and n + 1 closings in a circle, exactly one reading has its first shortage at the
    very last closing (the cycle lemma); without that one it is balanced.
    """
    steps = [1] * pairs + [-1] * (pairs + 1)
    random.shuffle(steps)
    heights = list(accumulate(steps))
    start = heights.index(min(heights)) + 1
    text, waiting = "", []
    for step in (steps[start:] + steps[:start])[:-1]:
        if step == 1:
            waiting.append(random.choice(PAIRS[:kinds]))
            text += waiting[-1][0]
        else:
            text += waiting.pop()[1]
    return text


def spoiled(text: str, random: Random) -> str:
    """A balanced text in which two brackets changed places, so that it is balanced no more."""
    while True:
        first, second = random.sample(range(len(text)), 2)
        brackets = [*text]
        brackets[first], brackets[second] = brackets[second], brackets[first]
        if not is_balanced("".join(brackets)):
            return "".join(brackets)


def is_balanced(text: str) -> bool:
    """Whether taking out neighbours that close each other, again and again, leaves nothing."""
    left = ""
    while text != left:
        left = text
        for pair in PAIRS:
            text = text.replace(pair, "")
    return not text


def draw_distinct(n: int, draw: Callable[[Tensor], Tensor]) -> Tensor:
    """Rows 0 to n - 1 of tokens (N, T), or of groups of them (N, G, T), in which none occurs twice.

    Args:
        n: how many; `draw` must have clearly more to draw from.
        draw: tokens for rows of these numbers, (M,) -> (M, ..., T). A row that repeats something
            of a row above is drawn again.
    """
    numbers = torch.arange(n)
    tokens = draw(numbers)
    while len(again := numbers[_repeats(tokens)]):
        tokens[again] = draw(again)
    return tokens


def _repeats(tokens: Tensor) -> Tensor:
    """Whether something of each row stands higher up already: (N, ..., T) -> (N,)."""
    seen: set[bytes] = set()
    found = []
    for row in tokens.numpy():
        contents = {sequence.tobytes() for sequence in row.reshape(-1, row.shape[-1])}
        found.append(not seen.isdisjoint(contents))
        if not found[-1]:
            seen |= contents
    return torch.tensor(found)


def _symbol_data(
    name: str, config: SyntheticConfig, encoder: SymbolEncoder, tokens: Tensor, classes: Tensor
) -> Data:
    spec = DataSpec(
        inputs="tokens",
        input_shape=(encoder.length,),
        target="class",
        num_outputs=len(encoder.class_names),
        class_names=encoder.class_names,
        target_names=("y",),
        vocab_size=len(encoder.symbols) + 1,
        padding=PADDING,
    )
    return _held_out(name, config, spec, encoder, Split(inputs=tokens, targets=classes))


def _held_out(
    name: str, config: SyntheticConfig, spec: DataSpec, encoder: Preprocessor, whole: Split
) -> Data:
    """All examples as data, divided by chance."""
    train, val, test = hold_out(
        len(whole),
        val_size=config.val_size,
        test_size=config.test_size,
        seed=config.split_seed,
        classes=whole.targets if spec.target == "class" else None,
    )
    data = Data(
        name=name,
        spec=spec,
        train=whole.take(train),
        val=whole.take(val) if len(val) else None,
        test=whole.take(test) if len(test) else None,
        preprocessor=encoder,
    )
    check_data(data)
    return data


ADDING = Source(
    config=AddingConfig,
    load=load_adding,
    sentence="add the two marked numbers; series of 100 steps, 1 real target",
    origin="Hochreiter and Schmidhuber, Long Short-Term Memory (1997)",
    licence=LICENCE,
)
RECALL = Source(
    config=RecallConfig,
    load=load_recall,
    sentence="a symbol and 99 noise tokens: recall the symbol; 8 classes",
    origin="Hochreiter and Schmidhuber, Long Short-Term Memory (1997)",
    licence=LICENCE,
)
PARITY = Source(
    config=ParityConfig,
    load=load_parity,
    sentence="2 to 20 bits: is the number of ones even or odd",
    origin="Minsky and Papert, Perceptrons (1969)",
    licence=LICENCE,
)
BRACKETS = Source(
    config=BracketsConfig,
    load=load_brackets,
    sentence="2 to 20 brackets of two kinds: balanced, or with two of them swapped",
    origin="Chomsky and Schuetzenberger, The Algebraic Theory of Context-Free Languages (1963)",
    licence=LICENCE,
)
