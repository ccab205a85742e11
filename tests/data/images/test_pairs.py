"""Segmentation pairs: matched by name, resized together, divided like any other rows."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data
from netwright.data.images.encoder import ImageEncoder
from netwright.data.images.pairs import PairsConfig, is_pairs_folder, load_pairs
from netwright.data.pixels import PixelSplit
from tests.data.images.pair_pictures import mask_of, picture, write_pairs


def load(root: Path, **settings: Any) -> Data:
    return load_pairs(PairsConfig(path=str(root), **settings))


def pairs_match(split: Any) -> bool:
    assert isinstance(split, PixelSplit)
    return torch.equal(split.targets, (split.pixels[:, 0] > 127).byte())


@pytest.mark.parametrize(
    "folders", [("image", "label"), ("images", "masks"), ("img", "mask"), ("Images", "Labels")]
)
def test_images_find_their_masks(tmp_path: Path, folders: tuple[str, str]) -> None:
    root = write_pairs(tmp_path / "cells", range(12), folders=folders)
    assert is_pairs_folder(root)
    data = load(root)
    assert data.name == "cells"
    assert {name: len(split) for name, split in data.splits()} == {"train": 9, "val": 1, "test": 2}
    for _, split in data.splits():
        assert pairs_match(split)
        assert split.targets.dtype is torch.uint8
    assert data.spec.inputs == "image"
    assert data.spec.input_shape == (1, 8, 6)
    assert (data.spec.target, data.spec.num_outputs) == ("mask", 2)
    assert data.spec.class_names == ("0", "255")
    assert isinstance(data.preprocessor, ImageEncoder)
    assert data.preprocessor.mask_values == (0, 255)
    assert data.notes == ("the values of the masks are the classes: 0, 255",)


def test_pixels_are_scaled_by_the_training_images_alone(tmp_path: Path) -> None:
    data = load(write_pairs(tmp_path, range(10)))
    inputs = data.train.inputs
    assert float(inputs.mean()) == pytest.approx(0, abs=1e-5)
    assert float(inputs.std(correction=0)) == pytest.approx(1, abs=1e-5)
    assert isinstance(data.preprocessor, ImageEncoder)
    assert isinstance(data.test, PixelSplit)
    torch.testing.assert_close(data.preprocessor.encode(data.test.pixels), data.test.inputs)


def test_which_pairs_are_held_out_follows_the_seed(tmp_path: Path) -> None:
    root = write_pairs(tmp_path, range(20))
    first, again, other = (load(root, split_seed=seed).test for seed in (0, 0, 1))
    assert isinstance(first, PixelSplit)
    assert isinstance(again, PixelSplit)
    assert isinstance(other, PixelSplit)
    assert torch.equal(first.pixels, again.pixels)
    assert not torch.equal(first.pixels, other.pixels)


def test_folders_of_parts_are_taken_as_they_are(tmp_path: Path) -> None:
    for part, places in (("train", range(6)), ("valid", range(6, 8)), ("test", range(8, 11))):
        write_pairs(tmp_path / part, places)
    assert is_pairs_folder(tmp_path)
    data = load(tmp_path)
    assert {name: len(split) for name, split in data.splits()} == {"train": 6, "val": 2, "test": 3}
    assert isinstance(data.val, PixelSplit)
    assert data.val.pixels[:, 0].tolist() == [picture(6).tolist(), picture(7).tolist()]
    assert all(pairs_match(split) for _, split in data.splits())


def test_without_a_part_to_choose_by_it_is_held_out_of_train(tmp_path: Path) -> None:
    write_pairs(tmp_path / "train", range(10))
    write_pairs(tmp_path / "test", range(10, 13))
    sizes = {name: len(split) for name, split in load(tmp_path).splits()}
    assert sizes == {"train": 9, "val": 1, "test": 3}


def test_images_and_masks_are_resized_together(tmp_path: Path) -> None:
    root = tmp_path
    for name in ("images", "masks"):
        (root / name).mkdir()
    for place, (height, width) in enumerate([(8, 8), (16, 16), (32, 8), (8, 24)] * 3):
        image = np.zeros((height, width), np.uint8)
        image[: height // 2] = 255  # the upper half
        Image.fromarray(image).save(root / "images" / f"{place}.png")
        Image.fromarray(image).save(root / "masks" / f"{place}.png")
    sentence = "images of 8 x 8 to 32 x 8 cannot be batched together, set data.size"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        load(root)
    square, oblong = load(root, size=(8,)), load(root, size=(4, 8))
    assert square.spec.input_shape == (1, 8, 8)
    assert oblong.spec.input_shape == (1, 4, 8)
    assert square.notes[0] == "9 images and their masks are resized to 8 x 8"
    for data, half in ((square, 4), (oblong, 2)):
        assert torch.unique(data.train.targets[:, :half]).tolist() == [1]
        assert torch.unique(data.train.targets[:, half:]).tolist() == [0]
    with pytest.raises(ConfigError, match=r"^size must be height and width, got 3 numbers$"):
        load(root, size=(1, 2, 3))


def test_one_image_of_another_size_is_enough_to_ask_for_one(tmp_path: Path) -> None:
    write_pairs(tmp_path, range(4))
    write_pairs(tmp_path, range(4, 5), shape=(8, 7))
    with pytest.raises(ConfigError, match=r"^images of 8 x 6 to 8 x 7 cannot be batched together"):
        load(tmp_path)


def test_colour_palettes_and_named_classes(tmp_path: Path) -> None:
    write_pairs(tmp_path, range(10), shape=(8, 6, 3))
    for place in range(10):
        mask = Image.fromarray((picture(place) % 3).astype(np.uint8))
        mask.putpalette([9, 9, 9, 255, 0, 0, 0, 0, 255])
        (tmp_path / "masks" / f"{place}.png").unlink()
        mask.save(tmp_path / "masks" / f"{place}.gif")
    data = load(tmp_path, class_names=("sky", "sea", "land"))
    assert data.spec.input_shape == (3, 8, 6)
    assert data.spec.class_names == ("sky", "sea", "land")
    assert data.notes == ()
    assert torch.unique(data.train.targets).tolist() == [0, 1, 2]
    assert load(tmp_path, mode="L").spec.input_shape == (1, 8, 6)


def test_a_class_that_only_one_mask_shows_is_one_for_all(tmp_path: Path) -> None:
    write_pairs(tmp_path, range(10))
    rare = mask_of(picture(3))
    rare[0, 0] = 100
    Image.fromarray(rare).save(tmp_path / "masks" / "3.png")
    assert load(tmp_path).spec.class_names == ("0", "100", "255")


def test_what_is_no_folder_of_pairs_is_not_taken_for_one(tmp_path: Path) -> None:
    assert not is_pairs_folder(tmp_path)
    (tmp_path / "images").mkdir()
    assert not is_pairs_folder(tmp_path)
    (tmp_path / "file").write_text("")
    assert not is_pairs_folder(tmp_path / "file")
    assert not is_pairs_folder(tmp_path / "absent")
    write_pairs(tmp_path / "test", range(2))
    assert not is_pairs_folder(tmp_path)


def refused(root: Path, sentence: str, **settings: Any) -> None:
    with pytest.raises((DataError, ConfigError), match=f"^{re.escape(sentence)}$"):
        load(root, **settings)


def test_faults_of_a_folder_are_refused_by_name(tmp_path: Path) -> None:
    refused(tmp_path / "none", f"{tmp_path}/none: there is no such folder")
    refused(tmp_path, f"{tmp_path} must hold a folder named image or images or img")
    (tmp_path / "img").mkdir()
    refused(tmp_path, f"{tmp_path} must hold a folder named label or labels or mask or masks")
    (tmp_path / "mask").mkdir()
    refused(tmp_path, f"{tmp_path} holds no images")
    write_pairs(tmp_path, range(4), folders=("img", "mask"))
    Image.fromarray(picture(2)).save(tmp_path / "img" / "2.bmp")
    refused(tmp_path, f"{tmp_path}/img/2.bmp and {tmp_path}/img/2.png have the same name")
    (tmp_path / "img" / "2.bmp").unlink()
    Image.fromarray(mask_of(picture(1, (5, 6)))).save(tmp_path / "mask" / "1.png")
    refused(tmp_path, f"{tmp_path}/mask/1.png must be 8 x 6 as its image is, got 5 x 6")
    write_pairs(tmp_path, range(4), folders=("img", "mask"))
    whole = (tmp_path / "img" / "0.png").read_bytes()
    (tmp_path / "img" / "0.png").write_bytes(whole[:-30])  # its head is good
    with pytest.raises(DataError, match=f"^{re.escape(str(tmp_path))}/img/0.png cannot be read"):
        load(tmp_path)
    (tmp_path / "img" / "0.png").write_bytes(b"")
    refused(tmp_path, f"{tmp_path}/img/0.png cannot be read as an image: it is empty")
    with pytest.raises(ConfigError, match=r"^path is empty, wanted a folder of images and masks$"):
        load_pairs(PairsConfig())


def test_masks_without_two_classes_are_refused(tmp_path: Path) -> None:
    write_pairs(tmp_path / "flat", range(5))
    for place in range(5):
        Image.fromarray(np.zeros((8, 6), np.uint8)).save(tmp_path / f"flat/masks/{place}.png")
    refused(tmp_path / "flat", "flat has only one class in its training masks, '0'")
