"""What a stranger may put in the place of a file: links of all kinds, pipes, sockets."""

import os
import re
import stat
from pathlib import Path

LINKS = ("link to a file", "link to a folder", "dangling link", "link to itself")
ODD = (*LINKS, "link to a device", "pipe", "socket")


def plant(path: Path, kind: str, outside: Path) -> None:
    """Put such a thing at a path.

    Args:
        path: where; what is there is not removed.
        kind: one of `ODD`.
        outside: a folder with a `file` in it, to which links lead.
    """
    targets = {
        "link to a file": outside / "file",
        "link to a folder": outside,
        "dangling link": outside / "nothing",
        "link to itself": Path(path.name),
        "link to a device": Path("/dev/zero"),
    }
    if kind in targets:
        path.symlink_to(targets[kind])
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        os.mknod(path, stat.S_IFSOCK | 0o600)


def refusal(path: Path, kind: str) -> str:
    """The whole sentence by which it is refused, as a pattern."""
    said = f"is a {kind}, wanted a regular file"
    if "link" in kind:
        said = "is a symbolic link, which is not followed: replace it with its target"
    return f"^{re.escape(f'{path} {said}')}$"


def outside_of(folder: Path) -> Path:
    """A folder beside this one that nothing may touch."""
    place = folder.parent / "outside"
    place.mkdir()
    (place / "file").write_bytes(b"theirs")
    return place


def is_untouched(outside: Path) -> bool:
    """Whether it is as `outside_of` made it."""
    return os.listdir(outside) == ["file"] and (outside / "file").read_bytes() == b"theirs"
