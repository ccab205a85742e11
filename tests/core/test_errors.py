"""Errors: each is also the built-in that a caller would expect, and knows its exit code."""

import pytest

from netwright.core.errors import (
    ConfigError,
    DataError,
    DownloadError,
    NetwrightError,
    OutputError,
    PeerError,
    RunError,
    ShapeError,
    UnknownNameError,
)
from tests.repetition import for_each


@for_each(
    ("error", "builtin", "exit_code"),
    [
        (NetwrightError, Exception, 1),
        (ConfigError, ValueError, 2),
        (UnknownNameError, LookupError, 2),
        (DataError, ValueError, 2),
        (ShapeError, ValueError, 2),
        (RunError, RuntimeError, 1),
        (PeerError, RuntimeError, 75),  # "try again", to whoever starts processes (sysexits.h)
        (DownloadError, OSError, 1),
        (OutputError, OSError, 1),
    ],
)
def test_error_is_ours_and_the_builtin(
    error: type[NetwrightError], builtin: type[Exception], exit_code: int
) -> None:
    with pytest.raises(builtin) as caught:
        raise error("epochs must be positive, got 0")
    assert isinstance(caught.value, NetwrightError)
    assert error.exit_code == exit_code
    # A LookupError that is a KeyError would print its sentence in quotes.
    assert str(caught.value) == "epochs must be positive, got 0"


def test_an_unknown_name_is_a_setting_that_is_wrong() -> None:
    assert issubclass(UnknownNameError, ConfigError)
