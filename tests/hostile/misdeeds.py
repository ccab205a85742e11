"""What a command must not do, done on purpose: the jail and the canaries must see each of them."""

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

OUTSIDE = Path("../outside")


def read() -> None:
    """Open a file outside."""
    (OUTSIDE / "secret.txt").read_bytes()


def list_names() -> None:
    """Look into a folder outside."""
    os.listdir(OUTSIDE / "folder")


def write() -> None:
    """Write a file at home."""
    (Path.home() / ".profile").write_text("owned")


def touch() -> None:
    """Change nothing of a file but its time."""
    os.utime(OUTSIDE / "secret.txt", (0, 0))


def open_to_all() -> None:
    """Change nothing of a file but its mode."""
    os.chmod(OUTSIDE / "secret.txt", 0o777)


def delete() -> None:
    """Remove a folder outside."""
    shutil.rmtree(OUTSIDE / "folder")


def remember() -> None:
    """Leave a file of a strange name in the cache."""
    cache = Path(os.environ["NETWRIGHT_HOME"])
    cache.mkdir(exist_ok=True)
    (cache / "autorun.py").write_text("x")


def leave_behind() -> None:
    """Forget a temporary file."""
    (Path(os.environ["TMPDIR"]) / "forgotten").write_text("x")


def steer() -> None:
    """Clear the screen."""
    sys.stdout.write("\x1b[2J")


def raise_it() -> None:
    """Fail as no command may."""
    raise KeyError("op_code")


def swell() -> None:
    """Take 2 GB."""
    bytearray(2 << 30)


def die() -> None:
    """Crash."""
    os.kill(os.getpid(), signal.SIGSEGV)


def say_nothing() -> None:
    """End in failure without a sentence."""
    os._exit(1)


def say_two() -> None:
    """Refuse in two sentences."""
    sys.stderr.write("error: one\nerror: two\n")
    sys.stderr.flush()
    os._exit(1)


def sleep() -> None:
    """Wait for what never comes."""
    while True:
        time.sleep(3600)


def spin() -> None:
    """Never come to an end."""
    while True:
        pass


MISDEEDS: dict[Callable[[], None], str] = {
    read: "read",
    list_names: "read",
    write: "written",
    touch: "written",
    open_to_all: "written",
    delete: "deleted",
    leave_behind: "written",
    remember: "written",
    steer: "escape codes",
    raise_it: "traceback",
    swell: "memory",
    die: "crash",
    say_nothing: "wrong end",
    say_two: "wrong end",
}
# These are found after half a minute or a minute.
SLOW: dict[Callable[[], None], str] = {sleep: "hang", spin: "hang"}
