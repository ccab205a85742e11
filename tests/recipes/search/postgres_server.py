"""A PostgreSQL server of a test's own: in a new folder, on a socket, with no listener."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "Opensesame-%2F-7"
USER = "wright"
LIMIT = 60.0  # seconds for what should take one


@dataclass(frozen=True)
class PostgresServer:
    """One that runs; its socket is in its folder."""

    folder: Path

    @property
    def address(self) -> str:
        return f"postgresql://{USER}@/postgres?host={self.folder}"


def find_programs() -> Path:
    """Where Debian has them, or the path; a test without them is skipped."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    for folder in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (folder / "initdb").exists():
            return folder
    found = shutil.which("initdb")
    if found is None:
        pytest.skip("PostgreSQL is not installed")
    return Path(found).resolve().parent


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """A server for a block, which needs a password; it never runs as root, and writes no log."""
    programs, user = find_programs(), _user()
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # pytest's own is for one user only
    process = None
    try:
        secret = folder / "secret"
        secret.write_text(PASSWORD)
        for path in (folder, secret):
            if user:
                owner = pwd.getpwnam(user["user"])
                os.chown(path, owner.pw_uid, owner.pw_gid)
        data = str(folder / "data")
        said = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **user}
        how = ["-U", USER, "-A", "scram-sha-256", "--pwfile", str(secret), "--no-sync"]
        subprocess.run([str(programs / "initdb"), "-D", data, *how], check=True, **said)
        secret.unlink()
        settings = ["-c", "listen_addresses=", "-c", "fsync=off", "-k", str(folder)]
        process = subprocess.Popen([str(programs / "postgres"), "-D", data, *settings], **said)
        _await(programs, folder)
        yield PostgresServer(folder)
    finally:
        if process is not None:
            process.send_signal(signal.SIGINT)  # also where somebody is still connected
            process.wait(LIMIT)
        shutil.rmtree(folder)


def _user() -> dict[str, Any]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid():
        return {}
    for name in ("postgres", "nobody"):
        try:
            return {"user": name, "group": pwd.getpwnam(name).pw_gid, "extra_groups": []}
        except KeyError:
            continue
    pytest.skip("there is no user to run PostgreSQL as")


def _await(programs: Path, folder: Path) -> None:
    until = time.monotonic() + LIMIT
    asked = [str(programs / "pg_isready"), "-q", "-h", str(folder)]
    while subprocess.run(asked, check=False).returncode:
        assert time.monotonic() < until, "PostgreSQL did not start"
        time.sleep(0.05)
