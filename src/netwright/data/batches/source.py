"""A loader of the caller's own as a source of batches that can be begun again at any of them.

Batch k of epoch e depends on (seed, e) alone, as far as a loader draws from the generators that
programs share, or from those that it or its sampler names. Workers that persist are not seeded
anew. Whether batches repeat is checked: those that a resumed run reads again must have the checksum
that they had.

Shapes: B rows of a batch.
"""

import gc
import itertools
import json
import random
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from netwright.core.errors import DataError, NetwrightError, RunError
from netwright.core.files.json_text import json_value
from netwright.core.seeding import derive_seed
from netwright.core.trees import tensors_of
from netwright.data.batches.own_draws import OwnDraws
from netwright.data.batches.reading import RawBatch, read_batch

NO_BATCH = "the loader gives no batch: its data set is empty, or drop_last leaves out the only one"
ENDED = (
    "the loader gives no batch when it is begun again: give an object that can be iterated over "
    "more than once, not a generator"
)
DONE = object()
FIRST, EVERY = 4, 16  # so many first batches, and then every so many, are in a checksum


class Place(NamedTuple):
    """How far an epoch was read, and the checksum of some of its batches up to there.

    A stream that can be entered there has said, as JSON, where it is; empty: it is read again. The
    checksum of the epoch's first batch tells whether it is the same stream.
    """

    epoch: int
    batches: int
    checksum: int
    stream: str = ""
    first: int = 0


class BatchSource:
    """Reads a loader epoch by epoch.

    Args:
        loader: an iterable of batches: a `DataLoader`, or what is used like one.
        target: the key of the targets, where batches are dicts.
        is_stream: the loader reads a stream of rows as it comes: it gives the same batches to every
            process, of which each takes its part.
        stream: the stream, where it can say its place and be entered there.
    """

    def __init__(
        self,
        loader: Iterable[Any],
        target: str = "",
        *,
        is_stream: bool = False,
        stream: "Enterable | None" = None,
    ) -> None:
        self.loader, self.target = loader, target
        self.is_stream, self.stream = is_stream, stream
        self._turn = self._first = 0
        self.place = Place(0, 0, 0)
        self.expected: Place | None = None  # where the run that goes on had come to
        self.may_differ = False  # batches that are read again
        self.differs = False

    @property
    def count(self) -> int | None:
        """Batches of an epoch, as the loader says; None where it does not know."""
        try:
            return len(self.loader)  # type: ignore[arg-type]
        except (TypeError, NotImplementedError):
            return None

    @property
    def rows(self) -> int | None:
        """Rows of an epoch, where a sampler knows them and no batch is left out."""
        sampler = getattr(self.loader, "sampler", None)
        if getattr(self.loader, "batch_size", None) is None or getattr(
            self.loader, "drop_last", False
        ):
            return None
        try:
            return len(sampler)  # type: ignore[arg-type]
        except (TypeError, NotImplementedError):
            return None

    def read(self, seed: int, epoch: int, length: int, *, start: int = 0) -> Iterator[RawBatch]:
        """So many batches of one epoch in order, from batch number `start` on.

        A loader that ends before is begun again.

        Args:
            seed: of the run.
            epoch: its number.
            length: batches of the epoch.
            start: batches that were used before; they are read again and compared, but of a
                stream that is entered behind them only the first.
        """
        before = random.getstate()
        known = self.expected if self.expected is not None else self.place
        is_entered = self._enter(known, seed, epoch, start)
        number = start if is_entered else 0  # enumerate would hold a batch until it has the next
        checksum = known.checksum if is_entered else 0
        items = self._endless(seed, epoch, is_entered=is_entered)
        for item in itertools.islice(items, length - number):
            if is_entered and number == start:
                random.setstate(before)
            batch = self._batch(item, epoch, number)
            if number < FIRST or number % EVERY == 0:
                checksum = _checksum(batch, checksum)
            self._first = self._first if number else checksum
            number += 1
            if number <= start:
                if number == start:
                    random.setstate(before)  # that of the run that goes on
                    if known[:2] == (epoch, start):
                        self._compare(known, is_same=checksum == known.checksum)
                continue
            self.place, self.expected = Place(epoch, number, checksum), None
            yield batch
            del item, batch  # before the next one is made, so that it takes the same, warm memory

    def kept_place(self) -> Place:
        """The place, with that of the stream in its first turn, where it can say it."""
        if self.stream is None or self._turn or not self.place.batches:
            return self.place
        stream = json.dumps(self.stream.state_dict())
        return self.place._replace(stream=stream, first=self._first)

    def _enter(self, known: Place, seed: int, epoch: int, start: int) -> bool:
        """Whether the stream was told to begin behind the batches that were used."""
        if self.stream is None or not known.stream or not start or known[:2] != (epoch, start):
            return False
        items = self._items(derive_seed(seed, "batches", epoch, 0), epoch)
        self._first = sum(
            _checksum(self._batch(item, epoch, 0), 0) for item in itertools.islice(items, 1)
        )
        self._compare(known, is_same=self._first == known.first)
        self.stream.load_state_dict(json_value(known.stream))
        return True

    def _endless(self, seed: int, epoch: int, *, is_entered: bool) -> Iterator[Any]:
        """The loader over and over; each time is an epoch to its generators."""
        for turn in itertools.count():
            self._turn = turn
            items = self._items(derive_seed(seed, "batches", epoch, turn), epoch)
            first = next(items, DONE)
            if is_entered and self.stream is not None:
                is_entered = False
                self.stream.load_state_dict({})  # or every turn of this epoch would begin there
                if first is DONE:  # the run had come to the end of this turn
                    continue
            if first is DONE:
                raise DataError(ENDED if turn else NO_BATCH)
            yield first
            del first
            yield from items

    def measure(self, seed: int) -> Iterator[RawBatch]:
        """The batches of a pass that is only looked at: always the same, and the place stays."""
        before = random.getstate()
        items = self._items(derive_seed(seed, "measured batches"), 0)
        try:
            for number, item in enumerate(items):
                yield self._batch(item, 0, number)
        finally:
            random.setstate(before)

    def _items(self, seed: int, epoch: int) -> Iterator[Any]:
        """What the loader gives, each drawn by the epoch's own generators."""
        random.seed(seed)
        draws = OwnDraws(seed)
        _seed_generators(self.loader, seed, epoch)
        number = 0
        try:
            with draws, _kept_from_forks() if self._has_workers() else nullcontext():
                items = iter(self.loader)
            while True:
                with draws:
                    item = next(items, DONE)
                if item is DONE:
                    return
                number += 1
                yield item
                del item  # before the next one is made, so that it takes the same, warm memory
        except NetwrightError:
            raise
        except Exception as error:  # whatever a loader raises, it is told as one sentence
            lines = str(error).strip().splitlines()
            # A worker's error is told as a traceback, whose last line says what it is.
            told = lines[-1] if "Traceback" in str(error) else lines[0] if lines else ""
            reason = f"{type(error).__name__}: {told}" if told else type(error).__name__
            raise RunError(
                f"the loader failed on batch {number} of epoch {epoch + 1}: {reason}"
            ) from error

    def _has_workers(self) -> bool:
        return bool(getattr(self.loader, "num_workers", 0))

    def _batch(self, item: Any, epoch: int, number: int) -> RawBatch:
        try:
            return read_batch(item, self.target)
        except NetwrightError as error:
            raise type(error)(f"batch {number} of epoch {epoch + 1}: {error}") from None

    def _compare(self, known: Place, *, is_same: bool) -> None:
        """Refuse to go on with other batches than the run has learned from."""
        self.differs = not is_same
        if self.differs and not self.may_differ:
            persists = getattr(self.loader, "persistent_workers", False)
            hint = ", and persistent_workers=False lets workers repeat theirs" if persists else ""
            raise DataError(
                f"the loader does not repeat its batches: the {known.batches} of epoch "
                f"{known.epoch + 1} are not those that this run has used, so it cannot be resumed "
                f"exactly; allow='data' goes on with what the loader gives now{hint}"
            )


class Enterable(Protocol):
    """A stream that says its place as plain values, as those of Hugging Face do."""

    def state_dict(self) -> dict[str, Any]:
        """Its place."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Begin there when it is iterated over next."""


@contextmanager
def _kept_from_forks() -> Iterator[None]:
    """Let processes that are forked meanwhile never collect what exists now.

    What an earlier run on CUDA left to the collector may hold an event of the device, and whoever
    frees one in a fork is ended by torch.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _seed_generators(loader: Any, seed: int, epoch: int) -> None:
    """Seed the generators that a loader, its samplers and its data set name, and tell the epoch."""
    batch_sampler = getattr(loader, "batch_sampler", None)
    owners = {
        "loader": loader,
        "sampler": getattr(loader, "sampler", None),
        "batch sampler": batch_sampler,
        "inner sampler": getattr(batch_sampler, "sampler", None),
        "data set": getattr(loader, "dataset", None),
    }
    seen: set[int] = set()
    for name, owner in owners.items():
        if owner is None or id(owner) in seen:
            continue
        seen.add(id(owner))
        own = getattr(owner, "generator", None)
        if isinstance(own, torch.Generator) and id(own) not in seen:
            seen.add(id(own))
            own.manual_seed(derive_seed(seed, name))
        if owner is not loader and hasattr(owner, "set_epoch"):
            owner.set_epoch(epoch)


def _checksum(batch: RawBatch, before: int) -> int:
    """Of all targets and the first row of the inputs, added to that of the batches before."""
    for part in tensors_of(batch.targets):
        before = zlib.crc32(_array(part).tobytes(), before)
    for part in tensors_of(batch.inputs):
        before = zlib.crc32(_array(part)[:1].tobytes(), before)
    return before


def _array(part: Tensor) -> Any:
    """Its numbers for NumPy, which has no half formats of torch's: these are read as bytes."""
    if part.device.type != "cpu":
        part = part.cpu()
    return (part.view(torch.uint8) if part.dtype is torch.bfloat16 else part).numpy()
