"""Text files: found in a folder, read as UTF-8, and told apart by the part that their name says."""

import gzip
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from netwright.core.checks import nearest
from netwright.core.errors import DataError
from netwright.data.files.file_content import Allowance, read_content
from netwright.data.files.file_encoding import decode_bytes
from netwright.data.files.folder_links import check_no_links
from netwright.data.images.listing import PART_OF, is_image_name

# Corpora that are named in place of a file: those of `training_texts`.
PUBLISHED_TEXTS = ("wikitext-2", "tinyshakespeare", "sst2", "imdb")
PLAIN = (".txt", ".txt.gz")


def has_ending(path: str | Path, endings: Sequence[str]) -> bool:
    """Whether a file's name ends so, in capitals or not."""
    return str(path).lower().endswith(tuple(endings))


def find_files(path: Path, endings: Sequence[str]) -> list[Path]:
    """The file at a path, or all files below a folder that end so, by their names; no links."""
    if not os.path.isdir(path):
        return [path]
    files = sorted(file for file in path.rglob("*") if has_ending(file, endings) and file.is_file())
    check_no_links(files)
    if not files:
        raise DataError(f"{path} holds no file that ends in {' or '.join(endings)}")
    return files


def holds_files(path: str, endings: Sequence[str]) -> bool:
    """Whether a folder has a file right below it that ends so, and no image anywhere."""
    if not os.path.isdir(path) or not any(has_ending(name, endings) for name in os.listdir(path)):
        return False
    return not any(is_image_name(name) for _, _, names in os.walk(path) for name in names)


def named_parts(files: Sequence[Path], root: Path) -> dict[str, list[Path]]:
    """The files of train, val and test, where each of them says its part; else nothing.

    A file says it by a word of its name (`en-train.conllu`, `valid.txt`) or by its folder.
    """
    found: dict[str, list[Path]] = {"train": [], "val": [], "test": []}
    for file in files:
        below = file.relative_to(root).as_posix() if file != root else ""
        words = re.split(r"[^a-z]+", below.lower())
        said = {PART_OF[word] for word in words if word in PART_OF}
        if len(said) != 1:
            return {}
        found[said.pop()].append(file)
    return {part: its for part, its in found.items() if its} if found["train"] else {}


def read_text(path: Path, encoding: str | None = None, allowance: Allowance | None = None) -> str:
    """The text of a file, unpacked where it ends in .gz; what is not text is refused.

    Args:
        path: the file.
        encoding: as Python names it; empty: UTF-8; None: UTF-8, and there is no setting for it.
        allowance: of the files that are read together; None: it is read alone.
    """
    return decode_text(path.name, text_bytes(path, allowance), encoding)


def decode_text(name: str, content: bytes, encoding: str | None = None) -> str:
    """The text that these bytes of a file, or of standard input, are."""
    text, _ = decode_bytes(name, content, encoding)
    if not text.strip():
        raise DataError(f"{name}: the file is empty")
    return text.replace("\r\n", "\n")


def text_bytes(path: Path, allowance: Allowance | None = None) -> bytes:
    """The bytes of a text file, unpacked where it ends in .gz."""
    with telling_of(path):
        return read_content(path, allowance)


@contextmanager
def telling_of(path: Path) -> Iterator[None]:
    """What goes wrong with a file that is read in the block is told in one sentence."""
    try:
        yield
    except FileNotFoundError:
        folder = path.parent
        siblings = [file.name for file in folder.iterdir()] if folder.is_dir() else []
        hint = nearest(path.name, siblings)
        raise DataError(f"{path}: there is no such file{hint}") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DataError(f"{path.name}: the gzip file is truncated or damaged") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
