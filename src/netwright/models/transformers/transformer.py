r"""The transformer of 2017: a stack of blocks reads a source, another says the target.

    h = encoder(sqrt(D) E[source] + P),    y = decoder(sqrt(D) E[told] + P, h),    logits = y E^T

The encoder's positions read from each other, the decoder's from those before them and from all of
the source. Training says all places of the target at once; to translate, keys and values of what
was said are kept, and those of the source are made once. As in torch.nn.Transformer both stacks end
in a norm. Where both languages share a vocabulary one matrix E embeds both and reads out.

Shapes: B batch, S source tokens, T target tokens, D width, H heads, V different target tokens;
inputs are (B, S + T), the source and then what the decoder is told.
Source: Vaswani et al., "Attention Is All You Need" (2017), sections 3 and 3.4.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple, Self, cast

import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Size
from netwright.core.errors import ConfigError, ShapeError
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.decoding.source_decoder import SourceDecoder
from netwright.layers.attention.cross_attention import CrossAttention, Projected
from netwright.layers.attention.decoder_block import DecoderBlock
from netwright.layers.attention.feedforward import FeedForward
from netwright.layers.attention.key_value_cache import KeyValueCache
from netwright.layers.attention.multihead_attention import MultiHeadAttention, check_heads
from netwright.layers.attention.position_encoding import SinusoidalPositions
from netwright.layers.attention.transformer_block import TransformerBlock
from netwright.layers.padded_linear import padded_linear
from netwright.models.model import Functions, Model
from netwright.models.published_sizes import TRANSFORMERS, TransformerSize
from netwright.models.variant import find_variant, make_variant

EXPANSION = 4  # of the width, in the feed-forward networks


@dataclass(frozen=True, kw_only=True)
class TransformerConfig(Config):
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

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        check_heads(self.width, self.heads, self.heads)
        if self.width % 2:
            raise ConfigError(f"width must be even for sinusoidal positions, got {self.width}")


class TransformerState(NamedTuple):
    """All that the next token depends on, an entry a block of the decoder.

    Args:
        caches: keys and values of what was said.
        source: keys and values of what was read.
    """

    caches: tuple[KeyValueCache, ...]
    source: tuple[Projected, ...]


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


class Transformer(Model, SourceDecoder):
    """Reads a source, then says its target; the training target is told to it all at once."""

    settings: ClassVar[type[Config]] = TransformerConfig
    code: ClassVar[Functions] = (
        TransformerBlock.forward,
        DecoderBlock.forward,
        DecoderBlock._add,
        CrossAttention.attention_weights,
    )
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"pairs"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"tokens"})
    card: ClassVar[Card] = card_of(
        "A stack of transformer blocks reads the source, another says the target and looks at the "
        "source in every block."
    )

    def __init__(self, config: TransformerConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        width = config.width
        self.target_length = spec.input_shape[0] - spec.source_length
        self.target_embedding = nn.Embedding(spec.num_outputs, width)
        is_shared = config.tied and spec.shared_vocabulary
        self.source_embedding = None if is_shared else nn.Embedding(spec.vocab_size, width)
        self.positions = SinusoidalPositions(max(spec.source_length, self.target_length), width)
        self.drop = nn.Dropout(config.dropout)
        self.encoder = nn.ModuleList(_encoder_block(config) for _ in range(config.layers))
        self.encoder_norm = nn.LayerNorm(width)
        self.decoder = nn.ModuleList(_decoder_block(config) for _ in range(config.layers))
        self.decoder_norm = nn.LayerNorm(width)
        self.head = None if config.tied else nn.Linear(width, spec.num_outputs, bias=False)
        self._draw_weights()

    @classmethod
    def build(cls, config: TransformerConfig, spec: DataSpec) -> Self:
        """A model of both vocabularies, for texts as long as those of the data."""
        return cls(config, spec)

    @property
    def encoder_blocks(self) -> Iterable[TransformerBlock]:
        """Those that read the source, in order."""
        return cast(Iterable[TransformerBlock], self.encoder)

    @property
    def decoder_blocks(self) -> Iterable[DecoderBlock]:
        """Those that say the target, in order."""
        return cast(Iterable[DecoderBlock], self.decoder)

    def forward(self, inputs: Tensor) -> Tensor:
        """(B, S + T) -> logits (B, T, V), each told what came before it, or half of it."""
        source, told = self._parts(inputs)
        projected = self._project(source)
        if self.training and self.teacher_forcing < 1:
            told = self._half_told(told, projected)
        return self._say(told, projected)

    def read_source(self, source: Tensor) -> TransformerState:
        """(B, S) -> the state before the first token."""
        caches = (
            block.attn.start(len(source), self.target_length) for block in self.decoder_blocks
        )
        return TransformerState(tuple(caches), self._project(source))

    def step(self, tokens: Tensor, state: TransformerState) -> tuple[Tensor, TransformerState]:
        """The token before (B,) and a state -> logits of the next (B, V) and the next state."""
        x = self._embed(tokens[:, None], self.target_embedding, state.caches[0].length)
        grown = []
        for block, cache, source in zip(
            self.decoder_blocks, state.caches, state.source, strict=True
        ):
            x, longer = block.extend(x, cache, source)
            grown.append(longer)
        return self._logits(x[:, 0]), state._replace(caches=tuple(grown))

    @torch.no_grad()
    def attention_weights(self, inputs: Tensor) -> tuple[Tensor, ...]:
        """Where each head looks in the source: (B, S + T) -> (B, H, T, S) of every block."""
        source, told = self._parts(inputs)
        x, weights = self._embed(told, self.target_embedding), []
        for block, projected in zip(self.decoder_blocks, self._project(source), strict=True):
            weights.append(block.cross_weights(x, projected))
            x = block(x, projected)
        return tuple(weights)

    def _parts(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """The source (B, S), and what the decoder is told (B, T)."""
        return inputs[:, : self.spec.source_length], inputs[:, self.spec.source_length :]

    def _project(self, source: Tensor) -> tuple[Projected, ...]:
        """Read the source (B, S): keys and values for each block of the decoder."""
        counts = torch.ones_like(source, dtype=torch.bool)
        if self.spec.padding is not None:
            counts = source != self.spec.padding
        mask = counts[:, None]  # (B, 1, S)
        x = self._embed(source, self.source_embedding or self.target_embedding)
        for block in self.encoder_blocks:
            x = block(x, mask)
        memory = self.encoder_norm(x)
        return tuple(block.cross.project(memory, mask) for block in self.decoder_blocks)

    def _say(self, told: Tensor, source: tuple[Projected, ...]) -> Tensor:
        """Logits (B, T, V) of the tokens after those told (B, T)."""
        x = self._embed(told, self.target_embedding)
        for block, projected in zip(self.decoder_blocks, source, strict=True):
            x = block(x, projected)
        return self._logits(x)

    def _embed(self, tokens: Tensor, embedding: nn.Embedding, start: int = 0) -> Tensor:
        """Tokens (B, T) at the places from `start` on as vectors (B, T, D)."""
        count = tokens.shape[1]
        if start + count > len(self.positions.table):
            raise ShapeError(
                f"texts of at most {len(self.positions.table)} tokens have positions, "
                f"got {start + count}"
            )
        x = math.sqrt(embedding.embedding_dim) * embedding(tokens)
        embedded: Tensor = self.drop(x + self.positions(start, count))
        return embedded

    def _logits(self, x: Tensor) -> Tensor:
        weight = self.target_embedding.weight if self.head is None else self.head.weight
        return padded_linear(self.decoder_norm(x), weight)

    def _half_told(self, told: Tensor, source: tuple[Projected, ...]) -> Tensor:
        """What is told (B, T), where some tokens are those that the model itself would say.

        It says all of them in one pass that was told the truth, not each after the last.
        Source: Mihaylova and Martins (2019), arXiv 1906.07651.
        """
        with torch.no_grad():
            own = self._say(told, source)[:, :-1].argmax(dim=2)
        truth = told[:, 1:]
        is_told = torch.rand(truth.shape, device=truth.device) < self.teacher_forcing
        return torch.cat((told[:, :1], torch.where(is_told, truth, own)), dim=1)

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
