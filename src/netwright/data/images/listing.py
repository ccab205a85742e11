"""The image files below a folder: found by their endings, in the same order everywhere."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from netwright.core.errors import DataError
from netwright.data.files.file_names import shown
from netwright.data.files.folder_links import check_no_links
from netwright.data.images.decoding import SUFFIXES

PART_OF = {  # names of folders -> the part of the data that they hold
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("val", "valid", "validation", "dev"), "val"),
    "test": "test",
}


@dataclass(frozen=True, kw_only=True)
class Listing:
    """What lies below a folder.

    Args:
        files: the images, sorted by their paths; also what only bears the name of one.
        ignored: how many other files were passed over.
        links: how many links to folders were not followed; they might form a ring.
    """

    files: tuple[Path, ...]
    ignored: int
    links: int


def is_image_name(name: str | Path) -> bool:
    """Whether a name ends like that of an image; hidden files are none."""
    path = Path(name)
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".")


def list_images(folder: str | Path) -> Listing:
    """All images below a folder, in nested folders too, but not in hidden ones; no links."""
    check_folder(folder)
    files: list[Path] = []
    ignored = links = 0
    for place, folders, names in os.walk(folder, onerror=_refuse):
        # A folder called x.jpg is no image: it is listed, so that it is named as a bad one.
        files += [Path(place, name) for name in folders + names if is_image_name(name)]
        ignored += sum(not is_image_name(name) for name in names)
        folders[:] = [name for name in folders if not _is_passed_over(name)]
        links += sum(os.path.islink(Path(place, name)) for name in folders)
    check_no_links(files)
    return Listing(files=tuple(sorted(files)), ignored=ignored, links=links)


def files_at(path: str | Path) -> list[Path]:
    """The file itself, or all images below a folder, of which there must be one."""
    if not os.path.isdir(path):
        return [Path(path)]
    files = list_images(path).files
    if not files:
        raise DataError(f"{shown(path)} holds no images")
    return list(files)


def subfolders(folder: Path) -> list[Path]:
    """The folders right below a folder, sorted, without hidden ones."""
    return [path for path in entries(folder) if path.is_dir() and not _is_passed_over(path.name)]


def entries(folder: Path) -> list[Path]:
    """Everything right below a folder, sorted."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        _refuse(error)


def check_folder(folder: str | Path) -> None:
    """Refuse what is no folder."""
    if not os.path.exists(folder):
        raise DataError(f"{shown(folder)}: there is no such folder")
    if not os.path.isdir(folder):
        raise DataError(f"{shown(folder)} is a file, wanted a folder of images")


def _refuse(error: OSError) -> NoReturn:
    """A folder that cannot be looked into must not seem empty."""
    raise DataError(f"{shown(error.filename)} cannot be read: {error.strerror}") from None


def _is_passed_over(folder_name: str) -> bool:
    return folder_name.startswith(".") or is_image_name(folder_name)
