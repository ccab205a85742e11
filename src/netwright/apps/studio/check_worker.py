"""The process in which claims are checked: one line of JSON in, one line out.

Settings come from a page and may ask for any number of rounds or rows, so an experiment has a limit
of time and one of memory. Both end this process at the latest, also where the studio is gone.
"""

import json
import os
import signal
import sys
from typing import Any

import torch

from netwright.apps.studio.claim_checks import check_asked
from netwright.core.errors import NetwrightError
from netwright.core.memory_shortage import is_shortage


def answer_checks(seconds: int, most_bytes: int) -> None:
    """Check what each line asks for, until there are no more lines.

    Args:
        seconds: that one experiment may take; SIGALRM ends the process after that.
        most_bytes: that the process may write to.
    """
    torch.empty(1)  # for its first tensor torch may reserve a gibibyte
    limit_memory(most_bytes)
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # what an experiment prints is no answer
        for line in sys.stdin.buffer:
            _wake_after(seconds)
            reply = json.dumps(answer(json.loads(line)))
            _wake_after(0)
            answers.write(reply.encode() + b"\n")
            answers.flush()


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    """The verdict, or why there is none."""
    try:
        return {"verdict": check_asked(asked)}
    except NetwrightError as error:
        return {"refused": str(error)}
    except (MemoryError, RuntimeError) as error:
        if not is_shortage(error):
            raise
        return {"refused": "this experiment needs too much memory: choose smaller settings"}


def limit_memory(most_bytes: int) -> None:
    """Let this process write to so many bytes; addresses that a driver reserves do not count."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - Windows has none

        resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))


def _wake_after(seconds: int) -> None:
    if sys.platform != "win32":
        signal.alarm(seconds)
