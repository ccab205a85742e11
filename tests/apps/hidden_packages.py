"""A machine on which the packages of an extra are not installed."""

import sys

import pytest

ROOMS = ("netwright.apps.server.", "netwright.apps.studio.")


def hide_starlette(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither starlette nor what imports it is there; afterwards all modules are as they were.

    A module is known to its package, too: left there, the one that is imported meanwhile would be
    found by one way and the one from before by the other.
    """
    for name in [name for name in sys.modules if name.startswith(ROOMS)]:
        package, _, own = name.rpartition(".")
        if package in sys.modules:
            monkeypatch.delattr(sys.modules[package], own, raising=False)
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith("starlette")] + ["starlette"]:
        monkeypatch.setitem(sys.modules, name, None)
