"""Where trials are written: both storages, and a journal that a kill cut within a line."""

import sys
from pathlib import Path

import pytest

from netwright.core.errors import ConfigError
from netwright.recipes.search.storage import DATABASE, JOURNAL, LOCKS, import_optuna, open_study
from tests.recipes.search.search_plans import plan


def test_a_study_is_found_again_with_its_direction(tmp_path: Path) -> None:
    (tmp_path / LOCKS).mkdir()
    planned = plan(storage="sqlite", metric="val/accuracy", pruner="hyperband")
    first = open_study(tmp_path, planned)
    first.tell(first.ask(), 0.5)
    again = open_study(tmp_path, planned)
    assert [trial.value for trial in again.trials] == [0.5]
    assert again.direction.name == "MAXIMIZE"


def test_half_a_line_of_a_killed_process_is_cut_off_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / LOCKS).mkdir()
    study = open_study(tmp_path, plan())
    study.tell(study.ask(), 1.0)
    whole = (tmp_path / JOURNAL).read_bytes()
    with (tmp_path / JOURNAL).open("ab") as file:
        file.write(b'{"op_code":5,"worker_id":"x","tri')
    study.tell(study.ask(), 2.0)
    assert (tmp_path / JOURNAL).read_bytes().startswith(whole)
    assert [trial.value for trial in open_study(tmp_path, plan()).trials] == [1.0, 2.0]


def test_without_optuna_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ConfigError) as refused:
        import_optuna()
    assert str(refused.value) == "netwright search needs optuna: pip install 'netwright[search]'"


@pytest.mark.parametrize("storage", ["journal", "sqlite"])
@pytest.mark.parametrize(
    "name", ["a?b=c", "50%20 %s", "a#b", "two  words", "schön-\u7db2", "{SCHEMA_VERSION}", "file:x"]
)
def test_a_folder_may_be_called_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, storage: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    folder, planned = Path(name), plan(storage=storage)
    (folder / LOCKS).mkdir(parents=True)
    study = open_study(folder, planned)
    study.tell(study.ask(), 0.5)
    assert [trial.value for trial in open_study(folder, planned).trials] == [0.5]
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (folder / (JOURNAL if storage == "journal" else DATABASE)).stat().st_size > 0
