"""How the file of a table is written: its bytes, and its numbers."""

from dataclasses import dataclass
from typing import Annotated

from netwright.core.config import Config, Doc
from netwright.data.tables.number_marks import Thousands

Encoding = Annotated[
    str,
    Doc(
        "text encoding: latin-1, cp1252, utf-16 ...; none: UTF-8, or that of the byte order mark; "
        "UTF-16 without one and Windows-1252 are detected"
    ),
]


@dataclass(frozen=True, kw_only=True)
class Dialect(Config):
    """What reads a table; it travels with the run, so that new files are read alike."""

    encoding: Encoding = ""
    thousands: Annotated[
        Thousands,
        Doc("thousands separator: , as in 1,234.5 or . as in 1.234,5, ' or space"),
    ] = ""

    @property
    def dialect(self) -> "Dialect":
        """This alone, of settings that have more."""
        return Dialect(encoding=self.encoding, thousands=self.thousands)


PLAIN = Dialect()
