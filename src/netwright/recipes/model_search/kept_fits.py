"""What the models of a search have answered so far, in a folder, until the search has ended.

race.yaml    what is searched
mlp-2/       what the MLP answered of the third fold: `fit.safetensors`, sealed by a manifest

Shapes: H rows that a fold holds out, K outputs.
"""

import math
import shlex
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.files.folder_lock import LOCK, FolderLock
from netwright.core.files.inside import has_folder, open_folder
from netwright.core.files.manifest import whole_folder
from netwright.core.files.open_tensors import read_tensors
from netwright.core.files.storage import new_folder, remove_leftovers
from netwright.core.files.tensor_content import TensorContent
from netwright.core.terminal.console import print_warning
from netwright.recipes.model_search.race_plan import FILE as RACE
from netwright.recipes.model_search.race_plan import RacePlan, check_same_race, write_race_plan
from netwright.recipes.saved.run_folder import next_folder

PARENT = "searches"
FILE = "fit.safetensors"
NO_LIMIT = -1.0
Tell = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class KeptFit:
    """What a model answered of the rows of one fold.

    Args:
        answers: probabilities or reals (H, K), float64.
        losses: of these answers (H,), float64.
        seconds: that the fit took.
        limit: seconds that it might take; None: no limit.
        was_cut: the time ended it.
    """

    answers: Tensor
    losses: Tensor
    seconds: float
    limit: float | None
    was_cut: bool = False


class KeptFits:
    """The fits of a search; the folder is made when the first of them is kept.

    Args:
        plan: what is searched.
        data: what the data is called.
        folder: of the search that is resumed; None: a new one.
        held: keeps the folder's lock until the search ends.
        tell: is given a line of progress.
    """

    def __init__(
        self, plan: RacePlan, data: str, folder: Path | None, held: ExitStack, tell: Tell
    ) -> None:
        self.plan, self.data, self.tell, self._held = plan, data, tell, held
        self.folder = folder
        if folder is not None:
            check_same_race(folder, plan)
            held.enter_context(FolderLock(folder))
            remove_leftovers(folder)

    @property
    def command(self) -> str:
        """What goes on with the search."""
        if self.plan.is_typed:
            return f"netwright search --resume {shlex.quote(str(self.folder))}"
        return f"the same nw.search_models, resume={str(self.folder)!r}"

    def keep(self, model: str, fold: int, fit: KeptFit) -> None:
        """Write down what a model answered."""
        folder = self.folder or self._begin()
        limit = NO_LIMIT if fit.limit is None else fit.limit
        tensors = {
            "answers": fit.answers,
            "losses": fit.losses,
            "times": torch.tensor([fit.seconds, limit, fit.was_cut], dtype=torch.float64),
        }
        with new_folder(_place(folder, model, fold), replace=True, inside=folder) as staging:
            staging.write(FILE, TensorContent(tensors))

    def find(self, model: str, fold: int, shape: tuple[int, int]) -> KeptFit | None:
        """What the model answered before the search was resumed; None where it was not asked.

        Args:
            model: its name.
            fold: the number of the fold.
            shape: of the answers (H, K).
        """
        if self.folder is None or not has_folder(_place(self.folder, model, fold), self.folder):
            return None
        place = _place(self.folder, model, fold)
        try:
            with whole_folder(place, inside=self.folder) as files:
                if FILE not in files:
                    raise DataError(f"{place} holds no {FILE} by its manifest")
                return _checked(read_tensors(files[FILE], place / FILE), shape, place)
        except DataError as error:
            print_warning(f"{error}: {model} learns this fold again")
            return None

    def _begin(self) -> Path:
        self.folder = next_folder(PARENT, "models", self.data)
        self._held.enter_context(FolderLock(self.folder))
        write_race_plan(self.folder, self.plan)
        self.tell(f"the search is kept in {self.folder} until it ends")
        return self.folder

    def remove(self) -> None:
        """Take the folder away: the search has ended."""
        if self.folder is None:
            return
        fits = {
            f"{model}-{fold}" for model in self.plan.models for fold in range(self.plan.learned)
        }
        with open_folder(self.folder) as here:
            for name in here.names():
                if name in fits:
                    here.remove_tree(name)
            for name in (RACE, LOCK):
                with suppress(OSError):
                    here.unlink(name)
        with suppress(OSError):  # somebody has put more there, or has searches of his own
            self.folder.rmdir()
            if self.folder.parent.name == PARENT:
                self.folder.parent.rmdir()


@contextmanager
def keeping_fits(
    plan: RacePlan, data: str, *, resume: Path | None, tell: Tell
) -> Iterator[KeptFits]:
    """A block in which a search keeps its fits; one that is broken off can be resumed."""
    with ExitStack() as held:
        kept = KeptFits(plan, data, resume, held, tell)
        try:
            yield kept
        except BaseException:
            if kept.folder is not None:  # also where it was refused: hours may be in it
                tell(f"to go on with the search: {kept.command}")
            raise
        kept.remove()


def _place(folder: Path, model: str, fold: int) -> Path:
    return folder / f"{model}-{fold}"


def _checked(tensors: dict[str, Tensor], shape: tuple[int, int], place: Path) -> KeptFit:
    wanted = {"answers": list(shape), "losses": [shape[0]], "times": [3]}
    for name, size in wanted.items():
        found = tensors.get(name)
        if found is None or list(found.shape) != size or found.dtype != torch.float64:
            raise DataError(f"{place / FILE} does not hold the {name} of such a fold")
    seconds, limit, was_cut = tensors["times"].tolist()
    is_time = 0 <= seconds < math.inf and (limit == NO_LIMIT or 0 < limit < math.inf)
    if not is_time or not all(tensors[name].isfinite().all() for name in ("answers", "losses")):
        raise DataError(f"{place / FILE} holds numbers that no fit gives")
    return KeptFit(
        answers=tensors["answers"],
        losses=tensors["losses"],
        seconds=seconds,
        limit=None if limit == NO_LIMIT else limit,
        was_cut=bool(was_cut),
    )
