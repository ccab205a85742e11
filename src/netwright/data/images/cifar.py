"""CIFAR-10 and CIFAR-100: 32 x 32 colour images in 10 and 100 classes, as they were published.

The files are those of the binary version: records of one label (CIFAR-100: a coarse and a fine one)
and 3 x 32 x 32 bytes. Where all of them lie unpacked in `cifar10/` of a folder of NETWRIGHT_DATA
they are read there, else out of the published archive, which is never unpacked to disk.

The test images are fixed, and by custom the last 5,000 training images are held out to choose by.
Some of the classes alone, and few images of each, are what transfer learning starts from.

Shapes: N images, (N, 3, 32, 32).
Source: Krizhevsky, "Learning multiple layers of features from tiny images" (2009), chapter 3.
"""

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Annotated

import numpy as np
import torch
from annotated_types import Gt, Interval
from numpy.typing import NDArray
from torch import Tensor

from netwright.core.checks import nearest
from netwright.core.config import Config, Count, Doc
from netwright.core.errors import ConfigError, UnknownNameError
from netwright.core.seeding import generator
from netwright.data.dataset import Data, check_data
from netwright.data.files.download import RemoteFile, fetch
from netwright.data.files.locations import find_file
from netwright.data.images.encoder import ImageEncoder
from netwright.data.pixels import ChannelScaling, PixelSplit
from netwright.data.source import Source

IMAGE_SHAPE = (3, 32, 32)
IMAGE_BYTES = 3072


@dataclass(frozen=True, kw_only=True)
class CifarConfig(Config):
    """What the published division into train and test leaves to choose."""

    val_count: Annotated[
        int,
        Interval(ge=0, lt=50_000),
        Doc("number of training images, the last ones, used for validation"),
    ] = 5_000
    classes: Annotated[
        tuple[str, ...], Doc("the classes to use, in the order of the outputs; none: all")
    ] = ()
    per_class: Annotated[
        Annotated[int, Gt(0)] | None, Doc("number of training images per class; none: all")
    ] = None
    draw: Annotated[Count, Doc("random seed for the images chosen by per_class")] = 0


@dataclass(frozen=True, kw_only=True)
class CifarSet:
    """A data set in the files of CIFAR.

    Args:
        name: its name in the catalog.
        class_names: the classes in the order of their labels.
        label_bytes: labels before each image; the last of them is taken.
        scaling: of the pixels, by the mean and deviation of all training images.
        archive: the published file.
        train_files: the files in the archive with the training images, in their order.
        test_file: the file in the archive with the test images.
    """

    name: str
    class_names: tuple[str, ...]
    label_bytes: int
    scaling: ChannelScaling
    archive: RemoteFile
    train_files: tuple[RemoteFile, ...]
    test_file: RemoteFile


def load_cifar(cifar: CifarSet, config: CifarConfig) -> Data:
    """The images as bytes; the archive is fetched where nothing is on this machine."""
    names = config.classes or cifar.class_names
    _check_classes(cifar, names)
    *train_parts, test_part = read_files(cifar)
    learned, tested = (
        _split(cifar, records, names) for records in (np.concatenate(train_parts), test_part)
    )
    rows, cut = _rows_of_classes(learned), len(learned) - config.val_count
    train, val = rows[rows < cut], rows[rows >= cut]
    if config.per_class is not None:
        train = train[_few(learned.targets[train], names, config.per_class, config.draw)]
    encoder = ImageEncoder(
        input_shape=IMAGE_SHAPE,
        mode="RGB",
        target="class",
        num_outputs=len(names),
        class_names=names,
        mean=cifar.scaling.mean,
        scale=cifar.scaling.scale,
    )
    data = Data(
        name=cifar.name,
        spec=encoder.spec,
        train=learned.take(train),
        val=learned.take(val) if config.val_count else None,
        test=tested.take(_rows_of_classes(tested)),
        preprocessor=encoder,
    )
    check_data(data)
    return data


def read_files(cifar: CifarSet) -> Iterator[NDArray[np.uint8]]:
    """The records (N, labels and pixels) of each file, those of the test last."""
    files = (*cifar.train_files, cifar.test_file)
    width = cifar.label_bytes + IMAGE_BYTES
    if all(find_file(cifar.name, file.name) for file in files):
        contents = (fetch(cifar.name, file).read_bytes() for file in files)
    else:
        archived = _read_archive(cifar)
        contents = (archived[file.name] for file in files)
    for content in contents:
        yield np.frombuffer(content, np.uint8).reshape(-1, width)


def _read_archive(cifar: CifarSet) -> dict[str, bytes]:
    """Every plain file of the archive by its name, in one pass: going back would unpack again."""
    contents = {}
    with tarfile.open(fetch(cifar.name, cifar.archive), "r|gz") as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.isreg() else None
            if stream is not None:
                contents[PurePosixPath(member.name).name] = stream.read()
    return contents


def _split(cifar: CifarSet, records: NDArray[np.uint8], names: tuple[str, ...]) -> PixelSplit:
    """All images; a target is the class's place among the names, or -1 where it is none of them."""
    labels, pixels = np.split(records, [cifar.label_bytes], axis=1)
    places = [names.index(name) if name in names else -1 for name in cifar.class_names]
    return PixelSplit(
        pixels=torch.tensor(pixels).reshape(-1, *IMAGE_SHAPE),
        scaling=cifar.scaling,
        targets=torch.tensor(places)[torch.tensor(labels[:, -1], dtype=torch.int64)],
    )


def _rows_of_classes(split: PixelSplit) -> Tensor:
    return (split.targets >= 0).nonzero().flatten()


def _check_classes(cifar: CifarSet, names: tuple[str, ...]) -> None:
    for place, name in enumerate(names):
        if name not in cifar.class_names:
            hint = nearest(name, cifar.class_names)
            hint = hint or f"; there are {', '.join(cifar.class_names)}"
            raise UnknownNameError(f"{cifar.name} has no class {name!r}{hint}")
        if name in names[:place]:
            raise ConfigError(f"classes must differ, got {name!r} twice")


def _few(targets: Tensor, names: tuple[str, ...], count: int, draw: int) -> Tensor:
    """The places of so many images a class, in their order."""
    chosen = []
    for label, name in enumerate(names):
        rows = (targets == label).nonzero().flatten()
        if len(rows) < count:
            raise ConfigError(
                f"per_class must be at most {len(rows)}, the number of training images of "
                f"{name!r}, "
                f"got {count}"
            )
        order = torch.randperm(len(rows), generator=generator(draw, "per_class", name))
        chosen.append(rows[order[:count]])
    return torch.cat(chosen).sort().values


def _file(name: str, size: int, sha256: str, *addresses: str) -> RemoteFile:
    return RemoteFile(name=name, addresses=addresses, size=size, sha256=sha256)


TEN_CLASSES = CifarSet(
    name="cifar10",
    class_names=tuple("airplane automobile bird cat deer dog frog horse ship truck".split()),
    label_bytes=1,
    scaling=ChannelScaling(mean=(0.4914, 0.4822, 0.4465), scale=(0.2470, 0.2435, 0.2616)),
    archive=_file(
        "cifar-10-binary.tar.gz",
        170_052_171,
        "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    ),
    train_files=tuple(
        _file(f"data_batch_{place}.bin", 30_730_000, sha256)
        for place, sha256 in enumerate(
            (
                "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
                "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
                "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
                "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
                "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
            ),
            start=1,
        )
    ),
    test_file=_file(
        "test_batch.bin",
        30_730_000,
        "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
    ),
)
HUNDRED_CLASSES = CifarSet(
    name="cifar100",
    class_names=tuple(
        """
        apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus
        butterfly camel can castle caterpillar cattle chair chimpanzee clock cloud cockroach couch
        crab crocodile cup dinosaur dolphin elephant flatfish forest fox girl hamster house
        kangaroo keyboard lamp lawn_mower leopard lion lizard lobster man maple_tree motorcycle
        mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree
        plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark
        shrew skunk skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table
        tank telephone television tiger tractor train trout tulip turtle wardrobe whale
        willow_tree wolf woman worm
        """.split()
    ),
    label_bytes=2,
    scaling=ChannelScaling(mean=(0.5071, 0.4865, 0.4409), scale=(0.2673, 0.2564, 0.2762)),
    archive=_file(
        "cifar-100-binary.tar.gz",
        168_513_733,
        "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
        "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",
    ),
    train_files=(
        _file(
            "train.bin",
            153_700_000,
            "f31298fc616915fa142368359df1c4ca2ae984d6915ca468b998a5ec6aeebf29",
        ),
    ),
    test_file=_file(
        "test.bin",
        30_740_000,
        "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a",
    ),
)

CIFAR10 = Source(
    config=CifarConfig,
    load=partial(load_cifar, TEN_CLASSES),
    sentence="60,000 photographs as 32 x 32 colour images, 10 classes; 10,000 for the test",
    origin="Krizhevsky, Learning multiple layers of features from tiny images (2009)",
    licence="not stated",
    published=True,
)
CIFAR100 = Source(
    config=CifarConfig,
    load=partial(load_cifar, HUNDRED_CLASSES),
    sentence="60,000 photographs as 32 x 32 colour images, 100 classes; 10,000 for the test",
    origin="Krizhevsky, Learning multiple layers of features from tiny images (2009)",
    licence="not stated",
    published=True,
)
