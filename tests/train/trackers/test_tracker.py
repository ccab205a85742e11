"""Settings by whole names, and packages that are not there."""

import re

import pytest

from netwright.core.errors import ConfigError
from netwright.train.trackers.tracker import check_installed, flat_settings
from tests.train.trackers.noting_tracker import NotingTracker


def test_settings_have_whole_names_and_plain_values() -> None:
    nested = {
        "seed": 0,
        "train": {"lr": 0.1, "average": "none", "compile": False, "patience": None},
        "model": {"hidden": (64, 32), "options": {"eps": 1e-8}},
        "path": re.compile("x"),
    }
    assert flat_settings(nested) == {
        "seed": 0,
        "train.lr": 0.1,
        "train.average": "none",
        "train.compile": False,
        "model.hidden": "64, 32",
        "model.options.eps": 1e-8,
        "path": "re.compile('x')",
    }


def test_a_package_that_is_not_there_is_refused_with_the_way_to_get_it() -> None:
    class Absent(NotingTracker):
        package = "no_such_package"

    check_installed("noting", NotingTracker)
    sentence = "track 'absent' needs the package no_such_package: pip install 'netwright[track]'"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        check_installed("absent", Absent)
