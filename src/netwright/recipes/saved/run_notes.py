"""`notes.json` of a run folder: tags and a note that a person wrote, which no training reads.

note_run("runs/mlp-moons-001", tags=["baseline"], note="before the data was cleaned")
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from netwright.core.checks import nearest
from netwright.core.errors import ConfigError, DataError
from netwright.core.files.inside import has_file
from netwright.core.files.process_lock import ProcessLock
from netwright.core.files.storage import read_json, write_json

FILE, LOCK = "notes.json", ".notes.lock"
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
    folder: str | Path,
    *,
    tags: Sequence[str] | None = None,
    note: str | None = None,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
) -> RunNotes:
    """Give a run tags and a note in the place of those that it has, also while it is trained.

    Of several at once each changes what the one before has written. With both tags and a note, what
    there is need not be readable.

    Args:
        folder: of the run.
        tags: the new ones; None: as they are.
        note: the new one; None: as it is.
        add: tags to have beside them.
        remove: tags of the run to have no longer.
    """
    place = Path(folder)
    if not has_file(place / "config.yaml"):
        raise ConfigError(f"{place} is no run folder: it has no config.yaml")
    for words in (tags, add, remove):
        if isinstance(words, str):
            raise ConfigError(f"tags must be a list of words, got the text {words!r:.100}")
    if tags is None and note is None and not add and not remove:
        return read_notes(place)
    with ProcessLock(place / LOCK):
        old = _notes_to_change(place, is_replaced=tags is not None and note is not None)
        kept = _changed(old or RunNotes(), tags, note, add, remove)
        if kept != old:
            write_json(place / FILE, {"format": FORMAT, **asdict(kept)})
    return kept


def _notes_to_change(folder: Path, *, is_replaced: bool) -> RunNotes | None:
    """The notes of a run; None where they cannot be read and nothing of them is kept."""
    try:
        return read_notes(folder)
    except DataError as error:
        if is_replaced:
            return None
        raise DataError(f"{error}; remove the file, or give both tags and a note") from None


def _changed(
    old: RunNotes,
    tags: Sequence[str] | None,
    note: str | None,
    add: Sequence[str],
    remove: Sequence[str],
) -> RunNotes:
    before = old.tags if tags is None else _checked(tags, "").tags
    for tag in remove:
        if tag not in before:
            raise ConfigError(f"the run has no tag {tag!r:.100}{nearest(tag, before)}")
    left = [tag for tag in (*before, *add) if tag not in remove]
    return _checked(left, old.note if note is None else note)


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
    half = re.search("[\ud800-\udfff]", note)
    if half:
        raise ConfigError(
            f"a note must be whole characters, got half of one, \\u{ord(half[0]):04x}; "
            f"write it in UTF-8"
        )
    return RunNotes(tags=each, note=note)
