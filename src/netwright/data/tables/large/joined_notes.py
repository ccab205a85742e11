"""What reading says of the parts of a table, as one reading of the whole would say it.

Sentences that differ by an example alone are one, that of the first part; numbers of blank lines
are added up.
"""

import re

from netwright.data.tables.records import blank_note

_BLANK = re.compile(rf"{re.escape(blank_note(1)[0][:-1])}(\d+)")
# An example cell at the end; the line of the header, which stands in the first line of later parts.
_VARIES = re.compile(r", as in .*|^line \d+ ", re.DOTALL)


class JoinedNotes:
    """The notes of the parts so far."""

    def __init__(self) -> None:
        self.blank = 0
        self.said: dict[str, str] = {}  # what does not vary -> the first such note

    def add(self, notes: tuple[str, ...]) -> None:
        """Take up the notes of a part."""
        for note in notes:
            if found := _BLANK.fullmatch(note):
                self.blank += int(found.group(1))
            else:
                self.said.setdefault(_VARIES.sub("", note), note)

    def notes(self) -> tuple[str, ...]:
        """One note of each kind."""
        return (*self.said.values(), *blank_note(self.blank))
