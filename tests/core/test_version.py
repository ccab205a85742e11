"""The version: one place for the package, the command and the build."""

import re
import tomllib
from pathlib import Path

import netwright as nw
from netwright.core import version

ROOT = Path(__file__).parents[2]


def test_it_needs_no_installed_metadata() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert re.fullmatch(r"\d+\.\d+\.\d+", version.VERSION)
    assert nw.__version__ == version.VERSION
    assert told["project"]["dynamic"] == ["version"]
    assert ROOT / told["tool"]["hatch"]["version"]["path"] == Path(version.__file__)
