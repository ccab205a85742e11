"""Where trials are written down, by Optuna: a journal, an SQLite file, or a PostgreSQL server.

Source: Akiba et al., "Optuna: A Next-generation Hyperparameter Optimization Framework" (2019).
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, BinaryIO, cast

from netwright.core.errors import ConfigError, DataError, NetwrightError
from netwright.core.files.inside import check_entries, has_file, parent_of
from netwright.core.files.process_lock import ProcessLock
from netwright.recipes.search.hyperband import build_hyperband
from netwright.recipes.search.plan import SearchPlan
from netwright.recipes.search.server import open_storage, study_name
from netwright.recipes.search.trial_result import read_trial
from netwright.recipes.search.workers import LOCKS

if TYPE_CHECKING:
    import optuna
    from optuna.storages import BaseStorage
    from optuna.storages.journal._file import BaseJournalFileLock

NAME = "netwright"
JOURNAL, DATABASE = "study.journal", "study.db"
DATABASE_FILES = (DATABASE, *(f"{DATABASE}-{end}" for end in ("journal", "wal", "shm")))
# What ends a journal that names another one (https://sqlite.org/fileformat.html, section 3).
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
PATIENCE = 60.0  # seconds to wait for another process that writes to the database
STARTUP = 5  # trials that run to their end before any is pruned
WARMUP = 2  # epochs before a trial may be pruned


def import_optuna() -> ModuleType:
    """Optuna, told to keep to warnings; refused in one sentence where it is not installed."""
    try:
        import optuna  # noqa: PLC0415 - optional
    except ImportError:
        raise ConfigError(
            "netwright search needs optuna: pip install 'netwright[search]'"
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def open_study(folder: Path, plan: SearchPlan) -> "optuna.Study":
    """The study of a folder, made where it is not there; call it as the only one who does.

    What is there and cannot be read as a study, with every trial in it, is refused.
    """
    library = import_optuna()
    try:
        kept = _storage(folder, plan)
        library.logging.set_verbosity(library.logging.CRITICAL)  # the refusal says what is wrong
        study: optuna.Study = library.create_study(
            storage=kept,
            study_name=study_name(plan) if plan.on_server else NAME,
            direction="minimize" if plan.is_lower_better else "maximize",
            load_if_exists=True,
        )
        for trial in study.get_trials(deepcopy=False):
            read_trial(trial)
    except NetwrightError:
        raise
    except Exception as error:  # of Optuna, SQLAlchemy or SQLite, whose files may hold anything
        said = f"{type(error).__name__} {error}".splitlines()[0]
        raise DataError(f"{_name(folder, plan)} cannot be read as a study: {said:.200}") from None
    finally:
        library.logging.set_verbosity(library.logging.WARNING)
    study.pruner = _pruner(plan, study)
    return study


class JournalLock(ProcessLock):
    """Held while a line is added to the journal; half a line that a kill left is cut off first.

    Nobody has read it, since a line is read only when it is whole; but the next one would be
    written behind it, and neither could be read then.
    """

    def __init__(self, journal: Path) -> None:
        folder = journal.parent
        super().__init__(folder / LOCKS / "journal", inside=folder, guarding=folder / LOCKS)
        self.journal = journal

    def acquire(self, *, wait: bool = True) -> bool:
        """Take the lock, and mend the journal."""
        taken = super().acquire(wait=wait)
        with own_file(self.journal) as file:
            if file.seek(0, os.SEEK_END) and file.seek(-1, os.SEEK_END) and file.read(1) != b"\n":
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)
        return taken


def _name(folder: Path, plan: SearchPlan) -> str:
    """What keeps the trials, as errors call it."""
    if plan.on_server:
        return plan.storage
    return str(folder / (DATABASE if plan.storage == "sqlite" else JOURNAL))


@contextmanager
def own_file(path: Path) -> Iterator[BinaryIO]:
    """A file of the search that others open by its name: no link, and made where it is not there.

    Args:
        path: of the file, in the folder of the search.
    """
    with parent_of(path) as parent:
        handle = parent.open(path.name, os.O_RDWR | os.O_CREAT)
        with os.fdopen(handle, "rb+") as file:
            yield file


def check_database(folder: Path) -> None:
    """Refuse a database whose files are links, or one whose journal would delete another file.

    A journal that a kill has left is rolled back by SQLite, which then deletes the journal of the
    whole transaction that it names at its end, whatever file that is. Ours never name one: there
    is a single database.
    """
    check_entries(folder, DATABASE_FILES)
    with own_file(folder / DATABASE):
        pass
    journal = folder / f"{DATABASE}-journal"
    if has_file(journal):
        with own_file(journal) as file:
            file.seek(-min(len(JOURNAL_MAGIC), file.seek(0, os.SEEK_END)), os.SEEK_END)
            if file.read() == JOURNAL_MAGIC:
                raise DataError(
                    f"{journal} refers to another file, which SQLite would delete: remove it"
                )


def _storage(folder: Path, plan: SearchPlan) -> "BaseStorage":
    optuna = import_optuna()
    if plan.on_server:
        return open_storage(plan.storage)
    if plan.storage == "sqlite":
        check_database(folder)
        return _database(folder / DATABASE)
    from optuna.storages.journal import JournalFileBackend  # noqa: PLC0415 - optional

    journal = folder / JOURNAL
    with own_file(journal):  # Optuna would make it also where a link leads
        pass
    lock = cast("BaseJournalFileLock", JournalLock(journal))  # it has the two methods of one
    backend = JournalFileBackend(str(journal), lock)
    return cast("BaseStorage", optuna.storages.JournalStorage(backend))


def _database(path: Path) -> "BaseStorage":
    """The file is named by its path: in a URL "?", "%", "#" and "{" mean something."""
    file = path.resolve()

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(file, timeout=PATIENCE, check_same_thread=False)
        try:
            _check_only_tables(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection

    storage = import_optuna().storages.RDBStorage(
        f"sqlite:///{DATABASE}", engine_kwargs={"creator": connect}
    )
    return cast("BaseStorage", storage)


def _check_only_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that computes: triggers, views and virtual tables, which have no pages.

    One of them, written by a stranger, may add rows without end wherever Optuna adds or reads one.
    """
    odd = connection.execute(
        "SELECT type, name FROM sqlite_master WHERE ifnull(rootpage, 0) = 0"
    ).fetchone()
    if odd is not None:
        kind, name = odd
        raise DataError(
            f"{path} contains more than tables: {kind} {name!r:.60}, which netwright never writes"
        )


def _pruner(plan: SearchPlan, study: "optuna.Study") -> "optuna.pruners.BasePruner":
    pruners = import_optuna().pruners
    if plan.pruner == "median":
        pruner = pruners.MedianPruner(n_startup_trials=STARTUP, n_warmup_steps=WARMUP)
    elif plan.pruner == "hyperband":
        pruner = build_hyperband(study, min_resource=WARMUP)
    else:
        pruner = pruners.NopPruner()
    return cast("optuna.pruners.BasePruner", pruner)
