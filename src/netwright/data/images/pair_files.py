"""The files of images and of their masks, side by side: who belongs to whom goes by their names.

    root/images/7.png, root/masks/7.png

Shapes: I rows, J columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from netwright.core.errors import DataError
from netwright.data.files.file_names import shown
from netwright.data.files.folder_links import check_no_links
from netwright.data.images.decoding import read_header
from netwright.data.images.listing import PART_OF, is_image_name, subfolders
from netwright.data.images.masks import read_mask, resize_mask
from netwright.data.images.reading import for_each

IMAGE_FOLDERS = ("image", "images", "img")
MASK_FOLDERS = ("label", "labels", "mask", "masks")

T = TypeVar("T")


@dataclass(frozen=True)
class Pair:
    """The files of an image and of its mask."""

    image: Path
    mask: Path


def part_folders(root: Path) -> dict[str, Path]:
    """Part -> its folder, train first; a root without parts is all there is to learn from."""
    folders = {folder.name.lower(): folder for folder in subfolders(root)}
    parts = {part: folders[name] for name, part in PART_OF.items() if name in folders}
    check_no_links(parts.values())
    return parts if "train" in parts and not _has_pairs(root) else {"train": root}


def pair_folders(root: Path) -> list[Path]:
    """The folders that hold images beside masks: the root or its parts; else none."""
    parts = part_folders(root) if root.is_dir() else {}
    return list(parts.values()) if parts and _has_pairs(parts["train"]) else []


def find_images(folder: Path) -> list[Path]:
    """The images of a folder of pairs, without their masks, sorted by name."""
    images = _by_stem(_below(folder, IMAGE_FOLDERS))
    if not images:
        raise DataError(f"{shown(folder)} holds no images")
    return [images[stem] for stem in sorted(images)]


def find_pairs(folder: Path) -> list[Pair]:
    """The images of a folder with their masks, sorted by name; none may be without its partner."""
    images, masks = (_by_stem(_below(folder, names)) for names in (IMAGE_FOLDERS, MASK_FOLDERS))
    for ours, theirs, partner in ((images, masks, "mask"), (masks, images, "image")):
        lonely = sorted(stem for stem in ours if stem not in theirs)
        if lonely:
            rest = f" (and {len(lonely) - 1} more)" if len(lonely) > 1 else ""
            raise DataError(f"{shown(ours[lonely[0]])} has no {partner} of the same name{rest}")
    if not images:
        raise DataError(f"{shown(folder)} holds no images")
    return [Pair(images[stem], masks[stem]) for stem in sorted(images)]


def read_masks(pairs: Sequence[Pair], height: int, width: int) -> list[NDArray[np.integer]]:
    """The values of all masks, each brought to (I, J) as its image is."""

    def read(place: int) -> NDArray[np.integer]:
        return resize_mask(_own_mask(pairs[place]), height, width)

    return all_good(for_each([pair.mask for pair in pairs], read, "decoding masks"))


def all_good(ends: Sequence[T | DataError]) -> list[T]:
    """What was read of every file; the first refusal is raised."""
    good: list[T] = []
    for end in ends:
        if isinstance(end, DataError):
            raise end
        good.append(end)
    return good


def _own_mask(pair: Pair) -> NDArray[np.integer]:
    """The mask of an image, in the size of the image."""
    header, mask = read_header(pair.image), read_mask(pair.mask)
    height, width = mask.shape
    if (height, width) != (header.height, header.width):
        raise DataError(
            f"{shown(pair.mask)} must be {header.height} x {header.width} as its image is, "
            f"got {height} x {width}"
        )
    return mask


def _has_pairs(folder: Path) -> bool:
    names = {below.name.lower() for below in subfolders(folder)}
    return not names.isdisjoint(IMAGE_FOLDERS) and not names.isdisjoint(MASK_FOLDERS)


def _below(folder: Path, names: tuple[str, ...]) -> Path:
    for below in subfolders(folder):
        if below.name.lower() in names:
            return below
    raise DataError(f"{shown(folder)} must hold a folder named {' or '.join(names)}")


def _by_stem(folder: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in sorted(filter(is_image_name, folder.iterdir())):
        if path.stem in found:
            raise DataError(f"{shown(found[path.stem])} and {shown(path)} have the same name")
        found[path.stem] = path
    check_no_links([folder, *found.values()])
    return found
