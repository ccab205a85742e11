"""Every model at its full size, without its numbers: as many weights as were published.

Built on torch's meta device, which keeps shapes only: GPT-2 XL takes no memory there. Counts
without a publication follow from the layers, as the formulas beside them say.
"""

import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.core.config import parse
from netwright.data.spec import DataSpec, TargetKind
from netwright.models.catalog import MODELS
from netwright.models.published_sizes import CIFAR_RESNETS, RESNETS

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "real_size_models.py"
VOCABULARY, WIDTH = 50_257, 1024
SIZE: dict[str, Any] = {"hidden": WIDTH, "embedding": WIDTH}
EMBEDDED, READ_OUT = VOCABULARY * WIDTH, VOCABULARY * (WIDTH + 1)


def images(side: int, classes: int, channels: int = 3) -> DataSpec:
    names = tuple(map(str, range(classes)))
    return DataSpec(
        inputs="image",
        input_shape=(channels, side, side),
        target="class",
        num_outputs=classes,
        class_names=names,
    )


def features(target: TargetKind = "class", outputs: int = 10, inputs: int = 784) -> DataSpec:
    return DataSpec(
        inputs="features",
        input_shape=(inputs,),
        target=target,
        num_outputs=outputs,
        class_names=tuple(map(str, range(outputs))) if target == "class" else (),
        target_names=("y",),
        feature_names=tuple(f"x{place}" for place in range(inputs)),
    )


PHOTOS, SMALL, GREY = images(224, 1000), images(32, 10), images(28, 10, channels=1)
REALS = features("real", 1)
TEXT = DataSpec(
    inputs="tokens",
    input_shape=(1024,),
    target="tokens",
    num_outputs=VOCABULARY,
    vocab_size=VOCABULARY,
)
SENTENCES = DataSpec(
    inputs="tokens",
    input_shape=(53,),
    target="class",
    num_outputs=2,
    class_names=("negative", "positive"),
    vocab_size=18_766,
    padding=0,
)
BOXES = replace(images(32, 3), target="boxes")
SLICES = DataSpec(
    inputs="image",
    input_shape=(1, 512, 512),
    target="mask",
    num_outputs=2,
    class_names=("membrane", "cell"),
)
PAIRS = DataSpec(
    inputs="pairs",
    input_shape=(100,),
    target="tokens",
    num_outputs=30_000,
    vocab_size=30_000,
    padding=0,
    source_length=50,
)
MASKED = DataSpec(
    inputs="masked", input_shape=(127,), target="tokens", num_outputs=30_522, vocab_size=30_522
)
ONE_VOCABULARY = replace(PAIRS, num_outputs=37_000, vocab_size=37_000, shared_vocabulary=True)
Case = tuple[DataSpec, dict[str, Any], int]


def gates(count: int, biases: int = 2) -> int:
    """Of two layers: matrices of inputs and state, and their biases, a gate."""
    return 2 * count * (2 * WIDTH**2 + biases * WIDTH)


def blocks(matrices: int, vectors: int) -> int:
    """Of two layers, so many matrices of the width and vectors each."""
    return 2 * (matrices * WIDTH**2 + vectors * WIDTH)


def berts(layers: int, width: int) -> int:
    """Embeddings and their norm, blocks, pooler, and the head of pre-training."""
    embeddings = (30_522 + 512 + 2 + 2) * width
    blocks = layers * (12 * width**2 + 13 * width)
    return embeddings + blocks + 2 * (width**2 + width) + 2 * width + 30_522 + 2 * width + 2


def stacks(layers: int, width: int) -> int:
    """Of an encoder and a decoder: 12 and 16 matrices a block with their vectors, and a norm."""
    blocks = 12 * width**2 + 13 * width + 16 * width**2 + 19 * width
    return layers * blocks + 2 * 2 * width


def t5s(layers: int, width: int) -> int:
    """Of an encoder and a decoder: 12 and 16 matrices a block, norms, and two tables of biases."""
    blocks = (12 + 16) * width**2 + (2 + 3) * width
    return layers * blocks + 2 * width + 2 * 32 * (width // 64)


CASES: dict[str, Case] = {
    # Radford et al. (2019), as counted in the published weights
    "gpt2": (TEXT, {}, 124_439_808),
    "gpt2-medium": (TEXT, {}, 354_823_168),
    "gpt2-large": (TEXT, {}, 774_030_080),
    "gpt2-xl": (TEXT, {}, 1_557_611_200),
    "gpt": (TEXT, {}, (VOCABULARY + 1024) * 128 + 4 * (12 * 128**2 + 13 * 128) + 2 * 128),
    # Vaswani et al. (2017), table 3: 65 and 213 million, with 37,000 tokens of both languages
    "transformer": (ONE_VOCABULARY, {}, stacks(3, 128) + 37_000 * 128),
    "transformer-base": (ONE_VOCABULARY, {}, 44_140_544 + 37_000 * 512),
    "transformer-big": (ONE_VOCABULARY, {}, stacks(6, 1024) + 37_000 * 1024),
    # Raffel et al. (2019), section 3.7: 60 and 220 million, with 32,128 tokens
    "t5": (
        replace(ONE_VOCABULARY, num_outputs=32_128, vocab_size=32_128),
        {},
        t5s(3, 128) + 2 * 32 * 2 + 32_128 * 128,  # its four heads have 32 features
    ),
    "t5-small": (replace(ONE_VOCABULARY, num_outputs=32_128, vocab_size=32_128), {}, 60_506_624),
    "t5-base": (replace(ONE_VOCABULARY, num_outputs=32_128, vocab_size=32_128), {}, 222_903_552),
    # Devlin et al. (2018) and Turc et al. (2019), with pooler and both heads of pre-training
    **{
        name: (MASKED, {}, berts(layers, width))
        for name, layers, width in (
            ("bert", 4, 256),
            ("bert-tiny", 2, 128),
            ("bert-mini", 4, 256),
            ("bert-small", 4, 512),
            ("bert-medium", 8, 512),
        )
    },
    "bert-base": (MASKED, {}, 110_106_428),
    # torchvision's counts
    "alexnet": (PHOTOS, {}, 61_100_840),
    "vgg11": (PHOTOS, {}, 132_863_336),
    "vgg13": (PHOTOS, {}, 133_047_848),
    "vgg16": (PHOTOS, {}, 138_357_544),
    "vgg19": (PHOTOS, {}, 143_667_240),
    "resnet18": (PHOTOS, {}, 11_689_512),
    "resnet34": (PHOTOS, {}, 21_797_672),
    "resnet50": (PHOTOS, {}, 25_557_032),
    "resnet101": (PHOTOS, {}, 44_549_160),
    "resnet152": (PHOTOS, {}, 60_192_808),
    # He et al. (2016), table 6: 0.27, 0.46, 0.66, 0.85 and 1.7 million
    "resnet20": (SMALL, {}, 269_722),
    "resnet32": (SMALL, {}, 464_154),
    "resnet44": (SMALL, {}, 658_586),
    "resnet56": (SMALL, {}, 853_018),
    "resnet110": (SMALL, {}, 1_727_962),
    "resnet9": (SMALL, {}, 6_573_120),  # Page (2018)
    # Dosovitskiy et al. (2020), table 1, and Touvron et al. (2020), table 1: 86, 22 and 5 million
    "vit-b": (PHOTOS, {}, 86_567_656),
    "vit-s": (PHOTOS, {}, 22_050_664),
    "vit-ti": (PHOTOS, {}, 5_717_416),
    "vit": (SMALL, {}, 49 * 128 + 66 * 128 + 6 * (12 * 128**2 + 13 * 128) + 2 * 128 + 1_290),
    "mlp-mixer": (
        PHOTOS,  # Tolstikhin et al. (2021), table 1: B/16 has 59 million
        {"patch": 16, "layers": 12, "width": 768, "token_hidden": 384, "channel_hidden": 3072},
        59_880_472,
    ),
    # Carion et al. (2020): its decoder has as many weights as the paper's, its backbone fewer
    "detr": (
        BOXES,
        {"layers": 6, "heads": 8, "width": 256, "queries": 100},
        (28 + 9 * 256 + 1) * 256  # two convolutions
        + (8 * 8 + 100) * 256  # places and queries
        + stacks(6, 256)
        + 257 * 4
        + 257 * 256
        + 257 * 4,
    ),
    "lenet5": (GREY, {}, 61_706),
    "cnn": (GREY, {}, 320 + 18_496 + (64 * 49 + 1) * 128 + 1_290),
    "unet": (SLICES, {"width": 64, "batch_norm": False}, 31_030_658),  # one channel, two classes
    "lstm": (TEXT, {**SIZE, "layers": 2}, EMBEDDED + gates(4) + READ_OUT),
    "gru": (TEXT, {**SIZE, "layers": 2}, EMBEDDED + gates(3) + READ_OUT),
    "elman": (TEXT, {**SIZE, "layers": 2}, EMBEDDED + gates(1) + READ_OUT),
    # Its state is what it last said: V numbers go back into the hidden layer.
    "jordan": (TEXT, SIZE, EMBEDDED + WIDTH**2 + EMBEDDED + WIDTH + READ_OUT),
    "mingru": (TEXT, {**SIZE, "layers": 2}, EMBEDDED + blocks(4, 7) + READ_OUT),
    "minlstm": (TEXT, {**SIZE, "layers": 2}, EMBEDDED + blocks(5, 8) + READ_OUT),
    "lru": (TEXT, {**SIZE, "layers": 2}, EMBEDDED + blocks(6, 9) + READ_OUT),
    "encoder-decoder": (
        PAIRS,  # Bahdanau et al. (2015): 30,000 words, 620 numbers of each, 1000 units
        {"hidden": 1000, "embedding": 620, "attention": "bahdanau"},
        30_000 * (2 * 620 + 1001)  # both embeddings, and the head
        + 2 * 3 * 500 * (620 + 500 + 2)  # the encoder, both ways
        + 3 * 1000 * (620 + 1000 + 1000 + 2)  # the decoder, told what it looks at
        + 2 * 1000**2
        + 1000  # the score
        + 1000 * 2001,  # what was looked at and the state, put together
    ),
    "mlp-plr": (
        features(),
        {},
        784 * (16 + 8 * 33) + (784 * 8 + 1) * 256 + 257 * 128 + 129 * 10,
    ),
    "table-resnet": (
        features(),
        {},
        785 * 192 + 2 * (2 * 192 + 193 * 384 + 385 * 192) + 2 * 192 + 193 * 10,
    ),
    "ft-transformer": (
        features(),
        {},
        (2 * 784 + 1) * 192
        + 3 * (4 * 193 * 192 + 4 * 192 + 193 * 256 + 257 * 192)
        + 2 * 192
        + 193 * 10,
    ),
    "mlp": (features(), {}, 785 * 256 + 257 * 128 + 129 * 10),
    "linear-regression": (REALS, {}, 785),
    "least-squares": (REALS, {}, 785),
    "ridge": (REALS, {}, 785),
    "lasso": (REALS, {}, 785),
    "gaussian-regression": (REALS, {}, 785),
    "polynomial-regression": (features("real", 1, inputs=9), {}, 220),  # C(12, 3)
    "logistic": (features(outputs=2), {}, 785),
    "softmax": (features(), {}, 7_850),
    "logistic-newton": (features(outputs=2), {}, 785),
    "softmax-newton": (features(inputs=484), {}, 4_850),
    "perceptron": (features(), {}, 7_850),
    "averaged-perceptron": (features(), {}, 7_850),
    "delta-rule": (features(), {}, 7_850),
    "one-vs-rest": (features(), {}, 7_850),
    "one-vs-one": (features(), {}, 45 * 785),
    "rosenblatt": (features(), {}, 501 * 10),
    "rbm": (features(), {}, 129 * 10),  # its own weights are found by its rule: buffers
    **{
        # What they learn is found by their rule: buffers, some of them as long as the data.
        name: (features(), {}, 0)
        for name in (
            "kernel-regression",
            "hopfield",
            "dense-memory",
            "modern-hopfield",
            "lda",
            "svm",
            "decision-tree",
            "random-forest",
            "gradient-boosting",
            "hist-boosting",
            "boosting",
        )
    },
    "mcculloch-pitts": (features(inputs=12), {}, 0),
    # Kim (2014) on SST-2: 18,765 words and a padding, 3 widths of 100 maps, two classes.
    "text-cnn": (SENTENCES, {}, 18_766 * 300 + 300 * (3 + 4 + 5) * 100 + 300 + 301 * 2),
    "time-delay": (SENTENCES, {}, 18_766 * 64 + 2 * (64 * 3 * 64 + 64) + 65 * 2),
    "bag-of-vectors": (SENTENCES, {}, 18_766 * 100 + 101 * 2),
    "ngram": (TEXT, {}, 0),
    # As published with the text of Google News: 3 million words, of 300 numbers each, twice.
    "word2vec": (
        replace(TEXT, target="none", num_outputs=0, vocab_size=3_000_000),
        {"dim": 300},
        2 * 900_000_000,
    ),
    "restarts": (features(), {}, 5 * 235_146),
    "bagging": (features(), {}, 10 * 235_146),
    "stacking": (features(), {}, 235_146),
}


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_model_at_full_size_has_the_published_number_of_weights(name: str) -> None:
    spec, settings, wanted = CASES[name]
    kind = MODELS.load(name)
    with torch.device("meta"):
        model = kind.build(parse(kind.settings, settings, "model"), spec)
    assert sum(weight.numel() for weight in model.parameters()) == wanted
    assert {tensor.device.type for tensor in model.state_dict().values()} <= {"meta"}


def test_a_residual_network_is_named_by_the_layers_of_its_row() -> None:
    for name, size in (RESNETS | CIFAR_RESNETS).items():
        assert (name, size.kind) == (f"resnet{size.layers}", f"ResNet{size.layers}")


def test_every_model_of_the_catalog_has_a_full_size() -> None:
    assert set(CASES) == set(MODELS)


def test_the_benchmark_of_real_sizes_tries_every_model() -> None:
    spec = importlib.util.spec_from_file_location("real_size_models", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a dataclass looks for its module there
    try:
        spec.loader.exec_module(module)
        assert set(module.SIZES) == set(MODELS)
    finally:
        del sys.modules[spec.name]
