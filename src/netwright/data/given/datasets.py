"""A torch `Dataset` as it is given: rows by number, of which some are held out.

    TensorDataset of floats      as arrays: features are standardised
    one float tensor a row       read a batch at a time, by workers where they are asked for
    several inputs, or integers  read once into memory, as they are
    an IterableDataset           in batches of 32, as a DataLoader of it

Shapes: N examples.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset

from netwright.core.config import Config, Doc
from netwright.core.errors import ConfigError, DataError, NetwrightError
from netwright.core.seeding import seeded
from netwright.core.trees import join_rows
from netwright.data.arrays import ArraysConfig
from netwright.data.batches.reading import RawBatch, encode_targets
from netwright.data.dataset import Data, Split
from netwright.data.given.arrays import ARRAYS
from netwright.data.given.form import GivenForm
from netwright.data.given.given import Given
from netwright.data.given.loaders import LoaderConfig, from_loader
from netwright.data.given.ready_inputs import AskedKind, ReadyKinds, ready_kinds
from netwright.data.groups import read_groups
from netwright.data.loading.dataset_inputs import DatasetInputs, read_row
from netwright.data.loading.stored import StoredSplit, evenly_spaced
from netwright.data.source import DataConfig
from netwright.data.split import hold_out

STREAM_BATCH = 32
FEW = 5  # rows by which targets that are held at once are confirmed
KNOWN = ("targets", "labels")  # where a data set holds all targets at once, as torchvision's do


@dataclass(frozen=True, kw_only=True)
class DatasetConfig(DataConfig):
    """How a data set becomes data."""

    kind: Annotated[AskedKind, Doc("kind of target; auto: integers are classes, floats real")] = (
        "auto"
    )
    target: Annotated[str, Doc("key of the target where a row is a dict; default: labels")] = ""


def is_dataset(source: Any) -> bool:
    """Whether this is a data set of torch's, or of a class that is made from it."""
    return isinstance(source, Dataset)


def _settings(source: Any, _given: Mapping[str, Any]) -> type[Config]:
    if isinstance(source, IterableDataset):
        return LoaderConfig
    return ArraysConfig if _is_arrays(source) else DatasetConfig


def _is_arrays(source: Any) -> bool:
    """Whether all rows are at hand as one array of floats and one of targets."""
    return (
        isinstance(source, TensorDataset)
        and len(source.tensors) == 2
        and source.tensors[0].is_floating_point()
        and source.tensors[0].ndim in {2, 3, 4}
    )


def _load(given: Given, config: Any) -> Data:
    for name, part in (("validation", given.validation), ("test", given.test)):
        if part is not None and not is_dataset(part):
            raise ConfigError(f"{name} must be a Dataset as the data is, got {type(part).__name__}")
    if isinstance(config, LoaderConfig):
        if given.groups is not None:
            raise ConfigError(
                "groups are for rows that are held out, which a stream has none of: leave out "
                "groups, or give a Dataset with a length"
            )
        return from_loader(_in_batches(given), config)
    if isinstance(config, ArraysConfig):
        return _from_tensors(given, config)
    return from_dataset(given, config)


def _in_batches(given: Given) -> Given:
    parts = {name: getattr(given, name) for name in ("data", "validation", "test")}
    return Given(
        **{
            name: None if part is None else DataLoader(part, batch_size=STREAM_BATCH)
            for name, part in parts.items()
        }
    )


def _from_tensors(given: Given, config: ArraysConfig) -> Data:
    def pair(source: Any, name: str) -> tuple[Any, Any] | None:
        if source is None:
            return None
        if not _is_arrays(source):
            raise ConfigError(f"{name} must be a TensorDataset of two tensors, as the data is")
        inputs, targets = source.tensors
        return inputs, targets

    parts = {name: pair(getattr(given, name), name) for name in ("data", "validation", "test")}
    return ARRAYS.load(replace(given, **parts), config)


def from_dataset(given: Given, config: DatasetConfig) -> Data:
    """A map-style data set as data; rows are held out where none are given for that."""
    parts = {"train": given.data, "validation": given.validation, "test": given.test}
    parts = {name: part for name, part in parts.items() if part is not None}
    first = {name: _first(part, name, config.target) for name, part in parts.items()}
    is_stored = _is_stored(first["train"])
    read = {
        name: _Rows.of(part, first[name], config.target, is_stored=is_stored)
        for name, part in parts.items()
    }
    train = read["train"]
    kinds = ready_kinds(
        train.inputs if train.inputs is not None else first["train"].inputs,
        [rows.targets for rows in read.values()],
        kind=config.kind,
        classes=_attribute(given.data, "classes"),
    )
    splits = {name: rows.split(kinds) for name, rows in read.items()}
    whole = splits["train"]
    rows, val, test = hold_out(
        len(whole),
        val_size=config.val_size,
        test_size=config.test_size,
        seed=config.split_seed,
        classes=whole.targets if kinds.spec.target == "class" else None,
        groups=read_groups(given.groups, len(whole)),
    )
    return Data(
        name=type(given.data).__name__,
        spec=kinds.spec,
        train=whole.take(rows),
        val=splits.get("validation") or (whole.take(val) if len(val) else None),
        test=splits.get("test") or (whole.take(test) if len(test) else None),
        preprocessor=kinds.encoder,
        notes=(kinds.note,) if kinds.note else (),
        test_is_given=given.test is not None,
    )


def _first(dataset: Any, name: str, target: str) -> RawBatch:
    try:
        if not len(dataset):
            raise DataError("the data set is empty")
        with seeded(0):
            return read_row(dataset, 0, target)
    except NetwrightError as error:
        raise type(error)(error if name == "train" else f"{name}: {error}") from None


def _is_stored(first: RawBatch) -> bool:
    """Whether rows are read when they are needed: one float tensor each, and no weight."""
    inputs = first.inputs
    return (
        isinstance(inputs, Tensor)
        and inputs.is_floating_point()
        and inputs.ndim in {2, 3, 4}
        and isinstance(first.targets, Tensor)
        and first.weights is None
    )


@dataclass(frozen=True, kw_only=True)
class _Rows:
    """The rows of one data set: targets in memory, inputs there too or where they are."""

    dataset: Any
    target: str
    targets: Tensor | None
    inputs: Any = None
    weights: Tensor | None = None
    shape: tuple[int, ...] = ()

    @classmethod
    def of(cls, dataset: Any, first: RawBatch, target: str, *, is_stored: bool) -> "_Rows":
        known = _known_targets(dataset, target) if is_stored else None
        shape = tuple(first.inputs.shape[1:]) if is_stored else ()
        if known is not None:
            return cls(dataset=dataset, target=target, targets=known, shape=shape)
        with seeded(0):
            rows = [read_row(dataset, row, target) for row in range(len(dataset))]
        has_targets = isinstance(first.targets, Tensor)
        targets = _joined([row.targets for row in rows], "targets") if has_targets else None
        if is_stored:
            return cls(dataset=dataset, target=target, targets=targets, shape=shape)
        weights = [row.weights for row in rows if row.weights is not None]
        return cls(
            dataset=dataset,
            target=target,
            targets=targets,
            inputs=_joined([row.inputs for row in rows], "inputs"),
            weights=torch.cat(weights) if len(weights) == len(rows) else None,
        )

    def split(self, kinds: ReadyKinds) -> Split:
        if self.targets is None:
            return self._unlabelled()
        targets = encode_targets(self.targets, kinds.encoder.target, kinds.spec.num_outputs)
        if self.inputs is not None:
            return Split(inputs=self.inputs, targets=targets, weights=self.weights)
        stored = DatasetInputs(self.dataset, self.shape, self.target)
        return StoredSplit(stored=stored, targets=targets)

    def _unlabelled(self) -> Split:
        """Rows of one input each, which stands for the target."""
        if not isinstance(self.inputs, Tensor):
            raise DataError(
                "the rows of the data set have several inputs and no target that is one tensor: "
                "give a DataLoader of it, for a loss of your own or a training_step"
            )
        return Split(inputs=self.inputs, targets=self.inputs, weights=self.weights)


def _joined(rows: list[Any], what: str) -> Any:
    try:
        return join_rows(rows)
    except (RuntimeError, ValueError):
        raise DataError(
            f"the {what} of the data set have different shapes: give a DataLoader with a "
            f"collate_fn that brings them to one"
        ) from None


def _known_targets(dataset: Any, target: str) -> Tensor | None:
    """All targets of a data set that holds them; None where it has to be looked through.

    A transform may have changed them: they must be what a few rows give.
    """
    held = _held_targets(dataset)
    if held is None or len(held) != len(dataset):
        return None
    places = evenly_spaced(len(dataset), FEW)
    with seeded(0):
        given = [read_row(dataset, place, target).targets for place in places.tolist()]
    is_so = all(map(torch.equal, given, torch.split(held[places], 1)))
    return held if is_so else None


def _held_targets(dataset: Any) -> Tensor | None:
    if isinstance(dataset, Subset):
        inner = _held_targets(dataset.dataset)
        return None if inner is None else inner[list(dataset.indices)]
    for name in KNOWN:
        held = getattr(dataset, name, None)
        if isinstance(held, Tensor | np.ndarray | list):
            with suppress(TypeError, ValueError, RuntimeError):
                return torch.as_tensor(held)
    return None


def _attribute(dataset: Any, name: str) -> Any:
    """What a data set, or the one that it is a part of, says of itself."""
    found = getattr(dataset, name, None)
    is_part = found is None and isinstance(dataset, Subset)
    return _attribute(dataset.dataset, name) if is_part else found


DATASET = GivenForm(name="a torch Dataset", recognises=is_dataset, settings=_settings, load=_load)
