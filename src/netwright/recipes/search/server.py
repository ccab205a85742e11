"""A PostgreSQL server that keeps the trials of searches: machines need no folder in common.

    postgresql://USER@HOST:PORT/DATABASE            postgresql:///DATABASE?host=/run/postgresql

An address has no password: others on a machine see the words of a command, and the address stands
in `search.yaml`. PostgreSQL's own library reads it from PGPASSWORD or ~/.pgpass. The same search,
from whatever machine and folder, has the same study: its name is the digest of the plan, in which
rows and vectors stand for the files that hold them.

Which processes are at work the server knows: each has a lock of its session, which ends with the
process or, once the server finds it silent, with its machine.

Source: https://www.postgresql.org/docs/current/explicit-locking.html, advisory locks;
https://www.postgresql.org/docs/current/runtime-config-connection.html, keepalives.
"""

import hashlib
import json
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, urlsplit

from netwright.core.errors import ConfigError, NetwrightError, RunError
from netwright.core.terminal.console import print_message
from netwright.data.files.download import is_offline
from netwright.recipes.plan.recipe_paths import PATHS
from netwright.recipes.saved.take_vectors import with_file_sum
from netwright.recipes.search.plan import SearchPlan
from netwright.recipes.search.server_address import SCHEME
from netwright.recipes.search.workers import NAME, new_process_name

if TYPE_CHECKING:
    import psycopg
    from optuna.storages import BaseStorage

PATIENCE = 10  # seconds in which the server must answer, and after which a wait is told
# Either side finds the other one lost within a minute, not after the two hours of most systems.
KEEPALIVES: Mapping[str, Any] = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}
WAITS = (
    f"waiting for another process of this search, which has had its lock for {PATIENCE} s; the "
    f"server ends the session of a machine that is lost within a minute"
)
MAY_DIFFER = ("storage", "trials")  # what machines may name otherwise in the same search
LOCAL = ("", "localhost", "127.0.0.1", "::1")


def study_name(plan: SearchPlan) -> str:
    """The name of a search among all that a database keeps.

    Where a machine has its files is no part of it: the plan holds digests of their rows.
    """
    vectors = with_file_sum(plan.recipe.model_settings)
    whole = replace(plan, recipe=replace(plan.recipe, model_settings=vectors)).to_mapping()
    kept = {name: one for name, one in whole.items() if name not in MAY_DIFFER}
    for section, settings in PATHS.items():
        for setting in settings:
            kept["recipe"][section].pop(setting, None)
    text = json.dumps(kept, sort_keys=True, default=str)
    return f"netwright-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def connect(address: str) -> "psycopg.Connection[Any]":
    """A session with the server; one that does not answer, or refuses, is one sentence."""
    try:
        import psycopg  # noqa: PLC0415 - optional
    except ImportError:
        raise ConfigError(
            "a search on PostgreSQL needs psycopg: pip install 'netwright[postgres]'"
        ) from None
    _check_allowed(address)
    told = " ".join(f"-c tcp_{name}={value}" for name, value in KEEPALIVES.items())
    try:
        return psycopg.connect(
            address,
            connect_timeout=PATIENCE,
            application_name="netwright",
            options=told,  # of the server, which lets go of the locks of who is lost
            **KEEPALIVES,  # of this side
        )
    except psycopg.Error as error:
        raise ConfigError(f"{address} cannot be connected to: {_reason(error)}") from None


def _check_allowed(address: str) -> None:
    parts = urlsplit(address)
    host = dict(parse_qsl(parts.query)).get("host", parts.hostname or "")
    if is_offline() and not host.startswith("/") and host not in LOCAL:
        raise ConfigError(f"{address} is on the network, and NETWRIGHT_OFFLINE is set")


def open_storage(address: str) -> "BaseStorage":
    """Optuna's storage on the server."""
    from optuna.storages import RDBStorage  # noqa: PLC0415 - optional

    # Sessions are made by `connect`: no part of the address is read by anybody else.
    made = RDBStorage(
        f"{SCHEME}+psycopg://",
        # A trial takes hours in which a session may be lost: before its use it is made anew.
        engine_kwargs={"creator": lambda: connect(address), "pool_pre_ping": True},
    )
    weakref.finalize(made, made.engine.dispose)  # a study is read as long as somebody has it
    return cast("BaseStorage", made)


@contextmanager
def telling_of_server(storage: str) -> Iterator[None]:
    """Turn what a server that is lost on the way makes of a call into one sentence."""
    if not storage.startswith(SCHEME):
        yield
        return
    try:
        yield
    except NetwrightError:
        raise
    except Exception as error:
        if not _is_of_server(error):
            raise
        raise RunError(f"{storage} no longer answers: {_reason(error)}") from None


def _is_of_server(error: BaseException | None) -> bool:
    """Whether an error, or what it was made of, is one of the driver, whoever raised it."""
    while error is not None:
        if type(error).__module__.partition(".")[0] in {"psycopg", "sqlalchemy"}:
            return True
        error = error.__cause__ or error.__context__
    return False


def _reason(error: BaseException) -> str:
    said = str(error).strip().splitlines()
    return f"{said[0] if said else type(error).__name__:.200}"


class SessionLock:
    """A lock of one session, which the server lets go of when the session ends.

    Args:
        session: whose it is.
        name: of what is locked; the same name is the same lock in all sessions.
        quiet: a long wait for it is not told.
    """

    def __init__(
        self, session: "psycopg.Connection[Any]", name: str, *, quiet: bool = True
    ) -> None:
        self.session, self.quiet = session, quiet
        digest = hashlib.sha256(name.encode()).digest()
        self.key = int.from_bytes(digest[:8], "big", signed=True)

    def __enter__(self) -> "SessionLock":
        if not self.wait():
            if not self.quiet:
                print_message(WAITS)
            while not self.wait():
                pass
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def wait(self) -> bool:
        """Whether it was let go of within the `lock_timeout` of the session, and is now its own."""
        from psycopg.errors import LockNotAvailable  # noqa: PLC0415 - optional

        try:
            self.session.execute("SELECT pg_advisory_lock(%s)", (self.key,))
        except LockNotAvailable:
            return False
        return True

    def try_to_take(self) -> bool:
        """Whether it was free, and is now of this session."""
        row = self.session.execute("SELECT pg_try_advisory_lock(%s)", (self.key,)).fetchone()
        return row is not None and bool(row[0])

    def release(self) -> None:
        """Let go; where the session is over, the server has."""
        if not self.session.closed:
            self.session.execute("SELECT pg_advisory_unlock(%s)", (self.key,))


class ServerWorkers:
    """Processes that share a server; see `Workers`.

    Args:
        address: of the server.
        study: the name of what they work on.
        quiet: print nothing.
    """

    def __init__(self, address: str, study: str, *, quiet: bool = False) -> None:
        self.study, self.process = study, new_process_name()
        self.session = connect(address)
        self.session.autocommit = True
        self.session.execute(f"SET lock_timeout = '{PATIENCE}s'")
        weakref.finalize(self, self.session.close)
        self._guard = SessionLock(self.session, f"{study}/study", quiet=quiet)
        self._alive = self._lock_of(self.process)

    @property
    def guard(self) -> SessionLock:
        """See `Workers`."""
        return self._guard

    def enter(self) -> None:
        """Take the lock of this process."""
        with self.guard:
            self._alive.try_to_take()

    def leave(self) -> None:
        """Let go of it."""
        if not self.session.closed:
            self._alive.release()

    def lives(self, process: object) -> bool:
        """See `Workers.lives`."""
        if not isinstance(process, str) or not NAME.fullmatch(process):
            return False
        lock = self._lock_of(process)
        if not lock.try_to_take():
            return True
        lock.release()
        return False

    def _lock_of(self, process: str) -> SessionLock:
        return SessionLock(self.session, f"{self.study}/{process}")
