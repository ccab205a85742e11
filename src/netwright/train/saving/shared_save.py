"""A checkpoint that ranks write together, each by a thread from a copy: training goes on meanwhile.

The first rank makes a temporary folder and tells its place; each rank copies its tensors, which on
CUDA are queued into pinned memory. From there on threads work. Each writes its rank's file and
leaves the sum of it as a note in the ranks' store; that of the first rank writes the common files,
waits for the notes of all, lists the sums in the manifest and gives the folder its name. So a
checkpoint is whole or absent, whoever fails or is killed.

Threads never take part in a collective: those are the training's. A rank that is lost is noticed
there, also where ranks wait for a save to be finished.
"""

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from torch import Tensor

from netwright.core.errors import NetwrightError, PeerError, RunError
from netwright.core.files.storage import Staging, new_folder, shared_folder
from netwright.core.files.tensor_content import TensorContent
from netwright.train.ranks import GRACE, Ranks
from netwright.train.saving.checkpoint_content import CheckpointContent, Tensors
from netwright.train.saving.part_files import part_name
from netwright.train.updates.host_copy import HostCopy

SAVING = "the save of a checkpoint"  # the work in which a rank is lost
AGAIN = 0.01  # seconds until a note is looked for again


class SharedSave:
    """A save under way; every rank makes one, and calls `finish` before the next.

    Args:
        folder: of the checkpoint, as the first rank names it.
        content: of the present moment; what the run does to its tensors from now on is not in it.
        ranks: the processes that save.
        inside: the run, as the first rank names it.
        then: what the first rank does when the folder has its name.
    """

    def __init__(
        self,
        folder: Path,
        content: CheckpointContent,
        ranks: Ranks,
        *,
        inside: Path | None,
        then: Callable[[], None],
    ) -> None:
        self.ranks, self._then, self._values = ranks, then, content.values
        common = (content.weights, content.state) if ranks.is_first else ()
        self._common, self._own = [_copies(part) for part in common], _copies(content.own or {})
        needs = sum(tensor.nbytes for tensor in (content.own or {}).values())
        self._opened: list[Staging] = []
        with ExitStack() as held:
            self._place = _each(ranks, lambda: self._begin(held, folder, inside, needs))[0]
            self._held = held.pop_all()
        self._is_given_up = threading.Event()
        self._written, self._named = Future[str](), Future[None]()
        self._began, self._ended = time.monotonic(), 0.0
        self._thread = threading.Thread(target=self._work, name=SAVING, daemon=True)
        self._thread.start()

    @property
    def seconds(self) -> float:
        """How long it has taken, up to now or its end."""
        return (self._ended or time.monotonic()) - self._began

    def finish(self) -> None:
        """Wait until the checkpoint is there; where one rank cannot write, all ranks say so."""
        try:
            _each(self.ranks, self._written.result)
            _each(self.ranks, self._named.result)
        finally:
            self.give_up()

    def give_up(self) -> None:
        """Training ends by an error: finish what can be, and wait for no rank that is lost."""
        if not isinstance(sys.exception(), PeerError):
            wait([self._written])
            self._thread.join(None if self.ranks.is_alone else self.ranks.timeout)
        self._thread.join(GRACE)
        self._is_given_up.set()
        self._thread.join(GRACE)

    def _begin(self, held: ExitStack, folder: Path, inside: Path | None, needs: int) -> Any:
        """Make the folder in which all ranks write: where it is, will be, and its run."""
        if not self.ranks.is_first:
            return None
        made = new_folder(folder, needs=needs + len(self._values), inside=inside)
        self._opened.append(held.enter_context(made))
        return [str(self._opened[0].path), str(folder), None if inside is None else str(inside)]

    def _work(self) -> None:
        """The thread: what goes wrong is kept for those who wait."""
        try:
            with self._held:
                self._write()
                self._close()
        except BaseException as error:
            for future in (self._written, self._named):
                if not future.done():
                    future.set_exception(error)
        else:
            self._named.set_result(None)
        self._ended = time.monotonic()

    def _write(self) -> None:
        """Bring the files of this rank to disk; the others learn of the sum, or of the error."""
        name = part_name(self.ranks.rank, self.ranks.world)
        try:
            folder = self._open()
            if self.ranks.is_first:
                weights, state = map(_read, self._common)
                content = CheckpointContent(
                    weights=weights, state=state, values=self._values, own=None
                )
                for common, part in content.files().items():
                    folder.write(common, part)
            folder.write(name, TensorContent(_read(self._own)))
        except NetwrightError as error:
            self._tell("", str(error))
            raise
        self._common, self._own = [], {}
        self._tell(folder.sums[name])
        self._written.set_result(folder.sums[name])

    def _open(self) -> Staging:
        if not self._opened:
            staging, final, around = self._place
            inside = None if around is None else Path(around)
            shared = shared_folder(Path(staging), Path(final), inside=inside)
            self._opened.append(self._held.enter_context(shared))
        return self._opened[0]

    def _tell(self, total: str, error: str = "") -> None:
        if not self.ranks.is_first:
            self.ranks.leave(self._note(self.ranks.rank), json.dumps([total, error]))

    def _close(self) -> None:
        """The first rank lists the sums of all files, and gives the folder its name."""
        if self.ranks.is_first:
            for rank in range(1, self.ranks.world):
                self._opened[0].sums[part_name(rank, self.ranks.world)] = self._sum_of(rank)
            self._held.close()
            self._then()

    def _sum_of(self, rank: int) -> str:
        """What a rank has noted, as soon as it has."""
        note = self.ranks.take(self._note(rank))
        while note is None:
            if self._is_given_up.wait(AGAIN):
                raise RunError(f"rank {rank} has not written its part of a checkpoint")
            note = self.ranks.take(self._note(rank))
        found, error = json.loads(note)
        if error:
            raise RunError(error)
        return str(found)

    def _note(self, rank: int) -> str:
        """Where a rank leaves its note: the temporary name is of this save alone."""
        return f"saved/{Path(self._place[0]).name}/{rank}"


def _copies(tensors: Tensors) -> dict[str, HostCopy]:
    return {name: HostCopy(tensor) for name, tensor in tensors.items()}


def _read(copies: Mapping[str, HostCopy]) -> dict[str, Tensor]:
    return {name: copy.read() for name, copy in copies.items()}


def _each(ranks: Ranks, work: Callable[[], Any]) -> list[Any]:
    """Let every rank do its work: what each gives as JSON, or on all ranks the error of one."""
    given, error = None, ""
    try:
        given = work()
    except NetwrightError as failed:
        error = str(failed)
    told = [json.loads(one) for one in ranks.gather(json.dumps([given, error]).encode(), SAVING)]
    for rank, (_, failed_there) in enumerate(told):
        if failed_there:
            who = "" if ranks.is_alone else f"rank {rank} could not save a checkpoint: "
            raise RunError(f"{who}{failed_there}")
    return [one for one, _ in told]
