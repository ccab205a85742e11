"""Every model of the catalog at the size it was published with, and data of that size.

Text: words drawn by Zipf's law, 50,253 different ones, which with the four special tokens are the
50,257 of GPT-2's vocabulary. Large images: MNIST's digits widened to 3 x 224 x 224, each row a
class of its own among 1,000. Neither can be learned to any use: they have the size of the true
ones, which are too large to be carried along. All else is real: MNIST with its 60,000 rows of 784
numbers, the slices of ISBI 2012 at 512 x 512, Tiny Shakespeare by letters, the pairs of Multi30k.

Smaller than 60,000 x 784 is what would take too long or is refused: the work of a support vector
machine grows with the square of its rows (20,000 here); scikit-learn's boosting sorts every feature
at every node (one stage of ten trees, five boosted trees); polynomials, Newton's method for ten
classes and McCulloch-Pitts neurons take few inputs (means of 5 x 5, 14 x 14 and 3 x 3 cells).

Shapes: N rows.
"""

import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F

from netwright.data.arrays import ArraysConfig, Names, from_arrays
from netwright.data.dataset import Data
from netwright.data.files.idx import read_idx
from netwright.data.files.locations import find_file
from netwright.data.mnist import FILES
from netwright.models.catalog import MODELS

STEPS = 30
WORDS = 50_253
WINDOW = 1024
HELD_OUT = 16  # examples that are not learned from, beside those that have a published test

# What nw.fit takes as data, and the settings that go with it.
Given = tuple[Any, dict[str, Any]]


def mnist(part: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The published images (N, 28, 28) and their digits (N,) of "train" or "test"."""
    images, labels = FILES[:2] if part == "train" else FILES[2:]
    found = [find_file("mnist", name) for name in (images, labels)]
    if None in found:
        raise SystemExit("MNIST is not here: let NETWRIGHT_DATA name the folder that holds mnist/")
    pixels, digits = (read_idx(path).copy() for path in found if path is not None)
    return pixels, digits


def images_of(side: int, classes: int, channels: int = 3) -> Callable[[int, Path], Given]:
    """Digits as images (N, channels, side, side) of so many classes."""

    def build(rows: int, folder: Path) -> Given:
        pixels, digits = mnist("train")
        pixels, digits = pixels[: rows + HELD_OUT], digits[: rows + HELD_OUT]
        grey = torch.from_numpy(pixels)[:, None].float() / 255
        images = F.interpolate(grey, size=(side, side)).expand(-1, channels, -1, -1).numpy()
        labels = digits if classes == 10 else np.arange(len(digits)) % classes
        names = np.array([str(place) for place in range(classes)])
        return from_arrays(
            images[:rows],
            names[labels[:rows]],
            config=ArraysConfig(val_size=0, test_size=0, kind="class"),
            name=f"digits-{side}",
            names=Names(classes=tuple(names.tolist())),
            test=(images[rows:], names[labels[rows:]]),
        ), {}

    return build


def whole_mnist(target: str, cells: int = 28, count: int = 60_000) -> Callable[[int, Path], Given]:
    """All 60,000 rows: their digit, whether it is odd, or the digit as a real.

    Args:
        target: "digit", "odd" or "real".
        cells: of each side; fewer than 28 are the means of the pixels within.
        count: the first so many rows.
    """

    def flat(pixels: NDArray[np.uint8]) -> NDArray[np.float32]:
        grey = torch.from_numpy(pixels)[:, None].float() / 255
        pooled = grey if cells == 28 else F.adaptive_avg_pool2d(grey, cells)
        return pooled.flatten(1).numpy()

    def wanted(digits: NDArray[np.uint8]) -> NDArray[Any]:
        if target == "real":
            return digits.astype(np.float32)
        return np.array(["even", "odd"])[digits % 2] if target == "odd" else digits.astype(str)

    def build(rows: int, folder: Path) -> Given:
        (inputs, digits), (test_inputs, test_digits) = mnist("train"), mnist("test")
        kind = "real" if target == "real" else "class"
        return from_arrays(
            flat(inputs[:count]),
            wanted(digits[:count]),
            config=ArraysConfig(val_size=0, test_size=0, kind=kind),  # type: ignore[arg-type]
            name="mnist",
            test=(flat(test_inputs), wanted(test_digits)),
        ), {}

    return build


def words(rows: int, folder: Path) -> Given:
    """Windows of 1,024 words; every word occurs."""
    random = np.random.default_rng(0)
    names = np.array([_word(place) for place in range(WORDS)])
    chances = 1 / np.arange(1, WORDS + 1)
    length = max(rows * WINDOW, WORDS) + 1  # the last word is a target only
    drawn = random.choice(WORDS, length - WORDS, p=chances / chances.sum())
    train = random.permutation(np.concatenate([np.arange(WORDS), drawn]))
    test = random.choice(WORDS, 4 * WINDOW + 1, p=chances / chances.sum())
    folder.mkdir(exist_ok=True)
    for part, tokens in (("train", train), ("test", test)):
        (folder / f"{part}.txt").write_text(" ".join(names[tokens]) + "\n", encoding="utf-8")
    settings = {"path": str(folder), "tokenizer": "word", "vocab_size": WORDS + 4}
    return "text", {**settings, "window": WINDOW}


def running_text(rows: int, folder: Path) -> Given:
    """The same words in one text, to learn their vectors from; a pass over it is the steps."""
    _, settings = words(rows, folder)
    return "words", {"path": settings["path"], "min_count": 1}


def reviews(rows: int, folder: Path) -> Given:
    """All training sentences of SST-2, each word of them."""
    return "sst2", {"min_count": 1}


def letters(rows: int, folder: Path) -> Given:
    """Tiny Shakespeare by letters, as many windows of 256 as there are."""
    return "tinyshakespeare", {"window": 256}


def slices(rows: int, folder: Path) -> Given:
    """ISBI 2012: 24 slices to learn from."""
    return "isbi2012", {}


def shapes(rows: int, folder: Path) -> Given:
    """Drawn shapes on 64 x 64 pixels, up to three an image; three tenths are held out."""
    return "shapes", {"n": 2 * rows, "side": 64, "objects": 3}


def pairs(rows: int, folder: Path) -> Given:
    """All 29,000 sentences of Multi30k, German and English, and all of their words."""
    folder.mkdir(exist_ok=True)
    found = [find_file("multi30k", f"train.{language}.gz") for language in ("de", "en")]
    files = [folder / "train.de", folder / "train.en"]
    for file, packed in zip(files, found, strict=True):
        if packed is None:
            raise SystemExit("Multi30k is not here: see NETWRIGHT_DATA")
        file.write_bytes(gzip.decompress(packed.read_bytes()))
    settings = {"path": str(files[0]), "target_path": str(files[1]), "min_count": 1}
    return "text-pairs", {**settings, "val_size": 0.01, "test_size": 0.0}


def _word(place: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return "".join(letters[place // 26**power % 26] for power in range(4))


@dataclass(frozen=True, kw_only=True)
class Size:
    """How one model is tried.

    Args:
        data: rows to learn from, and a folder for files -> what is learned from.
        batch: rows of a batch; 0 for a model that has none.
        settings: of model, data and training.
        views: what is looked at afterwards.
        weight: how large it is beside the others: the larger begin first.
    """

    data: Callable[[int, Path], Given]
    batch: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    views: tuple[str, ...] = ("summary", "confusion")
    weight: float = 1.0


def _language_model(batch: int, weight: float) -> Size:
    return Size(
        data=words,
        batch=batch,
        settings={"precision": "bf16-mixed"},
        views=("summary", "activations", "gradient-flow"),
        weight=weight,
    )


def _recurrent(**settings: Any) -> Size:
    return Size(
        data=letters,
        batch=64,
        settings={"hidden": 1024, "embedding": 1024, "max_steps": STEPS, **settings},
        views=("summary", "activations"),
        weight=4,
    )


def masked_articles(rows: int, folder: Path) -> Given:
    """WikiText-2 with masked tokens, pairs of segments of 254 tokens."""
    return "masked-wikitext-2", {"window": 511}


def _pretrained(weight: float) -> Size:
    return Size(
        data=masked_articles,
        batch=16,
        settings={"max_steps": STEPS, "precision": "bf16-mixed"},
        views=("summary", "activations"),
        weight=weight,
    )


def _translator(weight: float, **settings: Any) -> Size:
    return Size(
        data=pairs,
        batch=64,
        settings={"max_steps": STEPS, **settings},
        views=("summary", "alignment"),
        weight=weight,
    )


def _of_reviews(weight: float) -> Size:
    return Size(data=reviews, batch=50, settings={"max_steps": STEPS}, weight=weight)


def _of_images(side: int, classes: int, batch: int, weight: float, **settings: Any) -> Size:
    return Size(
        data=images_of(side, classes),
        batch=batch,
        settings=settings,
        views=("summary", "activations", "saliency"),
        weight=weight,
    )


def _by_gradients(target: str, *, cells: int = 28, batch: int = 2000) -> Size:
    shown = "residuals" if target == "real" else "confusion"
    return Size(
        data=whole_mnist(target, cells),
        batch=batch,
        # Linear models would take all rows at once, and end when they are at their optimum.
        settings={"max_steps": STEPS, "optimizer": "adam"},
        views=("summary", shown),
    )


def _own_rule(
    target: str = "digit",
    *,
    cells: int = 28,
    count: int = 60_000,
    weight: float = 1.0,
    **settings: Any,
) -> Size:
    shown = "residuals" if target == "real" else "confusion"
    return Size(
        data=whole_mnist(target, cells, count),
        settings=settings,
        views=("summary", shown),
        weight=weight,
    )


_LARGE = {"precision": "bf16-mixed"}
SIZES: dict[str, Size] = {
    "gpt2-xl": _language_model(4, 1000),
    "gpt2-large": _language_model(8, 500),
    "gpt2-medium": _language_model(8, 250),
    "gpt2": _language_model(16, 100),
    **{
        name: _of_images(224, 1000, 34, weight, **_LARGE)
        for name, weight in {
            "vgg19": 90,
            "vgg16": 85,
            "vgg13": 80,
            "vgg11": 75,
            "resnet152": 70,
            "resnet101": 60,
            "resnet50": 50,
            "alexnet": 45,
            "vit-b": 55,
            "vit-s": 42,
            "resnet34": 40,
            "resnet18": 35,
            "vit-ti": 30,
        }.items()
    },
    "unet": Size(
        data=slices,
        batch=4,
        settings={"width": 64, "epochs": 5, "max_steps": STEPS},
        views=("summary", "segmentation"),
        weight=30,
    ),
    "detr": Size(
        data=shapes,
        batch=64,
        settings={"width": 256, "layers": 6, "heads": 8, "queries": 100, "max_steps": STEPS},
        views=("summary", "predicted-boxes"),
        weight=10,
    ),
    **{
        name: _of_images(32, 10, 128, 2)
        for name in ("resnet110", "resnet56", "resnet44", "resnet32", "resnet20", "resnet9", "vit")
    },
    "mlp-mixer": _of_images(
        224,
        1000,
        34,
        48,
        **_LARGE,
        patch=16,
        layers=12,
        width=768,
        token_hidden=384,
        channel_hidden=3072,
    ),
    **{
        name: Size(data=images_of(28, 10, 1), batch=128, views=("summary", "filters"))
        for name in ("lenet5", "cnn")
    },
    "lstm": _recurrent(layers=2),
    "gru": _recurrent(layers=2),
    "elman": _recurrent(layers=2),
    "jordan": _recurrent(),
    "mingru": _recurrent(layers=2),
    "minlstm": _recurrent(layers=2),
    "lru": _recurrent(layers=2),
    "gpt": Size(
        data=letters,
        batch=64,
        settings={"layers": 6, "heads": 6, "width": 384, "max_steps": STEPS},
        views=("summary", "attention"),
    ),
    "encoder-decoder": Size(
        data=pairs,
        batch=80,
        settings={
            "hidden": 1000,
            "embedding": 620,
            "attention": "bahdanau",
            "max_steps": STEPS,
        },
        views=("summary", "alignment"),
        weight=5,
    ),
    "transformer": _translator(3),
    "transformer-base": _translator(20, precision="bf16-mixed"),
    "transformer-big": _translator(60, precision="bf16-mixed"),
    "t5": _translator(3),
    "t5-small": _translator(20, precision="bf16-mixed"),
    "t5-base": _translator(60, precision="bf16-mixed"),
    **{
        name: _pretrained(weight)
        for name, weight in {
            "bert": 3,
            "bert-tiny": 2,
            "bert-mini": 3,
            "bert-small": 6,
            "bert-medium": 12,
            "bert-base": 40,
        }.items()
    },
    "mlp": _by_gradients("digit"),
    "mlp-plr": _by_gradients("digit"),
    "table-resnet": _by_gradients("digit"),
    "ft-transformer": _by_gradients("digit", cells=14, batch=500),
    "softmax": _by_gradients("digit"),
    "logistic": _by_gradients("odd"),
    "linear-regression": _by_gradients("real"),
    "restarts": _by_gradients("digit"),
    "bagging": _by_gradients("digit"),
    "boosting": _own_rule(weight=55, members=5),
    "stacking": Size(
        data=whole_mnist("digit"),
        batch=2000,
        settings={"of": ("mlp", "softmax"), "max_steps": STEPS},
        weight=20,
    ),
    **{name: _own_rule("real", weight=8) for name in ("least-squares", "ridge", "lasso")},
    "gaussian-regression": _own_rule("real"),
    "polynomial-regression": _own_rule("real", cells=5),
    "logistic-newton": _own_rule("odd", weight=8),
    "softmax-newton": _own_rule(cells=14, weight=30),
    "kernel-regression": _own_rule(weight=15),
    "mcculloch-pitts": _own_rule(cells=3),
    "perceptron": _own_rule(weight=20, epochs=STEPS),
    "averaged-perceptron": _own_rule(weight=20, epochs=STEPS),
    "delta-rule": _own_rule("odd", weight=10, epochs=STEPS),
    "rosenblatt": _own_rule(weight=20, epochs=STEPS),
    "one-vs-rest": _own_rule(weight=22, epochs=STEPS),
    "one-vs-one": _own_rule(weight=22, epochs=STEPS),
    "hopfield": _own_rule(weight=25),
    "dense-memory": _own_rule(weight=25),
    "modern-hopfield": _own_rule(weight=25),
    "rbm": _own_rule(weight=20, epochs=2),
    "text-cnn": _of_reviews(10),
    "time-delay": _of_reviews(5),
    "bag-of-vectors": _of_reviews(5),
    "word2vec": Size(data=running_text, settings={"dim": 300, "epochs": 2}, views=(), weight=30),
    "ngram": Size(data=letters, views=("summary",), weight=20),
    "lda": _own_rule(weight=5),
    "svm": _own_rule(count=20_000, weight=58),
    "decision-tree": _own_rule(weight=25),
    "random-forest": _own_rule(weight=25),
    "gradient-boosting": _own_rule(weight=60, stages=1),
    "hist-boosting": _own_rule(weight=60, stages=2),
}


def check_complete() -> None:
    """Refuse a catalog with a model that is not tried."""
    missing = [name for name in MODELS if name not in SIZES]
    if missing:
        raise SystemExit(f"real_size_models.py has no size for {', '.join(missing)}")


def data_of(size: Size, batch: int, folder: Path) -> tuple[Data | str, dict[str, Any]]:
    """What a model learns from: as many rows as make the steps."""
    return size.data(STEPS * batch, folder)
