"""Networks that were published in several sizes: a row for each, by the name of its model.

A row says what tells the size from the others of its family, and how its class is named; that of
its settings has the same name and Config. The family makes both (`models/variant.py`), the catalog
lists them.
"""

from typing import Literal, NamedTuple


class VGGSize(NamedTuple):
    """A column of table 1 of Simonyan and Zisserman (2015)."""

    kind: str
    depths: tuple[int, ...]  # convolutions of each stage
    sentence: str


class ResNetSize(NamedTuple):
    """A column of table 1 of He et al. (2015), or a row of its section 4.2."""

    kind: str
    blocks: tuple[int, ...]  # of each stage
    block: Literal["basic", "bottleneck"] = "basic"

    @property
    def layers(self) -> int:
        """Those with weights, without shortcuts: of the blocks, the stem and the last map."""
        return (2 if self.block == "basic" else 3) * sum(self.blocks) + 2


class GPTSize(NamedTuple):
    """A row of table 2 of Radford et al. (2019)."""

    kind: str
    title: str
    layers: int
    heads: int
    width: int


class TransformerSize(NamedTuple):
    """A row of table 3 of Vaswani et al. (2017): base and big."""

    kind: str
    title: str
    heads: int
    width: int
    dropout: float


class T5Size(NamedTuple):
    """A row of section 3.7 of Raffel et al. (2019)."""

    kind: str
    title: str
    layers: int
    width: int


class ViTSize(NamedTuple):
    """A row of table 1 of Dosovitskiy et al. (2020), or of Touvron et al. (2020)."""

    kind: str
    title: str
    heads: int
    width: int


class BERTSize(NamedTuple):
    """A row of table 1 of Turc et al. (2019), or the base of Devlin et al. (2018)."""

    kind: str
    title: str
    layers: int
    width: int


PublishedSize = VGGSize | ResNetSize | GPTSize | TransformerSize | T5Size | ViTSize | BERTSize

VGGS = {
    "vgg11": VGGSize(
        "VGG11",
        (1, 1, 2, 2, 2),
        "Eight 3 x 3 convolutions in five stages, then three dense layers: the smallest of VGG.",
    ),
    "vgg13": VGGSize(
        "VGG13",
        (2, 2, 2, 2, 2),
        "Ten 3 x 3 convolutions in five stages of two, then three dense layers.",
    ),
    "vgg16": VGGSize(
        "VGG16",
        (2, 2, 3, 3, 3),
        "Thirteen 3 x 3 convolutions in five stages, then three dense layers: three of them in a"
        " row see as far as one of 7 x 7, with 27 weights instead of 49 and two ReLUs more.",
    ),
    "vgg19": VGGSize(
        "VGG19",
        (2, 2, 4, 4, 4),
        "Sixteen 3 x 3 convolutions in five stages, then three dense layers: the deepest of VGG.",
    ),
}
RESNETS = {
    "resnet18": ResNetSize("ResNet18", (2, 2, 2, 2)),
    "resnet34": ResNetSize("ResNet34", (3, 4, 6, 3)),
    "resnet50": ResNetSize("ResNet50", (3, 4, 6, 3), "bottleneck"),
    "resnet101": ResNetSize("ResNet101", (3, 4, 23, 3), "bottleneck"),
    "resnet152": ResNetSize("ResNet152", (3, 8, 36, 3), "bottleneck"),
}
CIFAR_RESNETS = {
    "resnet20": ResNetSize("ResNet20", (3, 3, 3)),
    "resnet32": ResNetSize("ResNet32", (5, 5, 5)),
    "resnet44": ResNetSize("ResNet44", (7, 7, 7)),
    "resnet56": ResNetSize("ResNet56", (9, 9, 9)),
    "resnet110": ResNetSize("ResNet110", (18, 18, 18)),
}
GPTS = {
    "gpt2": GPTSize("GPT2", "GPT-2, the smallest of four", 12, 12, 768),
    "gpt2-medium": GPTSize("GPT2Medium", "GPT-2 medium", 24, 16, 1024),
    "gpt2-large": GPTSize("GPT2Large", "GPT-2 large", 36, 20, 1280),
    "gpt2-xl": GPTSize("GPT2XL", "GPT-2 XL", 48, 25, 1600),
}
TRANSFORMERS = {
    "transformer-base": TransformerSize("TransformerBase", "base", 8, 512, 0.1),
    "transformer-big": TransformerSize("TransformerBig", "big", 16, 1024, 0.3),
}
T5S = {
    "t5-small": T5Size("T5Small", "The small T5", 6, 512),
    "t5-base": T5Size("T5Base", "The base T5", 12, 768),
}
VITS = {
    "vit-ti": ViTSize("ViTTi", "The tiny vision transformer", 3, 192),
    "vit-s": ViTSize("ViTS", "The small vision transformer", 6, 384),
    "vit-b": ViTSize("ViTB", "The base vision transformer", 12, 768),
}
BERTS = {
    "bert-tiny": BERTSize("BERTTiny", "The tiny BERT", 2, 128),
    "bert-mini": BERTSize("BERTMini", "The mini BERT", 4, 256),
    "bert-small": BERTSize("BERTSmall", "The small BERT", 4, 512),
    "bert-medium": BERTSize("BERTMedium", "The medium BERT", 8, 512),
    "bert-base": BERTSize("BERTBase", "The base BERT", 12, 768),
}
EVERY_SIZE: dict[str, PublishedSize] = {
    **VGGS,
    **RESNETS,
    **CIFAR_RESNETS,
    **GPTS,
    **TRANSFORMERS,
    **T5S,
    **VITS,
    **BERTS,
}
