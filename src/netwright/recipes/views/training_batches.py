"""Training examples of a run that is looked at, in the order in which its seed shuffles them."""

from collections.abc import Iterator
from itertools import count

from netwright.core.devices import device_of
from netwright.data.loading.loader import Batch, BatchLoader
from netwright.recipes.views.subject import Subject


def training_batches(subject: Subject, rows: int) -> Iterator[Batch]:
    """Batches of so many examples, or of as many as there are, epoch after epoch without end.

    Small last batches are left out, so that all are of one size.
    """
    train = subject.data.shown.train
    device, size = device_of(subject.run.model), min(rows, len(train))
    loader = BatchLoader(train.to(device), size, seed=subject.run.config["seed"])
    for epoch in count():
        yield from (batch for batch in loader.epoch(epoch) if len(batch.rows) == size)
