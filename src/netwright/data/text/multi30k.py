"""Multi30k: captions of photographs in English and German, sentence by sentence, for translation.

Its text has no stated licence, so nothing is downloaded: the files are read where they lie.

Source: Elliott, Frank, Sima'an and Specia, "Multi30K: Multilingual English-German Image
Descriptions" (2016).
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from netwright.core.config import Doc, Size, parse, to_mapping
from netwright.core.errors import ConfigError, DataError, DownloadError
from netwright.data.dataset import Data
from netwright.data.files.locations import cache_folder, find_file
from netwright.data.source import Source
from netwright.data.tables.raw_table import RawTable
from netwright.data.text.pairs import PairsConfig, TextPairsConfig, pairs_data
from netwright.data.text.text_files import read_text
from netwright.data.text.text_rows import joined

Language = Literal["en", "de"]
PARTS = {"train": "train", "val": "val", "test": "test_2016_flickr"}


@dataclass(frozen=True, kw_only=True)
class Multi30kConfig(PairsConfig):
    """Which way is translated, and how texts become tokens."""

    source: Annotated[Language, Doc("language to translate from")] = "en"
    target: Annotated[Language, Doc("language to translate into")] = "de"
    tokenizer: Annotated[
        Literal["char", "word", "bpe", "wordpiece"], Doc("char, word, bpe or wordpiece")
    ] = "bpe"
    vocab_size: Annotated[
        Size, Doc("maximum size of each of the two vocabularies, including special tokens")
    ] = 8_000
    shared_vocabulary: Annotated[bool, Doc("one vocabulary for both languages")] = True

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        if self.source == self.target:
            raise ConfigError(f"source and target must be two languages, got {self.source} twice")


def load_multi30k(config: Multi30kConfig) -> Data:
    """The sentences with the division that they were published with."""
    settings = {**to_mapping(config), "split_column": "split"}
    table = joined("multi30k", load_parts(config), "split")
    return pairs_data(table, parse(TextPairsConfig, settings))


def load_parts(config: Multi30kConfig) -> dict[str, RawTable]:
    """The sentences of each part as they are written, a column a language."""
    parts = {}
    for part, name in PARTS.items():
        sources, targets = (
            _lines(f"{name}.{language}") for language in (config.source, config.target)
        )
        if len(sources) != len(targets):
            raise DataError(
                f"{name} has {len(sources)} lines in {config.source} and {len(targets)} in "
                f"{config.target}: wanted the same number, line by line"
            )
        columns: dict[str, list[str]] = {config.source: sources, config.target: targets}
        parts[part] = RawTable(name=name, columns=columns, positions=range(len(sources)))
    return parts


def _lines(name: str) -> list[str]:
    """The sentences of one file, packed or not."""
    found = find_file("multi30k", f"{name}.gz") or find_file("multi30k", name)
    if found is None:
        raise DownloadError(
            f"multi30k is not on this machine: put {name}.gz and the others into "
            f"{cache_folder('multi30k')} or into multi30k/ in a folder of NETWRIGHT_DATA; they are "
            "at https://github.com/multi30k/dataset in data/task1/raw"
        )
    return [line.strip() for line in read_text(found, "").removesuffix("\n").split("\n")]


SOURCE = Source(
    config=Multi30kConfig,
    load=load_multi30k,
    sentence="31,014 captions in English and German, to be translated; official val split, test of "
    "2016",
    origin="Elliott, Frank, Sima'an and Specia, Multi30K (2016)",
    licence="not stated for the text",
    published=True,
    inputs=("pairs",),
)
