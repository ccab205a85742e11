"""Real tables, where they are: `NETWRIGHT_DATA` is a search path of folders."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def real_table() -> Callable[[str], Path]:
    """Give the path of a file under `NETWRIGHT_DATA`, or skip."""

    def find(name: str) -> Path:
        folders = [Path(part) for part in os.environ.get("NETWRIGHT_DATA", "").split(os.pathsep)]
        for folder in folders:
            if folder != Path() and (folder / name).is_file():
                return folder / name
        pytest.skip(f"{name} is in no folder of NETWRIGHT_DATA")

    return find
