"""The ready-made recipes by name: `netwright train -c ready/mnist-cnn`.

A recipe is a YAML file beside this one, which `--print-config` shows in full. Whatever stands after
it on the command line wins, as with a file of one's own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from netwright.core.checks import nearest
from netwright.core.errors import UnknownNameError
from netwright.recipes.recipe_file import read_recipe_file

FOLDER = "ready"


@dataclass(frozen=True, kw_only=True)
class ReadyRecipe:
    """A recipe that comes with the package.

    Args:
        name: as it is asked for, with the folder: "ready/mnist-cnn".
        sentence: what it trains, and for what.
    """

    name: str
    sentence: str

    @property
    def path(self) -> Path:
        """Where its file lies."""
        return Path(__file__).with_name(f"{self.name.partition('/')[2]}.yaml")

    def read(self) -> dict[str, Any]:
        """Its sections."""
        return read_recipe_file(self.path)


_ROWS = (
    ReadyRecipe(
        name="ready/mnist-cnn",
        sentence="The plain CNN on MNIST: 99.4 % after 20 epochs.",
    ),
    ReadyRecipe(
        name="ready/mnist-lenet5",
        sentence="LeNet-5 on MNIST: 99.2 % after 20 epochs.",
    ),
    ReadyRecipe(
        name="ready/fashion-cnn",
        sentence="The plain CNN on Fashion-MNIST: 92.5 % after 30 epochs.",
    ),
    ReadyRecipe(
        name="ready/fashion-lenet5",
        sentence="LeNet-5 on Fashion-MNIST: 90.9 % after 40 epochs.",
    ),
    ReadyRecipe(
        name="ready/cifar10-cnn",
        sentence="Four plain convolutions on CIFAR-10: 79 % after 20 epochs.",
    ),
    ReadyRecipe(
        name="ready/cifar10-resnet20",
        sentence="ResNet-20 on CIFAR-10: 92.0 % after 64 epochs.",
    ),
    ReadyRecipe(
        name="ready/cifar10-resnet56",
        sentence="ResNet-56 on CIFAR-10: 93.2 % after 50 epochs.",
    ),
    ReadyRecipe(
        name="ready/cifar10-fast",
        sentence="ResNet-9 on CIFAR-10: 94.1 % in 17 seconds on an H200.",
    ),
    ReadyRecipe(
        name="ready/isbi2012-unet",
        sentence="A U-Net that finds cell membranes in electron microscopy: Dice 0.82.",
    ),
    ReadyRecipe(
        name="ready/resnet",
        sentence="ResNet-50 on a folder of images that you name, by the settings of its paper.",
    ),
)

READY: Mapping[str, ReadyRecipe] = MappingProxyType({recipe.name: recipe for recipe in _ROWS})


def recipe_path(path: Path) -> Path:
    """The file that a recipe is read from: the user's own, else the ready-made one of this name."""
    name = path.as_posix()
    if path.exists() or (path.parent != Path(FOLDER) and f"{FOLDER}/{name}" not in READY):
        return path
    if name not in READY:
        hint = nearest(name, READY) or f"; there are {', '.join(READY)}"
        raise UnknownNameError(f"unknown recipe {name!r}{hint}")
    return READY[name].path
