"""Token files as data for a language model: a corpus of any size, of which batches are read.

The training part stays in its files. The others are held in memory: they are scored after every
epoch, each token exactly once.

Shapes: N windows, T tokens of each.
"""

from dataclasses import dataclass
from typing import Annotated

import torch

from netwright.core.config import Config, Doc, Positive, Size
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data, Split, check_data
from netwright.data.files.addresses import check_no_password
from netwright.data.loading.token_files import TokenStream
from netwright.data.loading.token_windows import TokenSplit, TokenWindows
from netwright.data.loading.windows import scored_once
from netwright.data.source import Source
from netwright.data.text.corpus_encoder import CorpusEncoder
from netwright.data.text.shards.token_folder import open_token_folder

MOST_HELD = 2**25  # tokens of val or of test that are scored: 268 MB


@dataclass(frozen=True, kw_only=True)
class ShardsConfig(Config):
    """Which folder, and how its tokens are cut into examples."""

    path: Annotated[
        str, Doc("a folder that netwright prepare wrote, or its address, as s3://bucket/shards")
    ] = ""
    window: Annotated[Size, Doc("tokens per example")] = 128
    cache_gb: Annotated[
        Positive, Doc("GB on this machine for copies of token files that lie elsewhere")
    ] = 20.0

    def __post_init__(self) -> None:
        """Refuse what no file may keep."""
        super().__post_init__()
        check_no_password(self.path)


def load_shards(config: ShardsConfig) -> Data:
    """Open token files; what cannot be learned from is refused before any training."""
    if not config.path:
        raise ConfigError("path is empty, wanted a folder that netwright prepare wrote")
    folder = open_token_folder(config.path, config.cache_gb)
    index, tokenizer = folder.index, folder.tokenizer
    if index.vocab_size != tokenizer.size:
        raise DataError(
            f"{config.path} has an index of {index.vocab_size:,} different tokens and a vocabulary "
            f"of {tokenizer.size:,}: run netwright prepare again"
        )
    streams = {part: folder.stream(part) for part, files in index.parts.items() if files}
    for stream in streams.values():
        stream.check_sizes()
    encoder = CorpusEncoder(tokenizer=tokenizer, length=config.window)
    train = TokenSplit(windows=TokenWindows(streams["train"], config.window))
    counted = ", ".join(
        f"{len(stream):,} {part} in {_files(len(stream.files))}" for part, stream in streams.items()
    )
    notes = [f"tokens ({tokenizer.kind}): {counted}"]
    if len(train) < train.total:
        of_first = "" if train.windows.pieces is None else " in files that were copied"
        notes.append(
            f"{len(train):,} of the {train.total:,} training windows, evenly spaced{of_first}, "
            f"stand for all of them in checks, baseline and report"
        )
    held_out = {}
    for part in ("val", "test"):
        if part in streams:
            held_out[part] = _held(streams[part], part, config.window, notes)
    data = Data(
        name=folder.name,
        spec=encoder.spec,
        train=train,
        val=held_out.get("val"),
        test=held_out.get("test"),
        preprocessor=encoder,
        notes=tuple(notes),
        test_is_given="test" in held_out,
    )
    check_data(data)
    return data


def _held(stream: TokenStream, part: str, window: int, notes: list[str]) -> Split:
    """A part in memory; of a long one the beginning, and a note."""
    if len(stream) <= window:
        raise DataError(
            f"the {part} part of {stream.folder} has {len(stream):,} tokens, wanted more than "
            f"window={window}"
        )
    scored = min(len(stream), MOST_HELD)
    if scored < len(stream):
        notes.append(f"the first {scored:,} tokens of {part} are scored")
    return scored_once(stream.read(torch.zeros(1, dtype=torch.int64), scored)[0], window)


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


SOURCE = Source(
    config=ShardsConfig,
    load=load_shards,
    sentence="your own corpus of any size, as token files that netwright prepare wrote",
    origin="your files",
    licence="yours",
    inputs=("tokens",),
)
