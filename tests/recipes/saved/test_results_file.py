"""The results of a run: read as they were written, and refused by name where they were forged."""

import json
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.core.errors import DataError
from netwright.recipes.saved.results_file import KNOWN, NEEDED, read_results


def test_the_results_of_a_run_are_read_as_they_were_written(moons_run: nw.Run) -> None:
    assert moons_run.folder is not None
    results = read_results(moons_run.folder)
    assert results == moons_run.results
    assert NEEDED.keys() <= results.keys()
    assert results.keys() - KNOWN.keys() == {"format"}


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_value_of_another_kind_is_refused_by_its_name(
    moons_run: nw.Run, tmp_path: Path, name: str
) -> None:
    for other in (None, -1, "text", [], [1], {"a": "b"}, True, 10**400):
        if KNOWN[name](other):
            continue
        (tmp_path / "results.json").write_text(json.dumps({**moons_run.results, name: other}))
        with pytest.raises(DataError, match=rf"results\.json holds .* as '{name}'$"):
            read_results(tmp_path)


@pytest.mark.parametrize("content", [[], 1, None, "text", {}])
def test_what_is_no_result_is_refused(tmp_path: Path, content: Any) -> None:
    (tmp_path / "results.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match=r"results\.json (does not contain|lacks)"):
        read_results(tmp_path)
