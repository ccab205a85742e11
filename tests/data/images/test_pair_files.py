"""Files of pairs: matched by name, whole or refused, in the order of their names."""

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from netwright.core.errors import DataError
from netwright.data.images.pair_files import (
    find_images,
    find_pairs,
    pair_folders,
    part_folders,
    read_masks,
)
from tests.data.images.pair_pictures import mask_of, picture, write_pairs


def refused(root: Path, sentence: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        find_pairs(root)


def test_a_missing_partner_is_named(tmp_path: Path) -> None:
    write_pairs(tmp_path, range(5))
    (tmp_path / "masks" / "3.png").unlink()
    refused(tmp_path, f"{tmp_path}/images/3.png has no mask of the same name")
    (tmp_path / "masks" / "1.png").unlink()
    refused(tmp_path, f"{tmp_path}/images/1.png has no mask of the same name (and 1 more)")
    for place in (1, 3, 4):
        (tmp_path / "images" / f"{place}.png").unlink()
    refused(tmp_path, f"{tmp_path}/masks/4.png has no image of the same name")


def test_files_that_are_no_images_are_passed_over(tmp_path: Path) -> None:
    write_pairs(tmp_path, range(3))
    (tmp_path / "images" / "notes.txt").write_text("none")
    (tmp_path / "masks" / ".hidden.png").write_text("none")
    assert [pair.image.name for pair in find_pairs(tmp_path)] == ["0.png", "1.png", "2.png"]


@pytest.mark.parametrize("images", ["image", "images", "img", "IMG"])
@pytest.mark.parametrize("masks", ["label", "labels", "mask", "masks"])
def test_folders_of_pairs_go_by_these_names(tmp_path: Path, images: str, masks: str) -> None:
    write_pairs(tmp_path, range(1), folders=(images, masks))
    assert pair_folders(tmp_path) == [tmp_path]
    (pair,) = find_pairs(tmp_path)
    assert (pair.image.parent.name, pair.mask.parent.name) == (images, masks)


def test_images_are_found_also_where_masks_are_missing(tmp_path: Path) -> None:
    write_pairs(tmp_path, range(3))
    (tmp_path / "masks" / "1.png").unlink()
    assert find_images(tmp_path) == [tmp_path / f"images/{place}.png" for place in range(3)]
    for place in range(3):
        (tmp_path / f"images/{place}.png").unlink()
    with pytest.raises(DataError, match=f"^{re.escape(str(tmp_path))} holds no images$"):
        find_images(tmp_path)


def test_the_root_holds_pairs_or_its_parts_do(tmp_path: Path) -> None:
    assert pair_folders(tmp_path / "absent") == []
    assert pair_folders(tmp_path) == []
    write_pairs(tmp_path / "test", range(2))
    assert pair_folders(tmp_path) == []
    assert part_folders(tmp_path) == {"train": tmp_path}
    write_pairs(tmp_path / "Train", range(2))
    assert part_folders(tmp_path) == {"train": tmp_path / "Train", "test": tmp_path / "test"}
    assert pair_folders(tmp_path) == [tmp_path / "Train", tmp_path / "test"]
    write_pairs(tmp_path, range(2))
    assert pair_folders(tmp_path) == [tmp_path]


def test_masks_keep_their_values_in_another_size_and_must_fit_their_image(tmp_path: Path) -> None:
    pairs = find_pairs(write_pairs(tmp_path, range(2)))
    masks = read_masks(pairs, 4, 3)
    assert masks[1].tolist() == mask_of(picture(1))[1::2, 1::2].tolist()
    Image.fromarray(np.zeros((5, 6), np.uint8)).save(pairs[1].mask)
    sentence = f"{tmp_path}/masks/1.png must be 8 x 6 as its image is, got 5 x 6"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        read_masks(pairs, 8, 6)


@pytest.mark.parametrize("name", ["masks", "masks/0.png", "train"])
def test_no_link_in_the_folder_is_followed(tmp_path: Path, name: str) -> None:
    root = write_pairs(tmp_path / "root", range(2))
    if name == "train":
        root = tmp_path / "parts"
        root.mkdir()
        (root / name).symlink_to(tmp_path / "root")
    else:
        (root / name).rename(tmp_path / "aside")
        (root / name).symlink_to(tmp_path / "aside")
    with pytest.raises(DataError, match=f"{name} is a symbolic link"):
        find_pairs(pair_folders(root)[0])
