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
from netwright.recipes.plan.recipe_file import read_recipe_file

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
        sentence="ResNet-9 on CIFAR-10: 94.0 % in 6.4 seconds on an H200.",
    ),
    ReadyRecipe(
        name="ready/isbi2012-unet",
        sentence="A U-Net that finds cell membranes in electron microscopy: Dice 0.82.",
    ),
    ReadyRecipe(
        name="ready/shakespeare-lstm",
        sentence="An LSTM on the letters of Shakespeare: 1.67 nats a letter after 6 million of "
        "them.",
    ),
    ReadyRecipe(
        name="ready/shakespeare-mingru",
        sentence="minGRU on as many letters of Shakespeare: 1.59 nats a letter.",
    ),
    ReadyRecipe(
        name="ready/shakespeare-gpt",
        sentence="A GPT of 0.8 million weights on letters: 1.79 nats a letter after 1.6 million "
        "of them.",
    ),
    ReadyRecipe(
        name="ready/shakespeare-lstm-large",
        sentence="Two layers of LSTM on letters, for a GPU: 1.50 nats a letter in 82 seconds on "
        "an H200.",
    ),
    ReadyRecipe(
        name="ready/shakespeare-gpt-large",
        sentence="A GPT of 10.8 million weights on letters, for a GPU: 1.47 nats a letter in 86 "
        "seconds on an H200.",
    ),
    ReadyRecipe(
        name="ready/multi30k-transformer",
        sentence="A transformer of 3 + 3 blocks translates the captions of Multi30k into German.",
    ),
    ReadyRecipe(
        name="ready/bert-mini-wikitext",
        sentence="The mini BERT, pre-trained on the articles of WikiText-2, for a GPU.",
    ),
    ReadyRecipe(
        name="ready/shakespeare-t5",
        sentence="A T5 of 1.4 million weights that says missing letters of Tiny Shakespeare, for a "
        "GPU.",
    ),
    ReadyRecipe(
        name="ready/sst2-bert",
        sentence="The mini BERT on SST-2, from scratch or from a pre-trained run.",
    ),
    ReadyRecipe(
        name="ready/squad-bert",
        sentence="The mini BERT marks answers in paragraphs of SQuAD's dev set, split by article.",
    ),
    ReadyRecipe(
        name="ready/ud-ewt-bert",
        sentence="A small BERT from scratch on parts of speech of English EWT.",
    ),
    ReadyRecipe(
        name="ready/cifar10-vit",
        sentence="A small vision transformer on CIFAR-10, for a GPU: 89.2 % of the test images.",
    ),
    ReadyRecipe(
        name="ready/reverse-attention",
        sentence="An encoder-decoder that says strings of up to 24 letters backwards: 99.1 % are "
        "exact, 27 % without attention.",
    ),
    ReadyRecipe(
        name="ready/adding-lstm",
        sentence="An LSTM adds two numbers that it saw up to 100 steps ago: squared error 0.0001, "
        "where an Elman network stays at 0.163.",
    ),
    ReadyRecipe(
        name="ready/recall-lru",
        sentence="A linear recurrent unit recalls the first of 1000 tokens, always.",
    ),
    ReadyRecipe(
        name="ready/nyse-lstm",
        sentence="An LSTM forecasts the trading volume of the New York Stock Exchange: R2 0.42, "
        "where a linear model has 0.41.",
    ),
    ReadyRecipe(
        name="ready/sst2-text-cnn",
        sentence="The text CNN of Kim tells praise from blame in sentences of film reviews: 83.0 "
        "%, from pre-trained word vectors 84.1 %; for a GPU.",
    ),
    ReadyRecipe(
        name="ready/sst2-gru",
        sentence="A GRU tells praise from blame in sentences of film reviews: 80.5 %; a linear "
        "model of tf-idf does as well, with 81.5 %.",
    ),
    ReadyRecipe(
        name="ready/imdb-gru",
        sentence="A GRU tells praise from blame in the first 512 words of film reviews: 84.3 % "
        "with 5,000 of the 25,000 reviews of each part, where a linear bag of words has 86.8 %.",
    ),
    ReadyRecipe(
        name="ready/ud-ewt-lstm",
        sentence="An LSTM that reads in both directions tags the parts of speech of English: 90.2 "
        "% of words are right.",
    ),
    ReadyRecipe(
        name="ready/resnet",
        sentence="ResNet-50 on a folder of images that you name, by the settings of its paper.",
    ),
)

READY: Mapping[str, ReadyRecipe] = MappingProxyType({recipe.name: recipe for recipe in _ROWS})


def names_ready(name: str) -> bool:
    """Whether it is the name of a ready-made recipe, or written like one, and not of a file."""
    is_written_so = Path(name).parent == Path(FOLDER) or f"{FOLDER}/{name}" in READY
    return is_written_so and not Path(name).exists()


def recipe_path(path: Path) -> Path:
    """The file that a recipe is read from: the user's own, else the ready-made one of this name."""
    name = path.as_posix()
    if path.exists() or (path.parent != Path(FOLDER) and f"{FOLDER}/{name}" not in READY):
        return path
    if name not in READY:
        hint = nearest(name, READY) or f"; there are {', '.join(READY)}"
        raise UnknownNameError(f"unknown recipe {name!r}{hint}")
    return READY[name].path
