"""Which files are images, and in which order."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import DataError
from netwright.data.images.listing import (
    PART_OF,
    check_folder,
    files_at,
    is_image_name,
    list_images,
    subfolders,
)
from tests.data.images.pictures import folder_of
from tests.repetition import for_each


def test_images_are_found_at_any_depth_in_the_order_of_their_paths(tmp_path: Path) -> None:
    names = ["b/2.png", "b/10.PNG", "a/deep/er/x.jpeg", "a.png", "a/y.tif"]
    root = folder_of(tmp_path, *names)
    found = [str(file.relative_to(root)) for file in list_images(root).files]
    assert found == ["a/deep/er/x.jpeg", "a/y.tif", "a.png", "b/10.PNG", "b/2.png"]


def test_hidden_files_and_other_endings_are_passed_over_and_counted(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "a/1.png", "a/.2.png", ".trash/3.png")
    for other in ("Thumbs.db", "notes.txt", "noending"):
        (root / "a" / other).touch()
    listing = list_images(root)
    assert listing.files == (root / "a/1.png",)
    assert listing.ignored == 4  # what lies in a hidden folder is not even looked at


def test_a_folder_and_a_dangling_link_named_like_images_are_listed(tmp_path: Path) -> None:
    (tmp_path / "x.jpg").mkdir()
    folder_of(tmp_path / "x.jpg", "inside.png")
    (tmp_path / "y.png").symlink_to("nowhere")
    assert list_images(tmp_path).files == (tmp_path / "x.jpg", tmp_path / "y.png")
    assert subfolders(tmp_path) == []


def test_links_to_folders_which_may_form_a_ring_are_counted_and_not_walked(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "a/1.png")
    (root / "a" / "again").symlink_to(root, target_is_directory=True)
    listing = list_images(root)
    assert (listing.files, listing.links) == ((root / "a/1.png",), 1)


def test_a_path_is_one_file_or_all_of_a_folder(tmp_path: Path) -> None:
    root = folder_of(tmp_path, "a/1.png", "2.png")
    assert files_at(root / "2.png") == [root / "2.png"]
    assert files_at(root) == [root / "2.png", root / "a/1.png"]
    (root / "empty").mkdir()
    with pytest.raises(DataError, match=f"^{re.escape(str(root))}/empty holds no images$"):
        files_at(root / "empty")


def test_the_parts_of_data_have_these_folder_names() -> None:
    names = {part: {name for name in PART_OF if PART_OF[name] == part} for part in PART_OF.values()}
    assert names == {
        "train": {"train", "training"},
        "val": {"val", "valid", "validation", "dev"},
        "test": {"test"},
    }


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    folder_of(tmp_path, "1.png")
    with pytest.raises(DataError, match=r"1.png is a file, wanted a folder of images$"):
        check_folder(tmp_path / "1.png")
    with pytest.raises(DataError, match=r"nowhere: there is no such folder$"):
        list_images(tmp_path / "nowhere")


def test_a_folder_that_cannot_be_looked_into_is_not_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = os.scandir

    def locked(path: Any) -> Any:  # to root every folder opens
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    root = folder_of(tmp_path, "a/1.png", "locked/1.png")
    monkeypatch.setattr(os, "scandir", locked)
    sentence = f"{root}/locked cannot be read: Permission denied"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        list_images(root)


@for_each("name", ["x.png", "X.JPG", "x.tar.webp", "folder/x.tiff"])
def test_endings_count_whatever_their_case(name: str) -> None:
    assert is_image_name(name)
    assert not is_image_name(f".{name}" if "/" not in name else "folder/.x.png")
    assert not is_image_name(f"{name}.txt")


def test_a_link_to_an_image_is_refused_by_its_name(tmp_path: Path) -> None:
    root = folder_of(tmp_path / "root", "a/1.png")
    (root / "a" / "2.png").symlink_to(folder_of(tmp_path, "other.png") / "other.png")
    with pytest.raises(DataError, match=r"a/2\.png is a symbolic link, which is not followed"):
        list_images(root)
