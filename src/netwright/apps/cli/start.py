"""Where the `netwright` command begins: Ctrl-C ends it quietly already while it is being loaded.

Loading takes seconds and runs foreign code, in which an exception may be swallowed or turned into
another. Nothing is written by then: the process ends at once. This module imports next to nothing,
so that only a Ctrl-C in the start of Python itself, which we cannot see, shows a traceback.

The modules of torch and of a training are 350,000 objects that stay to the end. Python's collector
would look through them again and again while they are loaded, and now and then while they are used.
"""

import gc
import os
import signal
import sys
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

INTERRUPTED = 130
LOADED = 350_000  # objects; fewer than that is a command without torch


def main() -> NoReturn:
    """Run one command and end the process, by Ctrl-C with 130 and without a traceback."""
    collect_after_loading()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # in the background it is not
        signal.signal(signal.SIGINT, _receive)
        sys.unraisablehook = _notice
    try:
        from netwright.apps.cli.main import main as run_command

        run_command()
    except KeyboardInterrupt:  # between two things that take care of it
        os._exit(INTERRUPTED)


def collect_after_loading() -> None:
    """Let the collector begin when torch is loaded, with what is made from then on."""
    usual = gc.get_threshold()
    gc.set_threshold(LOADED, *usual[1:])

    def leave_out_the_loaded(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            gc.callbacks.remove(leave_out_the_loaded)
            gc.set_threshold(*usual)
            gc.freeze()

    gc.callbacks.append(leave_out_the_loaded)


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
