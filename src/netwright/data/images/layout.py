"""How a folder says what its images show.

    root/cat/1.png                    a folder a class; parts are held out by chance
    root/train/cat/1.png              the same below train, val (valid, validation, dev) and test
    root/metadata.csv or .jsonl       a row a file: file_name, what to predict, perhaps a split

Folders inside a class belong to it. Hidden files, what does not end like an image and links to
folders inside a class are passed over and counted.
"""

from pathlib import Path
from typing import Literal

import torch

from netwright.core.errors import ConfigError, DataError
from netwright.data.files.file_names import shown
from netwright.data.files.folder_links import check_no_links, check_no_links_between
from netwright.data.images.labelled import LabelledImages
from netwright.data.images.listing import (
    PART_OF,
    check_folder,
    entries,
    is_image_name,
    list_images,
    subfolders,
)
from netwright.data.images.metadata import FILE_NAME, find_metadata, read_metadata
from netwright.data.tables.raw_table import RawTable, listed
from netwright.data.tables.splitting import divide_by_column, find_split_column
from netwright.data.tables.targets import TableTarget, TargetEncoder


def find_images(
    root: Path,
    *,
    target: tuple[str, ...] = (),
    target_kind: Literal["auto"] | TableTarget = "auto",
    split_column: str | None = None,
) -> LabelledImages:
    """The images of a folder with what they show; the settings are for a metadata table."""
    check_folder(root)
    path = find_metadata(root)
    if path is not None:
        check_no_links([path])
        return _by_metadata(root, read_metadata(path), target, target_kind, split_column)
    if target or split_column is not None or target_kind not in {"auto", "class"}:
        raise ConfigError(
            f"{shown(root)} is a folder without a metadata.csv, so target, target_kind and "
            f"split_column have no meaning there; for a table, name its file"
        )
    return _by_folders(root)


def _by_folders(root: Path) -> LabelledImages:
    parts = _part_folders(root)
    check_no_links_between(root, [*parts, *(one for folder in parts for one in subfolders(folder))])
    found = [
        (part, shown(one.name), list_images(one))
        for folder, part in parts.items()
        for one in subfolders(folder)
    ]
    rows = [(file, name, part) for part, name, listing in found for file in listing.files]
    loose = sum(
        is_image_name(path) and not path.is_dir()
        for folder in {root, *parts}
        for path in entries(folder)
    )
    if not rows:
        what = "images, but no class folders" if loose else "no folders of images"
        raise DataError(f"{shown(root)} holds {what}, and no metadata.csv")
    names = sorted({name for _, name, _ in rows})
    empty = sorted({name for _, name, _ in found} - set(names))
    place_of = {name: place for place, name in enumerate(names)}
    ignored = sum(listing.ignored for _, _, listing in found)
    links = sum(listing.links for _, _, listing in found)
    return LabelledImages(
        files=tuple(file for file, _, _ in rows),
        targets=torch.tensor([place_of[name] for _, name, _ in rows]),
        target="class",
        class_names=tuple(names),
        parts=tuple(part for _, _, part in rows) if root not in parts else (),
        how="by their folders",
        notes=(
            *(f"the folder {name!r} has no images: it is not a class" for name in empty),
            *_left_out(ignored, "files without an image extension"),
            *_left_out(links, "links to folders inside class folders"),
            *_left_out(loose, "images outside class folders"),
        ),
    )


def _part_folders(root: Path) -> dict[Path, str]:
    """The folders that hold the folders of classes, with the part of each; or the root alone."""
    parts = {folder: PART_OF.get(folder.name.lower(), "") for folder in subfolders(root)}
    if "train" not in parts.values():
        if parts and all(parts.values()):
            names = " and ".join(shown(folder.name) for folder in parts)
            raise DataError(
                f"{shown(root)} contains only {names}, wanted a folder named train as well"
            )
        return {root: ""}
    other = [folder.name for folder, part in parts.items() if not part]
    if other:
        raise DataError(
            f"{shown(root)} holds a folder to train on and also {shown(other[0])!r}, "
            "wanted folders named train, val and test alone"
        )
    return parts


def _by_metadata(
    root: Path,
    table: RawTable,
    target: tuple[str, ...],
    target_kind: Literal["auto"] | TableTarget,
    split_column: str | None,
) -> LabelledImages:
    split = find_split_column(table, split_column)
    columns = [column for column in table.columns if column not in {FILE_NAME, split}]
    if not target and len(columns) != 1:
        raise ConfigError(f"target is missing, wanted a column of {table.name}: {listed(columns)}")
    encoder = TargetEncoder.fit(table, target or tuple(columns), target_kind)
    parts = [""] * len(table)
    if split is not None:
        division = divide_by_column(table, split, named=split_column is not None)
        for part, rows in division.items():
            for row in rows.tolist():
                parts[row] = part
    files = tuple(root / name for name in table.column(FILE_NAME))
    check_no_links_between(root, files)
    unnamed = len(set(list_images(root).files) - set(files))
    return LabelledImages(
        files=files,
        targets=encoder.encode(table),
        target=encoder.kind,
        class_names=encoder.class_names,
        target_names=encoder.columns,
        parts=tuple(parts) if split is not None else (),
        how=f"column {split!r}",
        notes=(*table.notes, *_left_out(unnamed, f"images without a row in {table.name}")),
    )


def _left_out(count: int, what: str) -> tuple[str, ...]:
    return (f"left out: {count} {what}",) if count else ()
