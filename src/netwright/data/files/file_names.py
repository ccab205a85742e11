"""Names of files as they can be shown: on a terminal, in a page, in one line.

A file's name may hold anything but a slash and a zero byte: line ends, colours for a terminal,
marks that turn the direction of text, bytes that are no UTF-8. What cannot be printed is escaped.
"""

import os


def shown(name: str | os.PathLike[str]) -> str:
    r"""The name with all that cannot be printed escaped, as in `two\nlines.png`."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in os.fspath(name)
    )
