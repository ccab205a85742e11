"""Toy pairs: strings of random letters, to be copied or said backwards.

    reverse   cab -> bac          copy   cab -> cab
    prefixed  copy: cab -> cab    and    reverse: cab -> bac, half of the strings each

Nothing can be guessed from the letters before: each must be fetched from its place in the source,
so that a decoder without attention has to carry them all in its state.

Shapes: N strings.
Source: Sutskever, Vinyals and Le (2014), arXiv 1409.3215, section 3.3, on the order of sources;
Graves, Wayne and Danihelka, "Neural Turing Machines" (2014), section 4.1, for the copy task;
Raffel et al. (2019), arXiv 1910.10683, section 2.4, for tasks that are told by a prefix.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import cycle
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

Task = Callable[[str], str]


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


def _load(name: str, config: ToyPairsConfig, tasks: Mapping[str, Task]) -> Data:
    """Strings, and what their tasks say of them, by turns.

    Args:
        name: of the data.
        config: which strings are drawn.
        tasks: what is written before a string -> what is said of it.
    """
    strings = draw_strings(config, stream(config, name))
    letters = CharTokenizer.fit([ascii_lowercase[: config.symbols], *tasks])
    encoder = PairEncoder(
        source=letters,
        target=letters,
        source_length=config.length + max(map(len, tasks)),
        target_length=config.length + 1,
    )
    turns = list(zip(strings, cycle(tasks.items()), strict=False))
    inputs, targets = encoder.encode_pairs(
        [prefix + string for string, (prefix, _) in turns],
        [answer(string) for string, (_, answer) in turns],
    )
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
    return _load("reverse", config, {"": _reversed})


def load_copy(config: ToyPairsConfig) -> Data:
    """Each string, and itself."""
    return _load("copy", config, {"": _copied})


def load_prefixed(config: ToyPairsConfig) -> Data:
    """Two tasks for one model: what stands before a string says which."""
    return _load("prefixed", config, {"copy: ": _copied, "reverse: ": _reversed})


def _copied(string: str) -> str:
    return string


def _reversed(string: str) -> str:
    return string[::-1]


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
PREFIXED = Source(
    config=ToyPairsConfig,
    load=load_prefixed,
    sentence="strings of random letters, to be copied or reversed, as their prefix says",
    origin="drawn by formula",
    licence=LICENCE,
)
