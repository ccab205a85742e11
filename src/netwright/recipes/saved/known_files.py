"""Which files a folder of ours has, by its kind: what `netwright verify` expects to find."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from netwright.core.files.storage import MANIFEST


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What one folder may hold.

    Args:
        files: the names of its files.
        folders: the pattern of a name -> what is in the folder of such a name.
        is_sealed: it has a manifest, which lists its files with their sums.
    """

    files: frozenset[str] = frozenset()
    folders: Mapping[str, "Layout"] = field(default_factory=dict)
    is_sealed: bool = False

    def folder(self, name: str) -> "Layout | None":
        """The layout of a folder in this one; None where it is none of ours."""
        found = (layout for pattern, layout in self.folders.items() if re.fullmatch(pattern, name))
        return next(found, None)


def _sealed(*names: str) -> Layout:
    return Layout(files=frozenset({MANIFEST, *names}), is_sealed=True)


MODEL = _sealed("model.safetensors", "config.json", "preprocessor.json")
CHECKPOINT = _sealed("model.safetensors", "state.safetensors", "state.json")
RUN = Layout(
    files=frozenset(
        {
            *("config.yaml", "env.json", "metrics.jsonl", "results.json", "layers.jsonl"),
            *("best.json", "last.json", "path.safetensors", "report.html", "report.json", ".lock"),
            *("profile.json", "leaderboard.json", "leaderboard.html", "notes.json"),
            ".notes.lock",
        }
    ),
    folders={
        "model": MODEL,
        "checkpoints": Layout(folders={r"step-\d{6,}(?:-\d+)?": CHECKPOINT}),
        "members": Layout(
            files=frozenset({"conditions.json"}), folders={r"\d{3,}": _sealed("member.safetensors")}
        ),
    },
)
SEARCH = Layout(
    files=frozenset(
        {
            *("search.yaml", "best.yaml", "trials.json", "report.html"),
            *("study.journal", "study.db"),
        }
    ),
    folders={"locks": Layout(files=frozenset({"journal", "study"}))},
)
MODEL_SEARCH = Layout(
    files=frozenset({"race.yaml", ".lock"}),
    folders={r"[a-z0-9-]+-\d+": _sealed("fit.safetensors")},
)
COMPARISON = Layout(files=frozenset({"compare.html", "compare.json"}))

# The kind of a folder, the file that tells it, and what it holds; the first that fits is it.
KINDS: tuple[tuple[str, str, Layout], ...] = (
    ("run", "config.yaml", RUN),
    ("search", "search.yaml", SEARCH),
    ("search over models", "race.yaml", MODEL_SEARCH),
    ("comparison", "compare.json", COMPARISON),
    ("checkpoint", "state.json", CHECKPOINT),
    ("model", "config.json", MODEL),
)
