"""CIFAR: the published files where they are there, small made-up ones always."""

import hashlib
import io
import re
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from netwright.core.config import parse
from netwright.core.errors import ConfigError, DataError, DownloadError, UnknownNameError
from netwright.data.dataset import Data, Split
from netwright.data.files.download import RemoteFile
from netwright.data.files.locations import find_file
from netwright.data.images.cifar import (
    CIFAR100,
    HUNDRED_CLASSES,
    TEN_CLASSES,
    CifarConfig,
    CifarSet,
    load_cifar,
)
from netwright.data.pixels import PixelSplit

NAMES = ("cat", "dog", "frog")
LABELS = {"one.bin": [0, 1, 2, 2, 1, 0], "two.bin": [1, 2, 0, 0, 1, 2], "test.bin": [2, 1, 0, 1]}


def records(labels: list[int], first: int, label_bytes: int) -> NDArray[np.uint8]:
    """Images whose red is their place, whose green is 100 and whose blue grows along a row."""
    rows = np.zeros((len(labels), label_bytes + 3072), np.uint8)
    rows[:, label_bytes - 1] = labels
    rows[:, : label_bytes - 1] = 77  # a coarse label, which is not the class
    red, green, blue = np.split(rows[:, label_bytes:], 3, axis=1)
    red[:] = np.arange(first, first + len(labels))[:, None]
    green[:] = 100
    blue[:] = np.tile(np.arange(32), 32)
    return rows


def packed(files: dict[str, bytes]) -> bytes:
    """The files as the archive holds them: in a folder, in another order, beside other members."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in [*reversed(files.items()), ("readme.html", b"<html>")]:
            member = tarfile.TarInfo(f"tiny-binary/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo("elsewhere/one.bin")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(link)
    return buffer.getvalue()


def remote(name: str, content: bytes) -> RemoteFile:
    sha256 = hashlib.sha256(content).hexdigest()
    return RemoteFile(name=name, addresses=(), size=len(content), sha256=sha256)


def tiny_set(folder: Path, *, label_bytes: int = 1, is_packed: bool = False) -> CifarSet:
    """Twelve training images in two files and four test images, put into a folder."""
    parts = {
        name: records(labels, first, label_bytes).tobytes()
        for (name, labels), first in zip(LABELS.items(), (0, 6, 200), strict=True)
    }
    archive = packed(parts)
    lying = {"tiny.tar.gz": archive} if is_packed else parts
    (folder / "tiny").mkdir()
    for name, content in lying.items():
        (folder / "tiny" / name).write_bytes(content)
    one, two, test = (remote(name, content) for name, content in parts.items())
    return CifarSet(
        name="tiny",
        class_names=NAMES,
        label_bytes=label_bytes,
        scaling=TEN_CLASSES.scaling,
        archive=remote("tiny.tar.gz", archive),
        train_files=(one, two),
        test_file=test,
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NETWRIGHT_DATA", str(tmp_path))
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("NETWRIGHT_OFFLINE", "1")
    return tmp_path


def places(split: Split | None) -> list[int]:
    assert isinstance(split, PixelSplit)
    return split.pixels[:, 0, 0, 0].tolist()


def names(data: Data, split: Split) -> list[str]:
    return [data.spec.class_names[label] for label in split.targets.tolist()]


@pytest.mark.parametrize("label_bytes", [1, 2])
@pytest.mark.parametrize("is_packed", [False, True], ids=["unpacked", "archive"])
def test_records_become_images(folder: Path, label_bytes: int, is_packed: bool) -> None:
    cifar = tiny_set(folder, label_bytes=label_bytes, is_packed=is_packed)
    data = load_cifar(cifar, CifarConfig(val_count=4))
    assert (places(data.train), places(data.val)) == (list(range(8)), [8, 9, 10, 11])
    assert places(data.test) == [200, 201, 202, 203]
    assert data.train.targets.tolist() == [0, 1, 2, 2, 1, 0, 1, 2]
    assert data.test is not None
    assert data.test.targets.tolist() == LABELS["test.bin"]
    assert isinstance(data.train, PixelSplit)
    assert data.train.pixels.shape == (8, 3, 32, 32)
    assert torch.unique(data.train.pixels[3, 1]).tolist() == [100]
    assert data.train.pixels[3, 2, 9].tolist() == list(range(32))
    assert data.spec.input_shape == (3, 32, 32)
    assert data.spec.class_names == NAMES


def test_with_no_image_to_choose_by_all_are_learned_from(folder: Path) -> None:
    data = load_cifar(tiny_set(folder), CifarConfig(val_count=0))
    assert places(data.train) == list(range(12))
    assert data.val is None


@pytest.mark.covers("dataset-cifar10")
def test_new_images_are_encoded_as_these_were(folder: Path) -> None:
    data = load_cifar(tiny_set(folder), CifarConfig(val_count=4))
    assert isinstance(data.test, PixelSplit)
    encoded = data.preprocessor.encode(data.test.pixels)
    torch.testing.assert_close(encoded, data.test.inputs)
    channels_last = data.test.pixels.permute(0, 2, 3, 1).numpy()  # (N, 32, 32, 3)
    assert torch.equal(data.preprocessor.encode(channels_last), encoded)
    assert data.preprocessor.encode_targets(["frog", "cat"]).tolist() == [2, 0]


def test_some_classes_alone_are_renumbered_in_the_order_they_are_named(folder: Path) -> None:
    data = load_cifar(tiny_set(folder), CifarConfig(val_count=4, classes=("frog", "cat")))
    assert data.spec.class_names == ("frog", "cat")
    assert data.spec.num_outputs == 2
    assert places(data.train) == [0, 2, 3, 5, 7]
    assert names(data, data.train) == ["cat", "frog", "frog", "cat", "frog"]
    assert places(data.val) == [8, 9, 11]
    assert places(data.test) == [200, 202]


def test_a_few_images_a_class_are_drawn_by_number(folder: Path) -> None:
    cifar = tiny_set(folder)
    drawn = [
        load_cifar(cifar, CifarConfig(val_count=2, per_class=2, draw=draw)) for draw in range(6)
    ]
    for data in drawn:
        assert data.train.targets.bincount().tolist() == [2, 2, 2]
        assert set(places(data.train)) <= set(range(10))
        assert places(data.train) == sorted(places(data.train))
        assert (places(data.val), len(places(data.test))) == ([10, 11], 4)
    assert len({tuple(places(data.train)) for data in drawn}) > 1
    again = load_cifar(cifar, CifarConfig(val_count=2, per_class=2, draw=3))
    assert places(again.train) == places(drawn[3].train)


def test_which_images_of_a_class_are_drawn_does_not_depend_on_the_other_classes(
    folder: Path,
) -> None:
    cifar = tiny_set(folder)
    of_all = load_cifar(cifar, CifarConfig(val_count=0, per_class=2))
    of_two = load_cifar(cifar, CifarConfig(val_count=0, per_class=2, classes=("dog", "cat")))
    dogs = [
        places(data.train.take(data.train.targets == data.spec.class_names.index("dog")))
        for data in (of_all, of_two)
    ]
    assert dogs[0] == dogs[1]


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        (
            {"classes": ("cat", "dgo")},
            UnknownNameError,
            "tiny has no class 'dgo'; did you mean 'dog'?",
        ),
        (
            {"classes": ("cat", "zebra")},
            UnknownNameError,
            "tiny has no class 'zebra'; there are cat, dog, frog",
        ),
        ({"classes": ("cat", "cat")}, ConfigError, "classes must differ, got 'cat' twice"),
        (
            {"classes": ("cat",)},
            DataError,
            "tiny has only one class in its training rows, 'cat'",
        ),
        (
            {"per_class": 4},
            ConfigError,
            "per_class must be at most 3, the number of training images of 'cat', got 4",
        ),
    ],
)
def test_classes_that_are_not_there_are_refused(
    folder: Path, settings: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(sentence)}$"):
        load_cifar(tiny_set(folder), CifarConfig(val_count=3, **settings))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"val_count": 50_000}, "val_count must be less than 50000, got 50000"),
        ({"per_class": 0}, "per_class must be greater than 0, got 0"),
        ({"draw": -1}, "draw must be at least 0, got -1"),
    ],
)
def test_settings_without_sense_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}"):
        parse(CifarConfig, settings)


def test_a_damaged_file_is_named(folder: Path) -> None:
    cifar = tiny_set(folder)
    place = folder / "tiny" / "two.bin"
    place.write_bytes(place.read_bytes()[:-1])
    sentence = f"{place} is damaged: wanted {6 * 3073} bytes, got {6 * 3073 - 1}"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        load_cifar(cifar, CifarConfig(val_count=0))


def test_where_a_file_is_absent_the_archive_is_asked_for(folder: Path) -> None:
    cifar = tiny_set(folder)
    (folder / "tiny" / "two.bin").unlink()
    sentence = (
        "tiny is not on this machine and NETWRIGHT_OFFLINE is set; put tiny.tar.gz into "
        f"{folder}/cache/data/tiny or into tiny/ in a folder of NETWRIGHT_DATA"
    )
    with pytest.raises(DownloadError, match=f"^{re.escape(sentence)}$"):
        load_cifar(cifar, CifarConfig(val_count=0))


@pytest.mark.parametrize("cifar", [TEN_CLASSES, HUNDRED_CLASSES], ids=lambda item: item.name)
def test_the_files_of_a_set_hold_sixty_thousand_records(cifar: CifarSet) -> None:
    width = cifar.label_bytes + 3072
    assert sum(file.size for file in cifar.train_files) == 50_000 * width
    assert cifar.test_file.size == 10_000 * width
    for file in (cifar.archive, *cifar.train_files, cifar.test_file):
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
    assert cifar.archive.addresses == (f"https://www.cs.toronto.edu/~kriz/{cifar.archive.name}",)
    assert list(cifar.class_names) == sorted(set(cifar.class_names))


def test_the_files_have_the_names_that_the_archives_give_them() -> None:
    batches = [f"data_batch_{place}.bin" for place in (1, 2, 3, 4, 5)]
    assert [file.name for file in TEN_CLASSES.train_files] == batches
    assert TEN_CLASSES.test_file.name == "test_batch.bin"
    assert [file.name for file in HUNDRED_CLASSES.train_files] == ["train.bin"]
    assert HUNDRED_CLASSES.test_file.name == "test.bin"


@pytest.mark.covers("dataset-cifar100")
def test_a_hundred_classes_are_read_by_their_fine_labels(folder: Path) -> None:
    shape = replace(tiny_set(folder, label_bytes=2), class_names=HUNDRED_CLASSES.class_names)
    data = load_cifar(shape, CifarConfig(val_count=0))
    assert len(HUNDRED_CLASSES.class_names) == data.spec.num_outputs == 100
    assert HUNDRED_CLASSES.label_bytes == 2
    assert names(data, data.train)[:3] == ["apple", "aquarium_fish", "baby"]
    assert CIFAR100.config is CifarConfig


def needs_cifar10() -> pytest.MarkDecorator:
    missing = find_file("cifar10", "data_batch_1.bin") is None
    return pytest.mark.skipif(missing, reason="cifar10 is not on this machine")


@needs_cifar10()
def test_cifar10_as_published() -> None:
    data = load_cifar(TEN_CLASSES, CifarConfig(val_count=0))
    assert isinstance(data.train, PixelSplit)
    assert data.train.pixels.shape == (50_000, 3, 32, 32)
    assert data.train.targets.bincount().tolist() == [5000] * 10
    assert data.test is not None
    assert data.test.targets.bincount().tolist() == [1000] * 10
    assert names(data, data.train)[:4] == ["frog", "truck", "truck", "deer"]
    for channel in range(3):
        share = data.train.pixels[:, channel].float() / 255
        assert float(share.mean()) == pytest.approx(TEN_CLASSES.scaling.mean[channel], abs=1e-4)
        assert float(share.std()) == pytest.approx(TEN_CLASSES.scaling.scale[channel], abs=1e-4)
