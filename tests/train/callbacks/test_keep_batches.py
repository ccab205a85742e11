"""The place in a loader is kept with the run, and told when it is taken up."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from netwright.core.errors import DataError
from netwright.data.batches.source import BatchSource, Place
from netwright.train.callbacks.keep_batches import KeepBatches
from netwright.train.ranks import ALONE, Ranks
from tests.data.batches.loaders import noisy_loader


def keeper(**settings: Any) -> KeepBatches:
    return KeepBatches(
        BatchSource(noisy_loader()), **{"may_differ": False, "quiet": False, **settings}
    )


def test_the_place_is_kept_and_expected_again() -> None:
    kept, other = keeper(), keeper(may_differ=True)
    list(kept.source.read(0, 1, 3))
    other.load_state_dict(kept.state_dict())
    assert other.source.expected == kept.source.place == Place(1, 3, kept.source.place.checksum)
    assert other.state_dict() == kept.state_dict()  # a run that is stopped before its first batch
    assert other.source.may_differ
    assert not kept.source.may_differ


def test_batches_that_are_read_again_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    for position, quiet in ((0, False), (4, True), (4, False)):
        keeper(quiet=quiet).on_fit_start(cast(Any, SimpleNamespace(position=position)))
    told = "".join(capsys.readouterr())
    assert told.count("again") == 1
    assert "reading 4 batches of the loader again" in told


class Heard(Ranks):
    """One of two ranks, which hears the other say this."""

    other = b""

    def gather(self, content: bytes, work: str = "") -> list[bytes]:
        return [content, self.other]


def test_processes_that_read_other_batches_are_told_once_a_pass() -> None:
    kept, ranks = keeper(), Heard(0, 2)
    state = cast(Any, SimpleNamespace(ranks=ranks))
    batches = kept.source.read(0, 0, 3)
    next(batches)
    Heard.other = str(kept.source.place.checksum).encode()
    kept.on_epoch_start(state)
    kept.on_batch_end(state)
    next(batches)
    kept.on_batch_end(state)  # only the first of a pass is compared
    kept.on_epoch_start(state)
    with pytest.raises(
        DataError, match=r"each of the 2 processes other batches.*shuffle\(seed=0\)"
    ):
        kept.on_batch_end(state)
    alone = cast(Any, SimpleNamespace(ranks=ALONE))
    kept.on_epoch_start(alone)
    kept.on_batch_end(alone)
