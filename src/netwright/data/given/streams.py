"""A Hugging Face `IterableDataset` as it is given: a stream of rows, in batches of 32.

Its columns of numbers and of tokens are read (without tokens also those of vectors), the others are
left out: `labels` or `label` is the target, or `target=` names it; tokens alone are predicted from
those before them. A stream that is shuffled is so anew in each epoch, and repeats where its seed is
given: `stream.shuffle(seed=0)`.

Several processes read the same rows, and each takes its part of every batch. A run that goes on
enters the stream behind what it has read; one with a shuffled buffer is read again up to there.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from numbers import Number
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from netwright.core.config import Config
from netwright.core.errors import ConfigError, DataError
from netwright.data.batches.reading import TARGET_KEYS
from netwright.data.dataset import Data
from netwright.data.given.form import GivenForm, is_of
from netwright.data.given.given import Given
from netwright.data.given.hugging_face import PARTS, unpacked
from netwright.data.given.loaders import LoaderConfig, from_loader
from netwright.data.given.token_columns import TOKENS, filled, next_tokens, token_inputs
from netwright.data.spec import IGNORED

BATCH = 32
# Steps of a stream that say their whole place; others, such as BufferShuffled..., forget rows.
ENTERED = {
    *("ExamplesIterable", "ArrowExamplesIterable", "RebatchedArrowExamplesIterable"),
    *("SelectColumnsIterable", "StepExamplesIterable", "FormattedExamplesIterable"),
    *("MappedExamplesIterable", "FilteredExamplesIterable"),
    *("SkipExamplesIterable", "TakeExamplesIterable", "RepeatExamplesIterable"),
    *("CyclingMultiSourcesExamplesIterable", "RandomlyCyclingMultiSourcesExamplesIterable"),
    *("VerticallyConcatenatedMultiSourcesExamplesIterable",),
    *("HorizontallyConcatenatedMultiSourcesExamplesIterable",),
}

is_dict = is_of("datasets", "IterableDatasetDict")
is_stream = is_of("datasets", "IterableDataset")


class Collate:
    """Makes a batch of rows that are dicts.

    Args:
        target: the column to predict; empty: one of the usual names.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self.vectors: list[str] | None = None  # columns, by the first batch

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
        """The columns of numbers and tokens, by name."""
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        targets = {self.target} if self.target else {*TARGET_KEYS}
        tokens = {name: column for name, column in columns.items() if _is_tokens(column)}
        inputs = {name: column for name, column in tokens.items() if name not in targets}
        batch = token_inputs(inputs) if inputs else {}
        batch |= {name: filled(tokens[name], IGNORED) for name in tokens if name in targets}
        if TOKENS in inputs and not targets & {*columns}:
            batch["labels"] = next_tokens(batch)
        vectors = [] if inputs else self._vectors(columns, tokens)
        batch |= {
            name: torch.as_tensor(column)
            for name, column in columns.items()
            if _is_numbers(column) or name in vectors
        }
        if self.target in columns and self.target not in batch:
            raise DataError(
                f"column {self.target!r} of a stream must have numbers or tokens, got "
                f"{columns[self.target][0]!r:.40}: give stream.map(...) that numbers them"
            )
        if not batch:
            raise DataError(
                f"the rows of a stream must have numbers or tokens, got {', '.join(columns)}: "
                f"give stream.map(...) with a tokenizer"
            )
        return batch

    def _vectors(self, columns: Mapping[str, list[Any]], tokens: Container[str]) -> list[str]:
        """The columns of lists of reals; in a batch of one row any list would be of one length."""
        if self.vectors is None:
            self.vectors = [
                name
                for name, column in columns.items()
                if name not in tokens and _is_vectors(column)
            ]
        for name in self.vectors:
            if not _is_vectors(columns.get(name, [None])):
                raise DataError(
                    f"column {name!r} of a stream must have vectors of one length, as in its first "
                    f"{BATCH} rows: give stream.map(...) that makes them, or "
                    f"stream.remove_columns({name!r})"
                )
        return self.vectors


def _is_numbers(column: Sequence[Any]) -> bool:
    return all(isinstance(value, Number) for value in column)


def _is_vectors(column: Sequence[Any]) -> bool:
    are_lists = all(isinstance(value, list) and _is_numbers(value) for value in column)
    return are_lists and len({len(value) for value in column}) == 1


def _is_tokens(column: Sequence[Any]) -> bool:
    return all(
        isinstance(value, list) and all(isinstance(one, int) for one in value) for value in column
    )


def _load(given: Given, config: LoaderConfig) -> Data:
    loaders = {}
    for name in PARTS:
        stream = getattr(given, name)
        if stream is None:
            continue
        if not is_stream(stream):
            raise ConfigError(
                f"{name} must be an IterableDataset as the data is, got {type(stream).__name__}"
            )
        collate = Collate(config.target)
        loaders[name] = DataLoader(stream.with_format(None), BATCH, collate_fn=collate)
    stream = loaders["data"].dataset
    entered = stream if can_be_entered(stream) else None
    return from_loader(replace(given, **loaders), config, is_stream=True, stream=entered)


def can_be_entered(stream: Any) -> bool:
    """Whether a stream gives the rows behind its place: one that shuffles a buffer forgets it."""
    return hasattr(stream, "load_state_dict") and all(
        type(step).__name__ in ENTERED for step in _steps(getattr(stream, "_ex_iterable", None))
    )


def _steps(step: Any) -> Iterator[Any]:
    """A step of a stream, and all that its rows come from."""
    yield step
    for name in ("ex_iterable", "ex_iterables"):
        before = getattr(step, name, ())
        for one in before if isinstance(before, list | tuple) else (before,):
            yield from _steps(one)


def _settings(_source: Any, _given: Mapping[str, Any]) -> type[Config]:
    return LoaderConfig


STREAM = GivenForm(
    name="a Hugging Face IterableDataset",
    recognises=lambda source: is_dict(source) or is_stream(source),
    settings=_settings,
    load=_load,
    unpack=lambda given: unpacked(given) if is_dict(given.data) else given,
    has_rows=False,
)
