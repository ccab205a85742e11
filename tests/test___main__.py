"""`python -m netwright` is the same command."""

import subprocess
import sys

import netwright


def test_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "netwright", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{netwright.__version__}\n"
