"""MNIST and Fashion-MNIST: the published files where they are there, small made-up ones always."""

import gzip
import hashlib
import json
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from netwright.core.config import parse
from netwright.core.errors import ConfigError, DownloadError
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data
from netwright.data.files.download import RemoteFile, fetch
from netwright.data.files.idx import read_idx
from netwright.data.files.locations import find_file
from netwright.data.mnist import (
    CLOTHES_IMAGES,
    DIGIT_IMAGES,
    FASHION_MNIST,
    FILES,
    MNIST,
    ImageSet,
    MnistConfig,
    load_images,
)
from netwright.data.source import Source
from tests.repetition import for_each

TRAIN_COUNTS = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
TEST_COUNTS = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]


def needs(image_set: ImageSet, *files: str) -> pytest.MarkDecorator:
    missing = [file for file in files if find_file(image_set.name, file) is None]
    reason = f"{image_set.name} is not on this machine: no {', '.join(missing)}"
    return pytest.mark.skipif(bool(missing), reason=reason)


def packed(array: NDArray[np.uint8]) -> bytes:
    header = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return gzip.compress(header + array.tobytes(), mtime=0)


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ImageSet:
    """Twelve training images, whose pixels are their place, and four test images."""
    arrays = (
        np.arange(12, dtype=np.uint8)[:, None, None] * np.ones((28, 28), np.uint8),
        np.arange(12, dtype=np.uint8) % 3,
        np.full((4, 28, 28), 255, np.uint8),
        np.array([2, 1, 0, 2], np.uint8),
    )
    folder = tmp_path / "tiny"
    folder.mkdir()
    files = []
    for name, array in zip(FILES, arrays, strict=True):
        content = packed(array)
        (folder / name).write_bytes(content)
        sha256 = hashlib.sha256(content).hexdigest()
        files.append(RemoteFile(name=name, addresses=(), size=len(content), sha256=sha256))
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path))
    monkeypatch.setenv("NETWRIGHT_OFFLINE", "1")
    return ImageSet(name="tiny", class_names=("shoe", "bag", "hat"), files=tuple(files))


def test_the_last_training_images_are_held_out(tiny: ImageSet) -> None:
    data = load_images(tiny, MnistConfig(val_count=5))
    assert (data.train.inputs[:, 0, 0, 0] * 255).round().tolist() == list(range(7))
    assert data.val is not None
    assert (data.val.inputs[:, 0, 5, 5] * 255).round().tolist() == list(range(7, 12))
    assert data.train.targets.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert data.val.targets.tolist() == [1, 2, 0, 1, 2]
    assert data.test is not None
    assert data.test.targets.tolist() == [2, 1, 0, 2]
    assert bool((data.test.inputs == 1).all())


def test_nothing_held_out_is_no_validation_split(tiny: ImageSet) -> None:
    data = load_images(tiny, MnistConfig(val_count=0))
    assert data.val is None
    assert len(data.train) == 12


def test_what_the_data_is(tiny: ImageSet) -> None:
    data = load_images(tiny, MnistConfig(val_count=5))
    assert (data.name, data.spec.inputs) == ("tiny", "image")
    assert data.spec.input_shape == (1, 28, 28)
    assert data.spec.class_names == ("shoe", "bag", "hat")  # in the order of the labels
    assert data.notes == ()


def test_new_images_are_encoded_as_these_were(tiny: ImageSet) -> None:
    data = load_images(tiny, MnistConfig(val_count=5))
    travelled = ArrayEncoder.from_json(json.loads(json.dumps(data.preprocessor.to_json())))
    image = np.full((1, 1, 28, 28), 51, np.uint8)
    torch.testing.assert_close(travelled.encode(image), torch.full((1, 1, 28, 28), 0.2))
    assert travelled.encode_targets(["hat"]).tolist() == [2]


@for_each(
    ("settings", "sentence"),
    [
        ({"val_count": 60_000}, "val_count must be less than 60000, got 60000"),
        ({"val_count": -1}, "val_count must be at least 0, got -1"),
        ({"val_size": 0.1}, "unknown setting 'val_size'; there are val_count"),
        ({"split_seed": 1}, "unknown setting 'split_seed'; there are val_count"),
    ],
)
def test_settings_without_effect_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        parse(MnistConfig, settings)


@pytest.mark.parametrize(
    ("name", "source"),
    [("mnist", MNIST), ("fashion-mnist", FASHION_MNIST)],
    ids=["mnist", "fashion"],
)
def test_an_absent_set_is_refused_with_the_file_to_get(
    name: str, source: Source, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("NETWRIGHT_DATA", raising=False)
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path))
    monkeypatch.setenv("NETWRIGHT_OFFLINE", "1")
    sentence = (
        f"{name} is not on this machine and NETWRIGHT_OFFLINE is set; put "
        f"train-images-idx3-ubyte.gz into {tmp_path}/data/{name} or into {name}/ in a folder of "
        "NETWRIGHT_DATA"
    )
    with pytest.raises(DownloadError, match=f"^{re.escape(sentence)}$"):
        source.load(MnistConfig())


@pytest.mark.parametrize("image_set", [DIGIT_IMAGES, CLOTHES_IMAGES], ids=lambda item: item.name)
def test_every_file_has_two_addresses_and_a_sum(image_set: ImageSet) -> None:
    for name, file in zip(FILES, image_set.files, strict=True):
        assert file.name == name
        assert len(file.addresses) == 2
        assert all(address.endswith(f"/{name}") for address in file.addresses)
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
    assert len(set(image_set.class_names)) == 10


def test_the_classes_are_named_as_published() -> None:
    assert DIGIT_IMAGES.class_names == tuple("0123456789")
    assert CLOTHES_IMAGES.class_names == (
        *("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat"),
        *("Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"),
    )


def counts(data: Data, split: str) -> list[int]:
    return data.split(split).targets.bincount(minlength=10).tolist()


@pytest.mark.covers("dataset-mnist")
@needs(DIGIT_IMAGES, *FILES)
def test_mnist_as_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_OFFLINE", "1")
    data = MNIST.load(MnistConfig())
    shapes = {name: tuple(split.inputs.shape) for name, split in data.splits()}
    assert shapes == {
        "train": (50_000, 1, 28, 28),
        "val": (10_000, 1, 28, 28),
        "test": (10_000, 1, 28, 28),
    }
    assert data.spec.num_features == 784
    assert data.spec.class_names == tuple("0123456789")
    for _, split in data.splits():
        assert (float(split.inputs.min()), float(split.inputs.max())) == (0.0, 1.0)
        assert split.inputs.dtype is torch.float32
    both = [sum(pair) for pair in zip(counts(data, "train"), counts(data, "val"), strict=True)]
    assert both == TRAIN_COUNTS
    assert counts(data, "test") == TEST_COUNTS
    assert data.train.targets[:5].tolist() == [5, 0, 4, 1, 9]  # as in every book
    assert float(data.train.inputs.mean()) == pytest.approx(0.1307, abs=5e-4)


@needs(CLOTHES_IMAGES, *FILES[2:])
def test_the_test_part_of_fashion_mnist_as_published(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWRIGHT_OFFLINE", "1")
    images, labels = (read_idx(fetch("fashion-mnist", file)) for file in CLOTHES_IMAGES.files[2:])
    assert images.shape == (10_000, 28, 28)
    assert np.bincount(labels).tolist() == [1000] * 10
    assert CLOTHES_IMAGES.class_names[labels[0]] == "Ankle boot"
