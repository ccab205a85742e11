"""A netwright command where the code under test would start a process: here, without its start.

A new process imports torch for seconds. Where the process itself is not the point, a test gives the
code under test this in place of `subprocess`.
"""

import subprocess
from collections.abc import Sequence
from contextlib import redirect_stderr
from io import StringIO
from types import SimpleNamespace
from typing import Any

from netwright.apps.cli.main import run


def run_here(command: Sequence[str], **options: Any) -> "subprocess.CompletedProcess[str]":
    """What `subprocess.run` gives for `python -m netwright ...`, without the process."""
    words = list(command)[command.index("netwright") + 1 :]
    with redirect_stderr(StringIO()) as said:
        code = run(words)
    return subprocess.CompletedProcess(command, code, "", said.getvalue())


IN_PROCESS = SimpleNamespace(run=run_here)
