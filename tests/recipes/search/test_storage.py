"""Where trials are written: both storages, and a journal that a kill cut within a line."""

import re
import sqlite3
import struct
import sys
from contextlib import closing
from pathlib import Path

import pytest

from netwright.core.errors import ConfigError, DataError
from netwright.core.files.process_lock import ProcessLock
from netwright.recipes.search.storage import (
    DATABASE,
    DATABASE_FILES,
    JOURNAL,
    JOURNAL_MAGIC,
    JournalLock,
    import_optuna,
    open_study,
)
from netwright.recipes.search.workers import LOCKS, study_lock
from tests.odd_files import ODD, is_untouched, outside_of, plant, refusal
from tests.recipes.search.search_plans import plan
from tests.repetition import slow_but


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
    "name",
    slow_but(
        ["a?b=c", "50%20 %s"],
        ["a?b=c", "50%20 %s", "a#b", "two  words", "schön-\u7db2", "{SCHEMA_VERSION}", "file:x"],
    ),
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


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize(
    ("storage", "name"),
    [("journal", JOURNAL), *(("sqlite", name) for name in DATABASE_FILES)],
)
def test_what_optuna_opens_by_its_name_is_no_link(
    tmp_path: Path, storage: str, name: str, kind: str
) -> None:
    folder = tmp_path / "search"
    (folder / LOCKS).mkdir(parents=True)
    outside = outside_of(folder)
    plant(folder / name, kind, outside)
    with pytest.raises(DataError, match=refusal(folder / name, kind)):
        open_study(folder, plan(storage=storage))
    assert is_untouched(outside)


def test_a_journal_that_became_a_link_is_not_written_to(tmp_path: Path) -> None:
    folder = tmp_path / "search"
    (folder / LOCKS).mkdir(parents=True)
    study = open_study(folder, plan())
    outside = outside_of(folder)
    (folder / JOURNAL).unlink()
    (folder / JOURNAL).symlink_to(outside / "file")
    with pytest.raises(DataError, match=refusal(folder / JOURNAL, "link")):
        study.ask()
    assert is_untouched(outside)


def test_a_journal_of_sqlite_that_names_another_file_is_not_rolled_back(tmp_path: Path) -> None:
    folder = tmp_path / "search"
    (folder / LOCKS).mkdir(parents=True)
    open_study(folder, plan(storage="sqlite"))
    outside = outside_of(folder)
    hot = hot_journal(tmp_path / "made")
    name = str(outside / "file").encode()
    page = 2**30 // 4096 + 1  # where SQLite keeps its locks: no page of data
    tail = struct.pack(">I", page) + name + struct.pack(">II", len(name), sum(name)) + JOURNAL_MAGIC
    (folder / f"{DATABASE}-journal").write_bytes(hot + tail)
    sentence = (
        f"{folder / DATABASE}-journal refers to another file, which SQLite would delete: remove it"
    )
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        open_study(folder, plan(storage="sqlite"))
    assert is_untouched(outside)
    with closing(sqlite3.connect(folder / DATABASE)) as reckless:  # the threat is real
        reckless.execute("select count(*) from sqlite_master")
    assert not (outside / "file").exists()


def hot_journal(folder: Path) -> bytes:
    """The journal of a transaction that does not come to its end."""
    folder.mkdir()
    with closing(sqlite3.connect(folder / "x.db", isolation_level=None)) as database:
        database.execute("pragma cache_size = 1")
        database.execute("create table t (x)")
        database.execute("begin")
        database.executemany("insert into t values (?)", [("x" * 500,)] * 100)
        return (folder / "x.db-journal").read_bytes()


def test_a_journal_that_an_honest_kill_left_is_rolled_back(tmp_path: Path) -> None:
    (tmp_path / LOCKS).mkdir()
    open_study(tmp_path, plan(storage="sqlite"))
    (tmp_path / f"{DATABASE}-journal").write_bytes(b"")
    assert open_study(tmp_path, plan(storage="sqlite")).trials == []


def test_removing_the_files_of_locks_that_are_held_lets_nobody_in(tmp_path: Path) -> None:
    (tmp_path / LOCKS).mkdir()
    open_study(tmp_path, plan())
    for make in (study_lock, lambda folder: JournalLock(folder / JOURNAL)):
        with make(tmp_path) as lock:
            lock.path.unlink()
            assert not ProcessLock(lock.path, inside=tmp_path, guarding=lock.guarding).acquire(
                wait=False
            )


@pytest.mark.parametrize(
    "line",
    ["garbage", "[1, 2]", "[" * 100_000, '{"op_code": 99, "worker_id": "w"}', '{"op_code": "0"}'],
)
def test_a_journal_with_a_line_of_no_study_is_refused_by_its_name(
    tmp_path: Path, line: str
) -> None:
    (tmp_path / LOCKS).mkdir()
    open_study(tmp_path, plan())
    with (tmp_path / JOURNAL).open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(DataError, match=r"study\.journal cannot be read as a study: "):
        open_study(tmp_path, plan())


@pytest.mark.parametrize(
    "spoil",
    [
        "ALTER TABLE trials RENAME COLUMN state TO x",
        "UPDATE alembic_version SET version_num = 'v99'",
        "UPDATE trial_values SET value = 'many'",
    ],
)
def test_a_database_that_is_no_study_is_refused_by_its_name(
    tmp_path: Path, spoil: str, capfd: pytest.CaptureFixture[str]
) -> None:
    planned = plan(storage="sqlite")
    (tmp_path / LOCKS).mkdir()
    study = open_study(tmp_path, planned)
    study.tell(study.ask(), 0.5)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        database.execute(spoil)
        database.commit()
    with pytest.raises(
        DataError, match=r"study\.db cannot be read as a study: |trial 0 has a result"
    ):
        open_study(tmp_path, planned)
    assert capfd.readouterr().err == ""  # Optuna would log it, in colours


def test_a_file_that_is_no_database_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / LOCKS).mkdir()
    (tmp_path / DATABASE).write_bytes(bytes(range(256)) * 20)
    with pytest.raises(DataError, match=r"study\.db cannot be read as a study: DatabaseError"):
        open_study(tmp_path, plan(storage="sqlite"))


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"


@pytest.mark.parametrize(
    ("kind", "statement"),
    [
        (
            "trigger 'odd'",
            "CREATE TRIGGER odd AFTER INSERT ON trials BEGIN "
            f"INSERT INTO trial_user_attributes(trial_id) {ENDLESS}; END",
        ),
        ("view 'odd'", f"CREATE VIEW odd AS {ENDLESS}"),
        ("table 'odd'", "CREATE VIRTUAL TABLE odd USING fts5(x)"),
    ],
    ids=["trigger", "view", "virtual table"],
)
def test_a_database_that_computes_is_refused(tmp_path: Path, kind: str, statement: str) -> None:
    planned = plan(storage="sqlite")
    open_study(tmp_path, planned)
    open_study(tmp_path, planned)  # as often as one likes
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        try:
            database.execute(statement)
        except sqlite3.OperationalError as error:
            pytest.skip(f"this SQLite makes none: {error}")
        database.commit()
    with pytest.raises(DataError, match=f"study.db contains more than tables: {kind}"):
        open_study(tmp_path, planned)
