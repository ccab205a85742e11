"""`netwright runs`: the list, and what is done to one of it."""

import json
from pathlib import Path

from tests.apps.cli.conftest import Type
from tests.recipes.saved.test_run_list import begun


def test_lists_the_runs_of_a_folder(type_in: Type, tmp_path: Path) -> None:
    begun(tmp_path / "runs" / "a")
    assert "runs/a" in type_in("runs").out
    (told,) = json.loads(type_in("runs", "--json").out)
    assert (told["name"], told["state"], told["value"]) == ("runs/a", "interrupted", None)


def test_deletes_to_the_bin(type_in: Type, tmp_path: Path) -> None:
    begun(tmp_path / "a")
    assert "moved to .bin/a-" in type_in("runs", "--delete", "a").out
    assert "there are no runs in ." in type_in("runs").err


def test_refuses_in_one_sentence(type_in: Type, tmp_path: Path) -> None:
    begun(tmp_path / "a")
    assert type_in("runs", "--stop", "a").err == "error: a is not being trained\n"
    assert type_in("runs", "--stop", "b").err == "error: there is no run 'b' in .\n"
    assert type_in("runs", "nowhere").code == 2
