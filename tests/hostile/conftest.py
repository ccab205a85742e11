"""One guard for all tests of a process."""

import os
import sys
from collections.abc import Iterator

import pytest

from tests.hostile.guard import Guard


@pytest.fixture(scope="session")
def guard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guard]:
    """The process that tries cases; workers of one run share what honest people left."""
    if sys.platform != "linux":
        pytest.skip("what is read outside is seen by inotify, which is Linux")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with Guard(shared / "honest") as running:
        yield running
