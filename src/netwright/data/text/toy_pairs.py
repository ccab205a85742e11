"""Toy pairs: strings of random letters, to be copied or said backwards.

    reverse   cab -> bac          copy   cab -> cab

Nothing can be guessed from the letters before: each must be fetched from its place in the source,
so that a decoder without attention has to carry them all in its state.

Shapes: N strings.
Source: Sutskever, Vinyals and Le (2014), arXiv 1409.3215, section 3.3, on the order of sources;
Graves, Wayne and Danihelka, "Neural Turing Machines" (2014), section 4.1, for the copy task.
"""

from collections.abc import Callable
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Annotated

import torch
from annotated_types import Interval

from netwright.core.config import Doc, Size
from netwright.core.errors import ConfigError
from netwright.data.dataset import Data, Split
from netwright.data.source import Source
from netwright.data.split import hold_out
from netwright.data.synthetic.base import LICENCE, SyntheticConfig, stream
from netwright.data.text.char_tokenizer import CharTokenizer
from netwright.data.text.pair_encoder import PairEncoder


@dataclass(frozen=True, kw_only=True)
class ToyPairsConfig(SyntheticConfig):
    """Which strings are drawn: every length is as likely as every other."""

    n: Annotated[Size, Doc("total number of different strings, including those held out")] = 20_000
    length: Annotated[Size, Doc("maximum letters per string")] = 24
    min_length: Annotated[Size, Doc("minimum letters per string")] = 1
    symbols: Annotated[int, Interval(ge=2, le=26), Doc("size of the alphabet")] = 26

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        if self.min_length > self.length:
            raise ConfigError(
                f"min_length must be at most length, got {self.min_length} and {self.length}"
            )
        lengths = range(self.min_length, self.length + 1)
        most = sum(self.symbols**length for length in lengths) // 2
        if self.n > most:  # the last of all strings would take forever to be drawn
            raise ConfigError(
                f"n must be at most half of the {2 * most} different strings, got {self.n}"
            )


def draw_strings(config: ToyPairsConfig, random: torch.Generator) -> list[str]:
    """So many different strings, in the order in which they were drawn."""
    found: dict[str, None] = {}
    letters = ascii_lowercase[: config.symbols]
    while len(found) < config.n:
        lengths = torch.randint(config.min_length, config.length + 1, (config.n,), generator=random)
        places = torch.randint(config.symbols, (config.n, config.length), generator=random)
        for row, length in zip(places.tolist(), lengths.tolist(), strict=True):
            found["".join(letters[place] for place in row[:length])] = None
    return list(found)[: config.n]


def _load(name: str, config: ToyPairsConfig, answer: Callable[[str], str]) -> Data:
    strings = draw_strings(config, stream(config, name))
    letters = CharTokenizer.fit([ascii_lowercase[: config.symbols]])
    encoder = PairEncoder(
        source=letters,
        target=letters,
        source_length=config.length,
        target_length=config.length + 1,
    )
    inputs, targets = encoder.encode_pairs(strings, [answer(string) for string in strings])
    rows = hold_out(
        config.n, val_size=config.val_size, test_size=config.test_size, seed=config.split_seed
    )
    train, val, test = (Split(inputs=inputs[part], targets=targets[part]) for part in rows)
    return Data(
        name=name,
        spec=encoder.spec,
        train=train,
        val=val if len(val) else None,
        test=test if len(test) else None,
        preprocessor=encoder,
    )


def load_reverse(config: ToyPairsConfig) -> Data:
    """Each string, and the same from its end to its beginning."""
    return _load("reverse", config, lambda string: string[::-1])


def load_copy(config: ToyPairsConfig) -> Data:
    """Each string, and itself."""
    return _load("copy", config, lambda string: string)


REVERSE = Source(
    config=ToyPairsConfig,
    load=load_reverse,
    sentence="strings of random letters, to be reversed",
    origin="drawn by formula",
    licence=LICENCE,
)
COPY = Source(
    config=ToyPairsConfig,
    load=load_copy,
    sentence="strings of random letters, to be copied",
    origin="drawn by formula",
    licence=LICENCE,
)
