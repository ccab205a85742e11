r"""The transformer of 2017: a stack of blocks reads a source, another says the target.

    h = encoder(sqrt(D) E[source] + P),    y = decoder(sqrt(D) E[told] + P, h),    logits = y E^T

As in torch.nn.Transformer both stacks end in a norm. Where both languages share a vocabulary one
matrix E embeds both and reads out. How source and target are gone through is in `two_stacks`. Of a
source that is an image, convolutions may read the pixels before the encoder does.

Shapes: B batch, S source tokens, T target tokens, D width, H heads, V different target tokens;
inputs are (B, S + T), the source and then what the decoder is told.
Source: Vaswani et al., "Attention Is All You Need" (2017), sections 3 and 3.4.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, Literal, Self

from annotated_types import Interval
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Size
from netwright.core.errors import ConfigError, ShapeError
from netwright.data.spec import DataSpec
from netwright.layers.attention.cross_attention import CrossAttention
from netwright.layers.attention.decoder_block import DecoderBlock
from netwright.layers.attention.feedforward import FeedForward
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.attention.position_encoding import SinusoidalPositions
from netwright.layers.attention.self_attention import check_heads
from netwright.layers.attention.transformer_block import TransformerBlock
from netwright.layers.convolution.pixel_convolutions import PixelConvolutions
from netwright.models.first_vectors import FirstVectorsConfig
from netwright.models.published_sizes import TRANSFORMERS, TransformerSize
from netwright.models.transformers.two_stacks import StacksParts, TwoStacks
from netwright.models.variant import find_variant, make_variant

EXPANSION = 4  # of the width, in the feed-forward networks


@dataclass(frozen=True, kw_only=True)
class TransformerConfig(FirstVectorsConfig):
    """Settings of the transformer."""

    layers: Annotated[Size, Doc("blocks of the encoder, and of the decoder")] = 3
    heads: Annotated[Size, Doc("attention heads; must divide the width")] = 4
    width: Annotated[Size, Doc("features per token, even")] = 128
    dropout: Annotated[Fraction, Doc("dropout on embeddings, residual branches and attention")] = (
        0.1
    )
    norm: Annotated[
        Literal["pre", "post"],
        Doc("layer norm before each part, or after each sum as in 2017, which needs warm-up"),
    ] = "pre"
    tied: Annotated[
        bool,
        Doc(
            "tie the output head to the target embedding, and that to the source embedding where "
            "the vocabulary is shared"
        ),
    ] = True

    convolutions: Annotated[
        int,
        Interval(ge=0, le=64),
        Doc("sources that are images, as of captions: convolutions over their pixels"),
    ] = 0

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        check_heads(self.width, self.heads, self.heads)
        if self.width % 2:
            raise ConfigError(f"width must be even for sinusoidal positions, got {self.width}")


def card_of(sentence: str) -> Card:
    """The card of a transformer of one size."""
    return Card(
        sentence=sentence,
        formula=r"h = \mathrm{encoder}(\sqrt{D} E[s] + P), \quad"
        r" p(y_i \mid y_{<i}, s) = \mathrm{softmax}("
        r"\mathrm{decoder}(\sqrt{D} E[y_{<i}] + P, h)_i E^\top)",
        symbols={
            "s": "the source, (S)",
            "y": "the target, (T)",
            "E": "embedding, and head where they are tied, (V, D)",
            "P": "sines and cosines of the position, (T, D)",
            r"\mathrm{encoder}": "blocks of attention and feed-forward network",
            r"\mathrm{decoder}": "the same with causal attention, and with attention over h",
        },
        source="Vaswani et al. (2017), arXiv 1706.03762",
        misprint="It is sometimes called the first network with attention; it is the first without "
        "recurrence or convolution, attention over a source is of 2014.",
    )


class Transformer(TwoStacks):
    """Reads a source, then says its target; sines and cosines tell the positions."""

    settings: ClassVar[type[Config]] = TransformerConfig
    card: ClassVar[Card] = card_of(
        "A stack of transformer blocks reads the source, another says the target and looks at the "
        "source in every block."
    )

    def __init__(self, config: TransformerConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        longest = max(spec.source_length, self.target_length)
        self.positions = SinusoidalPositions(longest, config.width)
        self.drop = nn.Dropout(config.dropout)
        self.pixels = (
            PixelConvolutions(spec.source_side, config.width, config.convolutions)
            if config.convolutions
            else None
        )
        self._draw_weights()

    @classmethod
    def build(cls, config: TransformerConfig, spec: DataSpec) -> Self:
        """See `TwoStacks.build`; convolutions are refused where sources are texts."""
        if config.convolutions and not spec.source_side:
            raise ConfigError(
                f"convolutions must be 0 where sources are texts, got {config.convolutions}"
            )
        return super().build(config, spec)

    @classmethod
    def _made_of(cls, config: TransformerConfig, spec: DataSpec) -> StacksParts:
        return StacksParts(
            width=config.width,
            layers=config.layers,
            encoder_block=partial(_encoder_block, config),
            decoder_block=partial(_decoder_block, config),
            norm=nn.LayerNorm,
            is_tied=config.tied,
            is_shared=config.tied and spec.shared_vocabulary,
        )

    def _embed(self, tokens: Tensor, embedding: nn.Embedding, start: int = 0) -> Tensor:
        count = tokens.shape[1]
        if start + count > len(self.positions.table):
            raise ShapeError(
                f"texts of at most {len(self.positions.table)} tokens have positions, "
                f"got {start + count}"
            )
        return self._placed(math.sqrt(embedding.embedding_dim) * embedding(tokens), start)

    def _embed_source(self, source: Tensor) -> Tensor:
        if self.pixels is None:
            return super()._embed_source(source)
        embedding = self.source_embedding or self.target_embedding
        return self._placed(self.pixels(math.sqrt(embedding.embedding_dim) * embedding(source)))

    def _placed(self, x: Tensor, start: int = 0) -> Tensor:
        """Vectors (B, T, D) with the positions from `start` on."""
        placed: Tensor = self.drop(x + self.positions(start, x.shape[1]))
        return placed

    def _vectors(self, x: Tensor) -> Tensor:
        vectors: Tensor = self.decoder_norm(x)
        return vectors

    def _draw_weights(self) -> None:
        """Xavier's matrices; embeddings of size 1 / sqrt(D), so that scaled they have size 1."""
        for weight in self.parameters():
            if weight.ndim > 1:
                nn.init.xavier_uniform_(weight)
        for module in self.modules():
            if isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)


def _attention(config: TransformerConfig, *, causal: bool) -> MultiHeadAttention:
    return MultiHeadAttention(config.width, config.heads, causal=causal, dropout=config.dropout)


def _feed_forward(config: TransformerConfig) -> FeedForward:
    return FeedForward(config.width, EXPANSION * config.width, nn.ReLU())


def _encoder_block(config: TransformerConfig) -> TransformerBlock:
    return TransformerBlock(
        _attention(config, causal=False),
        _feed_forward(config),
        pre_norm=config.norm == "pre",
        dropout=config.dropout,
    )


def _decoder_block(config: TransformerConfig) -> DecoderBlock:
    return DecoderBlock(
        _attention(config, causal=True),
        CrossAttention(config.width, config.heads, dropout=config.dropout),
        _feed_forward(config),
        pre_norm=config.norm == "pre",
        dropout=config.dropout,
    )


def _make_size(size: TransformerSize) -> type[Transformer]:
    return make_variant(
        Transformer,
        size.kind,
        card=card_of(
            f"The transformer of 2017, {size.title}: twice 6 blocks of {size.width} features."
        ),
        defaults={
            "layers": 6,
            "heads": size.heads,
            "width": size.width,
            "dropout": size.dropout,
            "norm": "post",
        },
    )


__getattr__ = find_variant(__name__, (_make_size(size) for size in TRANSFORMERS.values()))
