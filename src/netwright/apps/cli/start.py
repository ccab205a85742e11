"""Where the `netwright` command begins: Ctrl-C ends it quietly already while it is being loaded.

Loading takes seconds and runs foreign code, in which an exception may be swallowed or turned into
another. Nothing is written by then: the process ends at once. This module imports next to nothing,
so that only a Ctrl-C in the start of Python itself, which we cannot see, shows a traceback.
"""

import os
import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

INTERRUPTED = 130


def main() -> NoReturn:
    """Run one command and end the process, by Ctrl-C with 130 and without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # in the background it is not
        signal.signal(signal.SIGINT, _receive)
        sys.unraisablehook = _notice
    try:
        from netwright.apps.cli.main import main as run_command

        run_command()
    except KeyboardInterrupt:  # between two things that take care of it
        os._exit(INTERRUPTED)


def _receive(number: int, frame: FrameType | None) -> None:
    if is_loading(frame):
        os._exit(INTERRUPTED)
    raise KeyboardInterrupt


def _notice(swallowed: "UnraisableHookArgs") -> None:
    """End where a destructor, which cannot raise anything, is interrupted."""
    if isinstance(swallowed.exc_value, KeyboardInterrupt):
        os._exit(INTERRUPTED)
    sys.__unraisablehook__(swallowed)


def is_loading(frame: FrameType | None) -> bool:
    """Whether a frame belongs to an import that the command itself asked for."""
    asked_by = ""
    while frame is not None:
        caller = frame.f_back
        if caller is not None and _is_import(frame) and not _is_import(caller):
            asked_by = caller.f_globals.get("__name__", "")  # the outermost is the last one
        frame = caller
    return asked_by.startswith("netwright.apps.")


def _is_import(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith("<frozen importlib")
