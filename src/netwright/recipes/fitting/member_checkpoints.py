"""The members of an ensemble that have learned, kept in the run folder until the run is finished.

members/conditions.json   what they learn from and how long
members/001/              the weights of the first lesson; at the end `model/` has them all
"""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from netwright.core.errors import ConfigError, DataError
from netwright.core.files.inside import has_file, has_folder, open_folder
from netwright.core.files.manifest import whole_folder
from netwright.core.files.open_tensors import read_tensors
from netwright.core.files.storage import (
    make_folder,
    new_folder,
    read_json,
    remove_leftovers,
    write_json,
)
from netwright.core.files.tensor_content import TensorContent
from netwright.core.terminal.console import print_warning
from netwright.data.dataset import Data
from netwright.data.fingerprint import fingerprint
from netwright.models.ensembles.ensemble import Member
from netwright.train.saving.conditions import find_changes
from netwright.train.setting_marks import Heeded
from netwright.train.settings import TrainConfig, settings_marked

FILE = "member.safetensors"


class MemberCheckpoints:
    """Lessons that are done, by their number; other conditions than theirs are refused.

    Args:
        run: the run folder.
        data: what is learned from now.
        train: how each member learns now.
        allow: conditions that may have changed ("data", "max_steps" ...).
    """

    def __init__(self, run: Path, data: Data, train: TrainConfig, allow: Collection[str]) -> None:
        self.run, self.folder = run, run / "members"
        make_folder(self.folder)
        remove_leftovers(self.folder, inside=run)
        splits = {name: fingerprint(split) for name, split in data.splits() if name != "test"}
        of_each = settings_marked(Heeded.BY_EACH_MEMBER)
        now = {"data": splits, **{name: getattr(train, name) for name in of_each}}
        file = self.folder / "conditions.json"
        before = read_json(file, inside=run) if has_file(file, run) else now
        if not isinstance(before, dict) or not isinstance(before.get("data"), dict):
            raise DataError(
                f"{file} does not contain the conditions of a run: it cannot be resumed"
            )
        if train.restore_best is None and before.get("restore_best") is True:
            before = {**before, "restore_best": None}  # older versions wrote their default as True
        changes = find_changes(before, now)
        if any(name not in allow for name in changes):
            raise ConfigError(
                f"{run} cannot be resumed exactly: {'; '.join(changes.values())}; to resume "
                f"anyway, allow {','.join(changes)}"
            )
        write_json(file, now, inside=run)

    def restore(self, number: int, member: Member) -> bool:
        """Give the member what it had learned; False where it has still to learn."""
        place = self._place(number)
        if not has_folder(place, self.run):
            return False
        try:
            with whole_folder(place, inside=self.run) as files:
                if FILE not in files:
                    raise DataError(f"{place} holds no {FILE} by its manifest")
                member.load_state_dict(read_tensors(files[FILE], place / FILE))
        except DataError as error:
            print_warning(f"{error}: the member is trained again")
            return False
        return True

    def keep(self, number: int, member: Member) -> None:
        """Write down what the member has learned."""
        place = self._place(number)
        with new_folder(place, replace=True, inside=self.run) as staging:
            staging.write(FILE, TensorContent(member.state_dict()))

    def _place(self, number: int) -> Path:
        return self.folder / f"{number:03d}"


def delete_member_checkpoints(run: Path) -> None:
    """Remove what was kept of a run that is finished; the conditions stay."""
    with suppress(FileNotFoundError), open_folder(run / "members", run) as folder:
        for name in folder.names():
            if name[0].isdigit():
                folder.remove_tree(name)
