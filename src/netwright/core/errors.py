"""The errors netwright raises on purpose; each is also the built-in that a caller would expect."""

from netwright.core.visible import visible


class NetwrightError(Exception):
    """Something was refused; the message is one sentence: what, wanted, got."""

    exit_code = 1

    def __str__(self) -> str:
        # It quotes names from files, and whoever does not catch it has it on a terminal.
        return visible(super().__str__())


class ConfigError(NetwrightError, ValueError):
    """A setting lies outside what it may be."""

    exit_code = 2


class UnknownNameError(ConfigError, LookupError):
    """A name that is in no table."""


class DataError(NetwrightError, ValueError):
    """Data that cannot be read, or cannot be learned from."""

    exit_code = 2


class ShapeError(NetwrightError, ValueError):
    """A tensor does not have the shape that is worked on."""

    exit_code = 2


class RunError(NetwrightError, RuntimeError):
    """A run failed after it had started."""


class PeerError(RunError):
    """Another rank is lost; this one did nothing wrong."""

    exit_code = 75  # EX_TEMPFAIL of sysexits: try again


class DownloadError(NetwrightError, OSError):
    """A data set could not be fetched, or arrived damaged."""


class OutputError(NetwrightError, OSError):
    """Standard output takes nothing: its disk is full, or it is closed."""
