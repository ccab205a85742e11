"""Standard input, for commands that read `-`."""

import sys

INPUT = "standard input"


def read_standard_input() -> bytes:
    """All of it."""
    from netwright.core.errors import DataError

    if sys.stdin is None:
        raise DataError(f"{INPUT} is closed, so nothing can be read from it; give a file")
    return sys.stdin.buffer.read()
