r"""T5: an encoder and a decoder that know positions by distances alone.

    h = encoder(E[source]),    y = decoder(E[told], h),    logits = y E^T / sqrt(D)
    score_h(t, s) = q_t . k_s + b_h(bucket(s - t))

The scores are not divided by sqrt(K): queries are drawn that much smaller instead. Norms only
divide by the root of the mean square, and no map has a bias. One table of distances serves all
blocks of the encoder, another all those of the decoder; attention over the source has none. The
second version (1.1) has gates in the feed-forward networks and a head of its own. One embedding
serves sources and targets that share a vocabulary.

Dropout is that of the other transformers here: embeddings, residual branches and attention.

Shapes: B batch, S source tokens, T target tokens, D width, H heads, K = D / H, V different target
tokens; inputs are (B, S + T), the source and then what the decoder is told.
Source: Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text
Transformer" (2019), section 2.1.
"""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, Literal

import torch
from annotated_types import Gt
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Size
from netwright.data.spec import DataSpec
from netwright.layers.attention.cross_attention import CrossAttention
from netwright.layers.attention.decoder_block import DecoderBlock
from netwright.layers.attention.feedforward import FeedForward, GatedFeedForward
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.attention.relative_positions import (
    BUCKETS,
    FARTHEST,
    RelativePositionBias,
    check_buckets,
)
from netwright.layers.attention.self_attention import check_heads
from netwright.layers.attention.transformer_block import TransformerBlock
from netwright.models.first_vectors import FirstVectorsConfig
from netwright.models.model import Functions
from netwright.models.published_sizes import T5S, T5Size
from netwright.models.transformers.two_stacks import StacksParts, TwoStacks
from netwright.models.variant import find_variant, make_variant

EXPANSION = 4  # of the width, in the feed-forward networks


@dataclass(frozen=True, kw_only=True)
class T5Config(FirstVectorsConfig):
    """Settings of a T5."""

    layers: Annotated[Size, Doc("blocks of the encoder, and of the decoder")] = 3
    heads: Annotated[Size, Doc("attention heads; must divide the width")] = 4
    width: Annotated[Size, Doc("features per token")] = 128
    hidden: Annotated[
        Size | None, Doc("hidden units of the feed-forward networks; null: four times the width")
    ] = None
    feed_forward: Annotated[
        Literal["relu", "gated-gelu"], Doc("feed-forward network: relu, or gated-gelu as in 1.1")
    ] = "relu"
    buckets: Annotated[Size, Doc("buckets of relative positions; even, at least 4")] = BUCKETS
    farthest: Annotated[Size, Doc("distance from which on all positions share a bucket")] = FARTHEST
    dropout: Annotated[Fraction, Doc("dropout on embeddings, residual branches and attention")] = (
        0.1
    )
    tied: Annotated[bool, Doc("tie the output head to the target embedding")] = True
    norm_eps: Annotated[float, Gt(0), Doc("added to the mean square in norms")] = 1e-6

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        check_heads(self.width, self.heads, self.heads)
        check_buckets(self.buckets, self.farthest)


def card_of(sentence: str) -> Card:
    """The card of a T5 of one size."""
    return Card(
        sentence=sentence,
        formula=r"h = \mathrm{encoder}(E[s]), \quad p(y_i \mid y_{<i}, s) = \mathrm{softmax}("
        r"\mathrm{decoder}(E[y_{<i}], h)_i E^\top / \sqrt{D}), \quad"
        r" a_{ts} = q_t \cdot k_s + b(s - t)",
        symbols={
            "s": "the source, (S)",
            "y": "the target, (T)",
            "E": "embedding, and head where they are tied, (V, D)",
            "a_{ts}": "the score of query t and key s in one head",
            "b": "a learned number for each head and each bucket of distances; attention over h "
            "has none",
        },
        source="Raffel et al. (2019), arXiv 1910.10683",
        misprint="The scores are often printed with 1 / sqrt(K): T5 has none.",
    )


class T5(TwoStacks):
    """Reads a source, then says its target; only distances of tokens are told."""

    settings: ClassVar[type[Config]] = T5Config
    says_spans: ClassVar[bool] = True
    code: ClassVar[Functions] = (*TwoStacks.code, RelativePositionBias.forward)
    card: ClassVar[Card] = card_of(
        "An encoder reads the source, a decoder says the target; both know positions by learned "
        "biases of distances."
    )

    def __init__(self, config: T5Config, spec: DataSpec) -> None:
        super().__init__(config, spec)
        far = {"buckets": config.buckets, "farthest": config.farthest}
        self.encoder_bias = RelativePositionBias(config.heads, is_causal=False, **far)
        self.decoder_bias = RelativePositionBias(config.heads, is_causal=True, **far)
        self.drop = nn.Dropout(config.dropout)
        self._draw_weights(config)

    @classmethod
    def _made_of(cls, config: T5Config, spec: DataSpec) -> StacksParts:
        return StacksParts(
            width=config.width,
            layers=config.layers,
            encoder_block=partial(_encoder_block, config),
            decoder_block=partial(_decoder_block, config),
            norm=_norm(config),
            is_tied=config.tied,
            is_shared=spec.shared_vocabulary,
        )

    def _embed(self, tokens: Tensor, embedding: nn.Embedding, start: int = 0) -> Tensor:
        embedded: Tensor = self.drop(embedding(tokens))
        return embedded

    def _vectors(self, x: Tensor) -> Tensor:
        vectors: Tensor = self.decoder_norm(x)
        if self.head is None:  # vectors of size 1 would make logits of size sqrt(D)
            vectors = vectors * vectors.shape[-1] ** -0.5
        return vectors

    def _source_bias(self, count: int) -> Tensor:
        bias: Tensor = self.encoder_bias(count)
        return bias

    def _target_bias(self, queries: int, keys: int) -> Tensor:
        bias: Tensor = self.decoder_bias(queries, keys)
        return bias

    def _draw_weights(self, config: T5Config) -> None:
        """Embeddings of size 1, maps that keep it, and queries small enough for scores of size 1.

        A head of its own is drawn as small as the tied one is scaled.
        """
        for name, weight in self.named_parameters():
            if weight.ndim > 1:
                is_vector = name.endswith("embedding.weight")
                nn.init.normal_(weight, std=1.0 if is_vector else weight.shape[1] ** -0.5)
        shrink = (config.width // config.heads) ** -0.5
        with torch.no_grad():
            for table in (self.encoder_bias.table, self.decoder_bias.table):
                nn.init.normal_(table.weight, std=config.width**-0.5)
            for attention in self.modules():
                if isinstance(attention, MultiHeadAttention):
                    attention.c_attn.weight[: config.width] *= shrink  # the queries
                elif isinstance(attention, CrossAttention):
                    attention.q_attn.weight *= shrink


def _norm(config: T5Config) -> partial[nn.RMSNorm]:
    return partial(nn.RMSNorm, eps=config.norm_eps)


def _attention(config: T5Config, *, causal: bool) -> MultiHeadAttention:
    return MultiHeadAttention(
        config.width, config.heads, causal=causal, dropout=config.dropout, bias=False, scale=1.0
    )


def _feed_forward(config: T5Config) -> FeedForward:
    hidden = config.hidden or EXPANSION * config.width
    if config.feed_forward == "relu":
        return FeedForward(config.width, hidden, nn.ReLU(), bias=False)
    # The form of GELU that the published weights were trained with.
    return GatedFeedForward(config.width, hidden, nn.GELU(approximate="tanh"), bias=False)


def _encoder_block(config: T5Config) -> TransformerBlock:
    return TransformerBlock(
        _attention(config, causal=False),
        _feed_forward(config),
        dropout=config.dropout,
        norm=_norm(config),
    )


def _decoder_block(config: T5Config) -> DecoderBlock:
    return DecoderBlock(
        _attention(config, causal=True),
        CrossAttention(config.width, config.heads, scale=1.0, dropout=config.dropout, bias=False),
        _feed_forward(config),
        dropout=config.dropout,
        norm=_norm(config),
    )


def _make_size(size: T5Size) -> type[T5]:
    return make_variant(
        T5,
        size.kind,
        card=card_of(f"{size.title}: twice {size.layers} blocks of {size.width} features."),
        defaults={"layers": size.layers, "heads": size.width // 64, "width": size.width},
    )


__getattr__ = find_variant(__name__, (_make_size(size) for size in T5S.values()))
