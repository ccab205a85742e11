"""The folders beside a case, which hold secrets, and what became of them.

Writes and deletions are found by comparing content, names, kinds, modes and times of change; reads
by the kernel (inotify), for a library may open a file without Python's knowing, and times of access
are not kept everywhere. What was read may also turn up in what is printed or written: `SECRET`.
"""

import ctypes
import hashlib
import os
import stat
import struct
from collections.abc import Iterator
from pathlib import Path

from tests.hostile.case import Place

SECRET = "xyzzy-canary-4711"
ACCESS, OPEN = 0x1, 0x20  # IN_ACCESS, IN_OPEN of inotify
EVENT = struct.Struct("iIII")
OUTSIDE = {
    "secret.txt": f"{SECRET}\n",
    "secret.csv": f"a,b,colour,y\n1,2,{SECRET},yes\n2,1,{SECRET},no\n",
    "secret.json": f'{{"format": 1, "status": "{SECRET}", "sha256": {{}}}}\n',
    "folder/001/diary.txt": f"{SECRET}\n",
    "folder/step-000001/manifest.json": f'{{"format": 1, "sha256": {{"{SECRET}": ""}}}}\n',
    "folder/notes.txt": f"{SECRET}\n",
}
HOME = {".bash_profile": f"# {SECRET}\n", ".ssh/authorized_keys": f"{SECRET}\n"}


def set_up(place: Place) -> None:
    """Make the folders of a case."""
    for folder in (place.work, place.temporary):
        folder.mkdir(parents=True)
    for top, files in ((place.outside, OUTSIDE), (place.home, HOME)):
        for name, text in files.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text)


def canaries(place: Place) -> Iterator[Path]:
    """All that lies where nobody may be; links are not followed."""
    for top in (place.outside, place.home):
        yield top
        for folder, folders, files in os.walk(top):
            yield from (Path(folder) / name for name in (*folders, *files))


def state_of(path: Path) -> tuple[object, ...]:
    """What a write would change: kind and mode, size, time of change, content."""
    seen = path.lstat()
    is_file = stat.S_ISREG(seen.st_mode)
    content = hashlib.sha256(path.read_bytes()).hexdigest() if is_file else ""
    return (seen.st_mode, seen.st_size if is_file else 0, seen.st_mtime_ns, content)


class Watch:
    """Notices what happens to the canaries of a place from now on."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.before = {path: state_of(path) for path in canaries(place)}
        self.library = ctypes.CDLL(None, use_errno=True)
        self.handle = self.library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.handle < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        self.names = {}
        for path in self.before:
            number = self.library.inotify_add_watch(self.handle, os.fsencode(path), ACCESS | OPEN)
            if number < 0:
                raise OSError(ctypes.get_errno(), f"inotify_add_watch {path}")
            self.names[number] = path

    def close(self) -> dict[str, list[str]]:
        """What was read, written and deleted outside since; empty lists where nothing was."""
        read = sorted({str(path.relative_to(self.place.top)) for path in self._opened()})
        os.close(self.handle)
        after = {path: state_of(path) for path in canaries(self.place)}
        names = {path: str(path.relative_to(self.place.top)) for path in {**self.before, **after}}
        written = [
            name
            for path, name in names.items()
            if path in after and after[path] != self.before.get(path)
        ]
        deleted = [name for path, name in names.items() if path not in after]
        return {"read": read, "written": sorted(written), "deleted": sorted(deleted)}

    def _opened(self) -> Iterator[Path]:
        try:
            events = os.read(self.handle, 1 << 20)
        except BlockingIOError:
            return
        while events:
            number, _, _, length = EVENT.unpack_from(events)
            if number in self.names:
                yield self.names[number]
            events = events[EVENT.size + length :]


def holds_secret(place: Place) -> list[str]:
    """The files that the commands wrote, or were given, into which a secret has come."""
    found = []
    for folder, _, files in os.walk(place.work):
        for name in files:
            path = Path(folder) / name
            if stat.S_ISREG(path.lstat().st_mode) and path.lstat().st_size < 10_000_000:
                if SECRET.encode() in path.read_bytes():
                    found.append(str(path.relative_to(place.top)))
    return sorted(found)
