"""`notes.json` of a run folder: tags and a note that a person wrote, which no training reads.

note_run("runs/mlp-moons-001", tags=["baseline"], note="before the data was cleaned")
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from netwright.core.errors import ConfigError, DataError
from netwright.core.files.inside import has_file
from netwright.core.files.storage import read_json, write_json

FILE = "notes.json"
FORMAT = 1
MOST_TAGS, MOST_LETTERS, LONGEST_NOTE = 20, 40, 2000
TAG = re.compile(r"[\w.+-]+")  # letters of any script, digits, and few signs


@dataclass(frozen=True, kw_only=True)
class RunNotes:
    """What a person says of a run.

    Args:
        tags: short words, each once.
        note: a text.
    """

    tags: tuple[str, ...] = ()
    note: str = ""


def read_notes(folder: Path) -> RunNotes:
    """The notes of a run; none where nobody wrote any."""
    path = folder / FILE
    if not has_file(path):
        return RunNotes()
    value = read_json(path)
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise DataError(f"{path} must be an object of format {FORMAT}")
    tags, note = value.get("tags"), value.get("note")
    if not isinstance(tags, list) or not isinstance(note, str):
        raise DataError(f"{path} must have a list of tags and a note")
    try:
        return _checked(tags, note)
    except ConfigError as error:
        raise DataError(f"{path} is not as it was written: {error}") from None


def note_run(
    folder: str | Path, *, tags: Sequence[str] | None = None, note: str | None = None
) -> RunNotes:
    """Give a run tags and a note in the place of those that it has, also while it is trained.

    Args:
        folder: of the run.
        tags: the new ones; None: as they are.
        note: the new one; None: as it is.
    """
    place = Path(folder)
    if not has_file(place / "config.yaml"):
        raise ConfigError(f"{place} is no run folder: it has no config.yaml")
    if isinstance(tags, str):
        raise ConfigError(f"tags must be a list of words, got the text {tags!r:.100}")
    old = read_notes(place)
    kept = _checked(old.tags if tags is None else tags, old.note if note is None else note)
    if kept != old:
        write_json(place / FILE, {"format": FORMAT, **asdict(kept)})
    return kept


def _checked(tags: Sequence[object], note: str) -> RunNotes:
    """The same, each tag once; what is too long, or no tag, is refused."""
    for tag in tags:
        if not isinstance(tag, str) or not TAG.fullmatch(tag) or len(tag) > MOST_LETTERS:
            raise ConfigError(
                f"a tag must be 1 to {MOST_LETTERS} letters, digits or . + - _, got {tag!r:.100}"
            )
    each = tuple(dict.fromkeys(str(tag) for tag in tags))
    if len(each) > MOST_TAGS:
        raise ConfigError(f"a run may have {MOST_TAGS} tags, got {len(each)}")
    if len(note) > LONGEST_NOTE:
        raise ConfigError(f"a note may have {LONGEST_NOTE:,} letters, got {len(note):,}")
    return RunNotes(tags=each, note=note)
