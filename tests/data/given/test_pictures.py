"""Pillow images and paths of image files, each with its target."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from netwright.core.errors import ConfigError, DataError
from netwright.data.given.given import Given
from netwright.data.given.pictures import LABELLED_PICTURES
from netwright.data.images.folder import ImageFolderConfig
from netwright.data.loading.stored import StoredSplit

NONE = ImageFolderConfig(val_size=0.0, test_size=0.0)
ANIMALS = ["cat", "dog"] * 4


def images(count: int = 8, size: tuple[int, int] = (6, 5)) -> list[Image.Image]:
    rng = np.random.default_rng(0)
    return [Image.fromarray(rng.integers(0, 256, (*size, 3), dtype=np.uint8)) for _ in range(count)]


def files(folder: Path) -> list[Path]:
    paths = [folder / f"{place}.png" for place in range(8)]
    for path, image in zip(paths, images(), strict=True):
        image.save(path)
    return paths


def load(*pair: Any, config: ImageFolderConfig = NONE, **beside: Any) -> Any:
    return LABELLED_PICTURES.load(Given(data=pair, **beside), config)


def test_images_and_their_files_are_the_same_data(tmp_path: Path) -> None:
    paths = files(tmp_path)
    held, read = load(images(), ANIMALS), load([str(path) for path in paths], ANIMALS)
    assert held.spec == read.spec
    assert held.spec.class_names == ("cat", "dog")
    assert held.spec.input_shape == (3, 6, 5)
    assert held.train.pixels.equal(read.train.pixels)
    assert held.train.targets.tolist() == [0, 1] * 4
    assert held.preprocessor.encode(paths[:2]).equal(held.train.inputs[:2])


def test_splits_weights_and_kinds_of_targets() -> None:
    data = load(images(), ANIMALS, np.arange(1, 9), validation=(images(2), ["dog", "cat"]))
    assert [len(split) for _, split in data.splits()] == [8, 2]
    assert data.split("val").targets.tolist() == [1, 0]
    assert data.train.weights.tolist() == list(range(1, 9))
    assert data.split("val").weights.tolist() == [1, 1]
    assert "images: 8 train, 2 val (as given)" in data.notes
    reals = load(images(), np.random.default_rng(0).random((8, 2)), test=(images(1), [[1.0, 2.0]]))
    assert (reals.spec.target, reals.spec.num_outputs) == ("real", 2)
    assert reals.test_is_given
    labels = load(images(), np.array([[0, 1], [1, 1]] * 4))
    assert (labels.spec.target, labels.spec.class_names) == ("labels", ("y0", "y1"))
    assert load(images(), [3, 7] * 4).spec.class_type == "int"


def test_images_of_other_sizes_and_turned_ones_are_brought_to_one() -> None:
    turned = Image.new("RGB", (5, 6))
    turned.getexif()[0x0112] = 6  # the camera lay on its side: upright it is 5 rows of 6 columns
    assert load([turned] * 8, ANIMALS).spec.input_shape == (3, 5, 6)
    mixed = images(4) + images(4, size=(9, 9))
    config = ImageFolderConfig(val_size=0.0, test_size=0.0, size=(8,), mode="L")
    assert load(mixed, ANIMALS, config=config).spec.input_shape == (1, 8, 8)


def test_files_that_do_not_fit_in_memory_are_read_batch_by_batch(tmp_path: Path) -> None:
    config = ImageFolderConfig(val_size=0.0, test_size=0.0, memory=1e-9)
    data = load(files(tmp_path), ANIMALS, np.ones(8), config=config)
    assert isinstance(data.train, StoredSplit)
    assert torch.equal(data.train.inputs, load(images(), ANIMALS).train.inputs)
    assert data.train.weights is not None


def test_refusals() -> None:
    with pytest.raises(DataError, match="there are 8 pictures but 3 data targets"):
        load(images(), ANIMALS[:3])
    with pytest.raises(DataError, match="test targets have an unknown label 'cow' in row 0"):
        load(images(), ANIMALS, test=(images(1), ["cow"]))
    with pytest.raises(DataError, match="must all be pillow images, or all be paths"):
        load(images(), ANIMALS, test=(["a.png"], ["cat"]))
    with pytest.raises(ConfigError, match=r"^validation must be \(pictures, targets"):
        load(images(), ANIMALS, validation=images())
    with pytest.raises(ConfigError, match="are of a folder: pictures are given"):
        load(images(), ANIMALS, config=ImageFolderConfig(target=("kind",)))


def test_forms_are_told_apart() -> None:
    assert LABELLED_PICTURES.recognises((images(), ANIMALS))
    assert LABELLED_PICTURES.recognises((["a.png", "b.JPG"], [0, 1]))
    assert LABELLED_PICTURES.recognises(([Path("a"), Path("b")], [0, 1]))
    assert not LABELLED_PICTURES.recognises((["a fine film", "b.png"], [0, 1]))
    assert not LABELLED_PICTURES.recognises((np.zeros((2, 3)), [0, 1]))
    assert not LABELLED_PICTURES.recognises(([], []))
