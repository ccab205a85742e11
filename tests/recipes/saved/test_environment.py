"""The environment of a run: an allow-list, without names of people or machines."""

import getpass
import json
import socket

import pytest
import torch

import netwright as nw
from netwright.recipes.saved.environment import describe_environment


def test_holds_versions_and_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_TEST_SECRET", "hunter2-hunter2")
    found = describe_environment(torch.device("cpu"))
    assert found["packages"]["netwright"] == nw.__version__
    assert found["packages"]["torch"] == torch.__version__
    assert found["threads"] == torch.get_num_threads()
    assert set(found) == {
        "format",
        "python",
        "system",
        "machine",
        "device",
        "threads",
        "packages",
    }
    text = json.dumps(found)
    assert "hunter2" not in text
    assert socket.gethostname() not in text
    assert f'"{getpass.getuser()}"' not in text
