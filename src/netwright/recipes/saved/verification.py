"""What `netwright verify` found in a folder: what it is, each of its files, what is wrong."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from netwright.core.files.tensor_file import StoredTensor
from netwright.core.terminal.notebook_table import (
    notebook_folded,
    notebook_list,
    notebook_table,
)

State = Literal[
    "whole",  # as its manifest says
    "there",  # one of ours that no manifest lists, and readable
    "damaged",
    "missing",
    "not listed",  # in a folder whose manifest lists all
    "unreadable",
    "a link",
    "no regular file",
    "left over",  # of a process that was killed
    "unknown",  # none of ours; it is left alone
]
FINE: frozenset[State] = frozenset({"whole", "there", "left over", "unknown"})


@dataclass(frozen=True, kw_only=True)
class CheckedFile:
    """One file of a folder, or an entry that should be one.

    Args:
        name: relative to the folder.
        state: what was found.
        size: its bytes.
        remark: what else should be known of it.
    """

    name: str
    state: State
    size: int = 0
    remark: str = ""

    @property
    def is_fine(self) -> bool:
        """Whether it is as it should be."""
        return self.state in FINE


@dataclass(frozen=True, kw_only=True)
class Verification:
    """A folder that was looked through and not loaded.

    Args:
        folder: itself.
        kind: "run", "search", "comparison", "checkpoint" or "model".
        about: what its files say of it: model, data, versions.
        files: all that is in it.
        tensors: by the file that holds them.
        misfits: what is wrong between files that are whole by themselves.
    """

    folder: Path
    kind: str
    about: Mapping[str, str]
    files: tuple[CheckedFile, ...]
    tensors: Mapping[str, tuple[StoredTensor, ...]]
    misfits: tuple[str, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """All that is wrong, a sentence each."""
        wrong = [file for file in self.files if not file.is_fine]
        told = [f"{one.name}: {one.state}{one.remark and f', {one.remark}'}" for one in wrong]
        return (*told, *self.misfits)

    @property
    def holds(self) -> bool:
        """Whether all is well."""
        return not self.faults

    @property
    def verdict(self) -> str:
        """The outcome in one sentence."""
        count = len(self.faults)
        if count:
            return f"{count} thing{'s' * (count > 1)} wrong"
        whole = sum(file.state == "whole" for file in self.files)
        return (
            f"everything is intact: {len(self.files)} files, {whole} of them verified against "
            f"a manifest"
        )

    def __str__(self) -> str:
        about = [f"{name}: {text}" for name, text in self.about.items()]
        return "\n".join([f"{self.folder}: a {self.kind}, {self.verdict}", *about, *self.faults])

    def _repr_html_(self) -> str:
        about = [{"": name, "what its files say": told} for name, told in self.about.items()]
        files = [{"file": one.name, "state": one.state, "remark": one.remark} for one in self.files]
        wrong = notebook_list(self.faults)
        said = notebook_table(f"{self.folder}: a {self.kind}, {self.verdict}", about)
        return said + wrong + notebook_folded("files", files)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "folder": str(self.folder),
            "kind": self.kind,
            "holds": self.holds,
            "faults": list(self.faults),
            "about": dict(self.about),
            "files": [asdict(file) for file in self.files],
            "tensors": {
                name: [asdict(tensor) for tensor in tensors]
                for name, tensors in self.tensors.items()
            },
        }
