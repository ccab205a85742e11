"""MNIST and Fashion-MNIST: 28 x 28 grey images in ten classes, as they were published.

The test images are fixed, and by custom the last 10,000 training images are held out to choose by.
So there is no share and no seed to set: one number says how many are held out.

Shapes: N images, (N, 1, 28, 28), pixels from 0 to 255 scaled to [0, 1].
Source: LeCun et al., "Gradient-based learning applied to document recognition" (1998); Xiao, Rasul
and Vollgraf, "Fashion-MNIST" (2017).
"""

from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
from annotated_types import Interval

from netwright.core.config import Config, Doc
from netwright.data.arrays import ArraysConfig, Names, from_arrays
from netwright.data.dataset import Data
from netwright.data.files.download import RemoteFile, fetch
from netwright.data.files.idx import read_idx
from netwright.data.source import Source

FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)


@dataclass(frozen=True, kw_only=True)
class MnistConfig(Config):
    """The one choice that the published division into train and test leaves."""

    val_count: Annotated[
        int,
        Interval(ge=0, lt=60_000),
        Doc("number of training images, the last ones, used for validation"),
    ] = 10_000


@dataclass(frozen=True, kw_only=True)
class ImageSet:
    """A data set in the four files of MNIST.

    Args:
        name: its name in the catalog.
        class_names: the classes in the order of their labels.
        files: in the order of FILES.
    """

    name: str
    class_names: tuple[str, ...]
    files: tuple[RemoteFile, ...]


def load_images(image_set: ImageSet, config: MnistConfig) -> Data:
    """The four files as data; they are fetched where they are not on this machine."""
    paths = [fetch(image_set.name, file) for file in image_set.files]  # all, before one is read
    images, labels, test_images, test_labels = (read_idx(path) for path in paths)
    images, test_images = images[:, None], test_images[:, None]  # (N, 28, 28) -> (N, 1, 28, 28)
    classes = np.array(image_set.class_names)
    cut = len(images) - config.val_count
    validation = (images[cut:], classes[labels[cut:]]) if config.val_count else None
    return from_arrays(
        images[:cut],
        classes[labels[:cut]],
        config=ArraysConfig(val_size=0, test_size=0, kind="class", factor=1 / 255),
        name=image_set.name,
        names=Names(classes=image_set.class_names),
        validation=validation,
        test=(test_images, classes[test_labels]),
    )


def _files(places: tuple[str, ...], *sums: tuple[int, str]) -> tuple[RemoteFile, ...]:
    """The four files, under all places, with the size and sha256 of each."""
    return tuple(
        RemoteFile(
            name=name,
            addresses=tuple(f"{place}/{name}" for place in places),
            size=size,
            sha256=sha256,
        )
        for name, (size, sha256) in zip(FILES, sums, strict=True)
    )


DIGIT_IMAGES = ImageSet(
    name="mnist",
    class_names=tuple("0123456789"),
    files=_files(
        ("https://ossci-datasets.s3.amazonaws.com/mnist", "http://yann.lecun.com/exdb/mnist"),
        (9_912_422, "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
        (28_881, "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
        (1_648_877, "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
        (4_542, "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
    ),
)
CLOTHES_IMAGES = ImageSet(
    name="fashion-mnist",
    class_names=(
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    ),
    files=_files(
        (
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
            "https://github.com/zalandoresearch/fashion-mnist/raw/master/data/fashion",
        ),
        (26_421_880, "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"),
        (29_515, "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"),
        (4_422_102, "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"),
        (5_148, "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"),
    ),
)

MNIST = Source(
    config=MnistConfig,
    load=partial(load_images, DIGIT_IMAGES),
    sentence="70,000 handwritten digits as 28 x 28 images, 10 classes; 10,000 of them for the test",
    origin="LeCun, Cortes and Burges, The MNIST database (1998)",
    licence="not stated",
    published=True,
)
FASHION_MNIST = Source(
    config=MnistConfig,
    load=partial(load_images, CLOTHES_IMAGES),
    sentence="70,000 pictures of clothes as 28 x 28 images, 10 classes; 10,000 for the test",
    origin="Xiao, Rasul and Vollgraf, Fashion-MNIST (2017)",
    licence="MIT",
    published=True,
)
