r"""DETR: a transformer that says a set, one object or nothing for each of its queries.

    m = encoder(conv(x) + P),    y = decoder(queries, m),    class, box = W y, sigmoid(MLP(y))

Two convolutions halve the image twice; its places are the sequence that the encoder reads. The
decoder has no order and no mask: learned queries look at each other, so that no two say the same
object, and at the image. No box is proposed beforehand, and none is thrown away afterwards.

Shapes: B batch, N = I/4 J/4 places of the maps, Q queries, D width, C classes; images
(channels, I, J), outputs (B, Q, C + 5).
Source: Carion et al., "End-to-End Object Detection with Transformers" (2020), section 3.2.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self, cast

import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Size
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.attention.cross_attention import CrossAttention
from netwright.layers.attention.decoder_block import DecoderBlock
from netwright.layers.attention.feedforward import FeedForward
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.attention.self_attention import check_heads
from netwright.layers.attention.transformer_block import TransformerBlock
from netwright.layers.patches import count_patches
from netwright.models.model import Functions, Model
from netwright.models.vision.image_size import check_sides

REDUCED = 4  # pixels along a side of a place of the maps
EXPANSION = 4  # of the width, in the feed-forward networks
BOX = 4  # numbers of a box


@dataclass(frozen=True, kw_only=True)
class DETRConfig(Config):
    """Settings of DETR."""

    queries: Annotated[Size, Doc("objects that can be said of an image, at most")] = 8
    layers: Annotated[Size, Doc("blocks of the encoder, and of the decoder")] = 2
    heads: Annotated[Size, Doc("attention heads; must divide the width")] = 4
    width: Annotated[Size, Doc("features per place and query")] = 64
    dropout: Annotated[Fraction, Doc("dropout on residual branches and attention")] = 0.0

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        check_heads(self.width, self.heads, self.heads)


class DETR(Model):
    """Convolutions, encoder, and a decoder of queries; logits of a class and a box for each."""

    settings: ClassVar[type[Config]] = DETRConfig
    code: ClassVar[Functions] = (
        TransformerBlock.forward,
        DecoderBlock.forward,
        DecoderBlock._add,
        CrossAttention.attention_weights,
    )
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"boxes"})
    card: ClassVar[Card] = Card(
        sentence="A transformer that detects objects as a set: each query says one object and its "
        "box, or that there is none.",
        formula=r"m = \mathrm{encoder}(\mathrm{conv}(x) + P), \quad y = \mathrm{decoder}(q, m),"
        r" \quad z_i = W\, \mathrm{LN}(y_i), \quad b_i = \sigma(\mathrm{MLP}(\mathrm{LN}(y_i)))",
        symbols={
            "x": "an image",
            r"\mathrm{conv}": "two convolutions of 3 by 3 with ReLU, each halves the sides",
            "P": "positions of the N places, learned, (N, D)",
            "q": "queries, learned, (Q, D)",
            r"\mathrm{decoder}": "queries read from each other without an order, and from m",
            "z_i": "logits of the C classes and of no object, of query i",
            "b_i": "its box: centre, width and height, as shares of the image",
        },
        source="Carion et al. (2020), arXiv 2005.12872",
    )

    def __init__(self, config: DETRConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        channels, rows, columns = spec.input_shape
        self.sides, width = (rows, columns), config.width
        self.stem = nn.Sequential(
            nn.Conv2d(channels, width, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, stride=2, padding=1),
            nn.ReLU(),
        )
        places = count_patches(rows, columns, REDUCED)
        self.positions = nn.Parameter(torch.randn(1, places, width))
        self.queries = nn.Parameter(torch.randn(1, config.queries, width))
        self.encoder = nn.ModuleList(_encoder_block(config) for _ in range(config.layers))
        self.encoder_norm = nn.LayerNorm(width)
        self.decoder = nn.ModuleList(_decoder_block(config) for _ in range(config.layers))
        self.decoder_norm = nn.LayerNorm(width)
        self.classes = nn.Linear(width, spec.num_outputs + 1)
        self.boxes = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, BOX))

    @classmethod
    def build(cls, config: DETRConfig, spec: DataSpec) -> Self:
        """The model for images of this size."""
        return cls(config, spec)

    def forward(self, images: Tensor) -> Tensor:
        """(B, channels, I, J) -> logits of class, of nothing and of the box (B, Q, C + 5)."""
        check_sides("this model has positions for images", images, self.sides)
        x = self.stem(images).flatten(2).mT + self.positions
        for block in cast(Iterable[TransformerBlock], self.encoder):
            x = block(x)
        memory = self.encoder_norm(x)
        y = self.queries.repeat(images.shape[0], 1, 1)
        for decoding in cast(Iterable[DecoderBlock], self.decoder):
            y = decoding(y, decoding.cross.project(memory))
        said = self.decoder_norm(y)
        return torch.cat((self.classes(said), self.boxes(said)), dim=2)


def _attention(config: DETRConfig) -> MultiHeadAttention:
    return MultiHeadAttention(config.width, config.heads, dropout=config.dropout)


def _feed_forward(config: DETRConfig) -> FeedForward:
    return FeedForward(config.width, EXPANSION * config.width, nn.ReLU())


def _encoder_block(config: DETRConfig) -> TransformerBlock:
    return TransformerBlock(_attention(config), _feed_forward(config), dropout=config.dropout)


def _decoder_block(config: DETRConfig) -> DecoderBlock:
    cross = CrossAttention(config.width, config.heads, dropout=config.dropout)
    return DecoderBlock(_attention(config), cross, _feed_forward(config), dropout=config.dropout)
