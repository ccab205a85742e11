"""Where trials are written down: a journal or an SQLite file, by Optuna, shared by processes.

Source: Akiba et al., "Optuna: A Next-generation Hyperparameter Optimization Framework" (2019).
"""

import os
import sqlite3
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, cast

from netwright.core.errors import ConfigError
from netwright.core.process_lock import ProcessLock
from netwright.recipes.search.hyperband import build_hyperband
from netwright.recipes.search.plan import SearchPlan

if TYPE_CHECKING:
    import optuna
    from optuna.storages import BaseStorage
    from optuna.storages.journal._file import BaseJournalFileLock

NAME = "netwright"
LOCKS = "locks"  # the folder that tells which processes are at work
JOURNAL, DATABASE = "study.journal", "study.db"
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
    """The study of a folder, made where it is not there; call it as the only one who does."""
    study: optuna.Study = import_optuna().create_study(
        storage=_storage(folder, plan),
        study_name=NAME,
        direction="minimize" if plan.is_lower_better else "maximize",
        load_if_exists=True,
    )
    study.pruner = _pruner(plan, study)
    return study


class JournalLock(ProcessLock):
    """Held while a line is added to the journal; half a line that a kill left is cut off first.

    Nobody has read it, since a line is read only when it is whole; but the next one would be
    written behind it, and neither could be read then.
    """

    def __init__(self, journal: Path) -> None:
        super().__init__(journal.parent / LOCKS / "journal")
        self.journal = journal

    def acquire(self, *, wait: bool = True) -> bool:
        """Take the lock, and mend the journal."""
        taken = super().acquire(wait=wait)
        with self.journal.open("rb+") as file:
            if file.seek(0, os.SEEK_END) and file.seek(-1, os.SEEK_END) and file.read(1) != b"\n":
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)
        return taken


def _storage(folder: Path, plan: SearchPlan) -> "BaseStorage":
    optuna = import_optuna()
    if plan.storage == "sqlite":
        return _database(folder / DATABASE)
    from optuna.storages.journal import JournalFileBackend  # noqa: PLC0415 - optional

    journal = folder / JOURNAL
    lock = cast("BaseJournalFileLock", JournalLock(journal))  # it has the two methods of one
    backend = JournalFileBackend(str(journal), lock)
    return cast("BaseStorage", optuna.storages.JournalStorage(backend))


def _database(path: Path) -> "BaseStorage":
    """The file is named by its path: in a URL "?", "%", "#" and "{" mean something."""
    file = path.resolve()

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(file, timeout=PATIENCE, check_same_thread=False)

    storage = import_optuna().storages.RDBStorage(
        f"sqlite:///{DATABASE}", engine_kwargs={"creator": connect}
    )
    return cast("BaseStorage", storage)


def _pruner(plan: SearchPlan, study: "optuna.Study") -> "optuna.pruners.BasePruner":
    pruners = import_optuna().pruners
    if plan.pruner == "median":
        pruner = pruners.MedianPruner(n_startup_trials=STARTUP, n_warmup_steps=WARMUP)
    elif plan.pruner == "hyperband":
        pruner = build_hyperband(study, min_resource=WARMUP)
    else:
        pruner = pruners.NopPruner()
    return cast("optuna.pruners.BasePruner", pruner)
