"""`profile.json`: read back as it was written; what no run writes is refused by its name."""

import json
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import DataError
from netwright.train.profiling.profile_file import FILE, MOST_ROWS, read_profile, write_profile
from tests.inspection.training.profiles import ON_A_CPU, ON_CUDA

OPERATION = {"name": "mm", "calls": 1.0, "seconds": 0.1}


@pytest.mark.parametrize("profile", [ON_A_CPU, ON_CUDA])
def test_it_is_read_back_as_it_was_written(profile: Any, tmp_path: Path) -> None:
    write_profile(tmp_path / FILE, profile)
    assert read_profile(tmp_path / FILE) == profile


def test_where_there_is_no_file_there_is_no_profile(tmp_path: Path) -> None:
    assert read_profile(tmp_path / FILE) is None


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"format": None},
        {"seconds": 0},
        {"seconds": -1.0},
        {"seconds": "1"},
        {"seconds": 1e300},
        {"flops_per_second": 0.0},
        {"bytes_per_second": None},
        {"peak": -1},
        {"unit": "apples"},
        {"updates": 1.5},
        {"is_graph": 1},
        {"more": 1},
        {"parts": 3},
        {"parts": [3]},
        {"parts": [{"name": "data"}]},
        {"parts": [{"name": "data", "seconds": -0.1}]},
        {"operations": [OPERATION] * (MOST_ROWS + 1)},
        {"operations": [{**OPERATION, "seconds": 1e300}]},
        {"memory": {"kind": "weights"}},
    ],
)
def test_what_no_run_writes_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    write_profile(tmp_path / FILE, ON_A_CPU)
    values = json.loads((tmp_path / FILE).read_text()) | change
    (tmp_path / FILE).write_text(json.dumps(values))
    with pytest.raises(DataError, match=r"profile\.json is not the profile of a run"):
        read_profile(tmp_path / FILE)


@pytest.mark.parametrize("content", ["[]", "3", "[[1, 2]]", '"text"', "null"])
def test_what_is_no_record_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(content)
    with pytest.raises(DataError, match=r"profile\.json"):
        read_profile(tmp_path / FILE)


def test_a_field_that_is_missing_is_refused(tmp_path: Path) -> None:
    write_profile(tmp_path / FILE, ON_A_CPU)
    values = json.loads((tmp_path / FILE).read_text())
    for name in ("format", "seconds", "memory"):
        (tmp_path / FILE).write_text(
            json.dumps({key: value for key, value in values.items() if key != name})
        )
        with pytest.raises(DataError, match=r"profile\.json is not the profile of a run"):
            read_profile(tmp_path / FILE)
