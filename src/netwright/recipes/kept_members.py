"""The members of an ensemble that have learned, kept in the run folder until all have.

members/data.json   what rows they learn from      members/001/   the weights of the first lesson
"""

from collections.abc import Collection
from pathlib import Path

from safetensors.torch import load, save

from netwright.core.console import warn
from netwright.core.errors import ConfigError, DataError
from netwright.core.storage import (
    make_folder,
    new_folder,
    read_folder,
    read_json,
    remove_leftovers,
    write_json,
)
from netwright.data.dataset import Data
from netwright.data.fingerprint import fingerprint
from netwright.models.ensembles.ensemble import Member
from netwright.train.conditions import find_changes
from netwright.train.packing import stored_tensors


class KeptMembers:
    """Lessons that are done, by their number; other data than they learned from is refused.

    Args:
        run: the run folder.
        data: what is learned from now.
        allow: conditions that may have changed ("data").
    """

    def __init__(self, run: Path, data: Data, allow: Collection[str]) -> None:
        self.folder = run / "members"
        make_folder(self.folder)
        remove_leftovers(self.folder)
        now = {name: fingerprint(split) for name, split in data.splits() if name != "test"}
        seen = self.folder / "data.json"
        if seen.is_file():
            changes = find_changes({"data": read_json(seen)}, {"data": now})
            if changes and "data" not in allow:
                raise ConfigError(
                    f"{run} cannot be gone on from exactly: {changes['data']}; "
                    "to go on all the same, allow data"
                )
        write_json(seen, now)

    def restore(self, number: int, member: Member) -> bool:
        """Give the member what it had learned; False where it has still to learn."""
        place = self._place(number)
        if not place.is_dir():
            return False
        try:
            member.load_state_dict(load(read_folder(place)["member.safetensors"]))
        except DataError as error:
            warn(f"{error}: the member learns again")
            return False
        return True

    def keep(self, number: int, member: Member) -> None:
        """Write down what the member has learned."""
        with new_folder(self._place(number), replace=True) as staging:
            staging.write("member.safetensors", save(stored_tensors(member.state_dict())))

    def _place(self, number: int) -> Path:
        return self.folder / f"{number:03d}"
