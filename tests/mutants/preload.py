"""Import what the package needs but not the package: processes forked later have it ready."""

import contextlib
import importlib
import sys
import warnings
from collections.abc import Collection
from pathlib import Path

import torch

from tests.mutants.child import Child
from tests.mutants.session import collect

OURS = ("netwright", "tests", "test_", "conftest", "__")


def preload(test_files: Collection[str]) -> None:
    """Import all foreign modules that these test files lead to, found out in another process."""

    def foreign(_folder: Path) -> list[str]:
        collect(test_files)
        return [name for name in sys.modules if not name.startswith(OURS)]

    names = Child(foreign).wait().value or []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in names:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        torch.cuda.is_available()  # asked once a process: what it warns of is no test's failure
