"""What lies inside a folder, reached by descriptors that follow no link and wait for no pipe.

Folders are mailed and shared, so each name in one may be a link, a device or a pipe. The folder
that the user named may be a link, and so may all above it; below it, each name is opened relative
to the folder that holds it (`openat` of POSIX.1-2008), and a link is refused by its name. Windows
has no such calls: there each name is looked at before it is used.
"""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from io import BufferedReader
from pathlib import Path

from netwright.core.errors import DataError

HAS_DESCRIPTORS = os.open in os.supports_dir_fd
# Flags that not every system has. Without O_NONBLOCK, to open a pipe waits for who writes to it.
_PLAIN = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"))
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "symbolic link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
}


class Folder:
    """A folder that is held open for a block: what is done by a name is done in this very folder.

    Args:
        path: where it was found, which is what errors name.
        handle: its descriptor; None where the system works by paths alone.
    """

    def __init__(self, path: Path, handle: int | None) -> None:
        self.path, self.handle = path, handle

    def __enter__(self) -> "Folder":
        return self

    def __exit__(self, *error: object) -> None:
        if self.handle is not None:
            with suppress(OSError):  # nothing was written through it
                os.close(self.handle)

    def status(self, name: str) -> os.stat_result:
        """The status of an entry itself, not of what it leads to."""
        return os.stat(self._at(name), dir_fd=self.handle, follow_symlinks=False)

    def kind(self, name: str) -> str:
        """Whether an entry is a "file" or a "folder"; "": there is none; others are refused."""
        try:
            return _kind(self.path / name, self.status(name))
        except FileNotFoundError:
            return ""

    def check(self, name: str, levels: int = 2) -> None:
        """Refuse an entry that is, or holds so many levels below, neither a file nor a folder."""
        if self.kind(name) == "folder" and levels:
            with self.folder(name) as folder:
                for inner in folder.names():
                    folder.check(inner, levels - 1)

    def folder(self, name: str) -> "Folder":
        """A folder in this one."""
        self.kind(name)  # names a link; a file is told when it is opened
        return _opened(self._at(name), self.path / name, _PLAIN, self.handle)

    def open(self, name: str, flags: int = os.O_RDONLY) -> int:
        """A descriptor of a regular file; one that is made has the mode that the umask leaves."""
        self.kind(name)  # before it is opened, which some devices take for an order
        handle = os.open(self._at(name), flags | _PLAIN, 0o666, dir_fd=self.handle)
        try:
            if _kind(self.path / name, os.fstat(handle)) == "folder":
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        except BaseException:
            os.close(handle)
            raise
        return handle

    def read(self, name: str) -> BufferedReader:
        """A regular file, open to be read."""
        return os.fdopen(self.open(name), "rb")

    def new_file(self, name: str) -> int:
        """A descriptor of a file that was not there before."""
        return self.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)

    def make_folder(self, name: str) -> None:
        """Make a folder that was not there before."""
        os.mkdir(self._at(name), dir_fd=self.handle)

    def replace(self, source: str, target: str) -> None:
        """Give a file another name, and take the place of the file that has it."""
        old, new = self._at(source), self._at(target)
        os.replace(old, new, src_dir_fd=self.handle, dst_dir_fd=self.handle)

    def move(self, source: str, into: "Folder", target: str) -> None:
        """Move a folder; none but an empty one gives way to it."""
        old, new = self._at(source), into._at(target)
        os.rename(old, new, src_dir_fd=self.handle, dst_dir_fd=into.handle)

    def unlink(self, name: str) -> None:
        """Remove a file, or a link itself."""
        os.unlink(self._at(name), dir_fd=self.handle)

    def remove_empty(self, name: str) -> None:
        """Remove an empty folder."""
        os.rmdir(self._at(name), dir_fd=self.handle)

    def remove_tree(self, name: str) -> None:
        """Remove a folder and what is in it, as far as possible: links, not what they lead to."""
        with suppress(RecursionError):
            shutil.rmtree(self._at(name), ignore_errors=True, dir_fd=self.handle)

    def names(self) -> list[str]:
        """What is in it, sorted."""
        return sorted(os.listdir(self.path if self.handle is None else self.handle))

    def folder_names(self) -> list[str]:
        """The folders in it, sorted; not what links lead to."""
        with os.scandir(self.path if self.handle is None else self.handle) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))

    def flush(self) -> None:
        """Bring the names in it to disk; Windows cannot be asked to."""
        if self.handle is not None:
            os.fsync(self.handle)

    def _at(self, name: str) -> str | Path:
        return self.path / name if self.handle is None else name


@contextmanager
def open_folder(path: Path, inside: Path | None = None) -> Iterator[Folder]:
    """A folder, held open for the block.

    Args:
        path: of the folder.
        inside: the folder that the user named, this one or one above: what lies between the two is
            not reached by links; None: it is this one.
    """
    top = path if inside is None else inside
    names = path.relative_to(top).parts
    if ".." in names:
        raise DataError(f"{path} does not stay inside {top}")
    with ExitStack() as held:
        folder = held.enter_context(_opened(top, top, 0, None))
        for name in names:
            folder = held.enter_context(folder.folder(name))
        yield folder


def _opened(place: str | Path, path: Path, flags: int, above: int | None) -> Folder:
    if not HAS_DESCRIPTORS:
        os.listdir(place)  # says what is wrong with it
        return Folder(path, None)
    return Folder(path, os.open(place, _FOLDER | flags, dir_fd=above))


def parent_of(path: Path, inside: Path | None = None) -> AbstractContextManager[Folder]:
    """The folder that holds `path`, held open for a block; what it holds is reached by the name."""
    return open_folder(path.parent, inside)


def has_file(path: Path, inside: Path | None = None) -> bool:
    """Whether there is a file; a link, a pipe or a device in its place is refused."""
    return kind_of(path, inside) == "file"


def has_folder(path: Path, inside: Path | None = None) -> bool:
    """Whether there is a folder; a link in its place is refused."""
    return kind_of(path, inside) == "folder"


def kind_of(path: Path, inside: Path | None = None) -> str:
    """What a path is: "file", "folder" or "" where nothing is there; anything else is refused."""
    try:
        with parent_of(path, inside) as parent:
            return parent.kind(path.name)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None


def check_entries(folder: Path, names: Iterable[str]) -> None:
    """Refuse a folder in which one of these names is, or holds, neither a file nor a folder."""
    try:
        with open_folder(folder) as here:
            for name in names:
                here.check(name)
    except OSError as error:
        raise DataError(f"{folder} cannot be read: {error.strerror}") from None


def new_name(start: str, end: str) -> str:
    """A name that nobody foresees, and so nobody has put a link there."""
    return f"{start}{secrets.token_hex(6)}{end}"


def _kind(path: Path, status: os.stat_result) -> str:
    """The kind of what has this status; refused where it is neither a file nor a folder."""
    kind = KINDS.get(stat.S_IFMT(status.st_mode), "device")
    if kind == KINDS[stat.S_IFLNK]:
        raise DataError(f"{path} is a {kind}, which is not followed: replace it with its target")
    if kind not in {"file", "folder"}:
        raise DataError(f"{path} is a {kind}, wanted a regular file")
    return kind
