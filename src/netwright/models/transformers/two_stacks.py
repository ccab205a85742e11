r"""Two stacks of transformer blocks: one reads a source, the other says the target.

    h = encoder(E_s[source]),    y = decoder(E_t[told], h),    logits = y E_t^T

The encoder's positions read from each other, the decoder's from those before them and from all of
the source. Training says all places of the target at once; to translate, keys and values of what
was said are kept, and those of the source are made once. How positions are told, what the blocks
are made of and how large the embeddings are is up to the model.

Shapes: B batch, S source tokens, T target tokens, D width, H heads, V different target tokens;
inputs are (B, S + T), the source and then what the decoder is told.
Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple, Self, cast

import torch
from torch import Tensor, nn

from netwright.core.config import Config
from netwright.core.outputs import UnscoredTokens
from netwright.core.trees import Tree
from netwright.data.loading.by_length import split_pairs
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.decoding.source_decoder import SourceDecoder
from netwright.layers.attention.add_and_norm import Norm
from netwright.layers.attention.cross_attention import CrossAttention, Projected
from netwright.layers.attention.decoder_block import DecoderBlock
from netwright.layers.attention.key_value_cache import KeyValueCache
from netwright.layers.attention.transformer_block import TransformerBlock
from netwright.layers.padded_linear import padded_linear
from netwright.models.model import Functions, Model


class StacksState(NamedTuple):
    """All that the next token depends on, an entry a block of the decoder.

    Args:
        caches: keys and values of what was said.
        source: keys and values of what was read.
    """

    caches: tuple[KeyValueCache, ...]
    source: tuple[Projected, ...]


class StacksParts(NamedTuple):
    """What the two stacks are made of.

    Args:
        width: D.
        layers: blocks of either stack.
        encoder_block: makes one that reads the source.
        decoder_block: makes one that says the target.
        norm: makes the norm at the end of either stack.
        is_tied: the head is the embedding of targets.
        is_shared: the embedding of targets is that of sources, too.
    """

    width: int
    layers: int
    encoder_block: Callable[[], TransformerBlock]
    decoder_block: Callable[[], DecoderBlock]
    norm: Norm
    is_tied: bool
    is_shared: bool


class TwoStacks(Model, SourceDecoder):
    """Reads a source, then says its target; the training target is told to it all at once."""

    shares_blocks: ClassVar[bool] = True  # the source is projected for all blocks at once

    code: ClassVar[Functions] = (
        TransformerBlock.forward,
        DecoderBlock.forward,
        DecoderBlock._add,
        CrossAttention.attention_weights,
    )
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"pairs"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"tokens"})

    def __init__(self, config: Config, spec: DataSpec) -> None:
        super().__init__(config, spec)
        parts = self._made_of(config, spec)
        width, layers = parts.width, range(parts.layers)
        self.target_length = spec.input_shape[0] - spec.source_length
        self.source_embedding = None if parts.is_shared else nn.Embedding(spec.vocab_size, width)
        self.target_embedding = nn.Embedding(spec.num_outputs, width)
        self.encoder = nn.ModuleList(parts.encoder_block() for _ in layers)
        self.encoder_norm = parts.norm(width)
        self.decoder = nn.ModuleList(parts.decoder_block() for _ in layers)
        self.decoder_norm = parts.norm(width)
        self.head = None if parts.is_tied else nn.Linear(width, spec.num_outputs, bias=False)

    @classmethod
    def build(cls, config: Any, spec: DataSpec) -> Self:
        """A model of both vocabularies, for texts as long as those of the data."""
        return cls(config, spec)

    @classmethod
    @abstractmethod
    def _made_of(cls, config: Any, spec: DataSpec) -> StacksParts:
        """What the stacks of a model with these settings are made of."""

    def word_table(self) -> Tensor:
        """The vectors of the source tokens (V, D), which may be those of the targets too."""
        return (self.source_embedding or self.target_embedding).weight

    def told_table(self) -> Tensor | None:
        """The vectors of the target tokens (V, D), where they are others."""
        return None if self.source_embedding is None else self.target_embedding.weight

    @property
    def encoder_blocks(self) -> Iterable[TransformerBlock]:
        """Those that read the source, in order."""
        return cast(Iterable[TransformerBlock], self.encoder)

    @property
    def decoder_blocks(self) -> Iterable[DecoderBlock]:
        """Those that say the target, in order."""
        return cast(Iterable[DecoderBlock], self.decoder)

    def forward(self, inputs: Tree) -> Tensor:
        """(B, S + T) -> logits (B, T, V), each told what came before it, or half of it.

        Source and told may also come apart, (B, S) and (B, T), and shorter.
        """
        return self._logits(self._read_and_told(inputs))

    def unscored(self, inputs: Tree) -> UnscoredTokens:
        """What the logits of `forward` are made of."""
        return UnscoredTokens(self._vectors(self._read_and_told(inputs)), self._head_weight)

    def read_source(self, source: Tensor) -> StacksState:
        """(B, S) -> the state before the first token."""
        caches = (
            block.attn.start(len(source), self.target_length) for block in self.decoder_blocks
        )
        return StacksState(tuple(caches), self._project(source))

    def step(self, tokens: Tensor, state: StacksState) -> tuple[Tensor, StacksState]:
        """The token before (B,) and a state -> logits of the next (B, V) and the next state."""
        place = state.caches[0].length
        x = self._embed(tokens[:, None], self.target_embedding, place)
        bias, grown = self._target_bias(1, place + 1), []
        for block, cache, source in zip(
            self.decoder_blocks, state.caches, state.source, strict=True
        ):
            x, longer = block.extend(x, cache, source, bias)
            grown.append(longer)
        return self._logits(x[:, 0]), state._replace(caches=tuple(grown))

    @torch.no_grad()
    def attention_weights(self, inputs: Tensor) -> tuple[Tensor, ...]:
        """Where each head looks in the source: (B, S + T) -> (B, H, T, S) of every block."""
        source, told = split_pairs(inputs, self.spec.source_length)
        x, weights = self._embed(told, self.target_embedding), []
        bias = self._target_bias(told.shape[1], told.shape[1])
        for block, projected in zip(self.decoder_blocks, self._project(source), strict=True):
            weights.append(block.cross_weights(x, projected, bias))
            x = block(x, projected, bias)
        return tuple(weights)

    @abstractmethod
    def _embed(self, tokens: Tensor, embedding: nn.Embedding, start: int = 0) -> Tensor:
        """Tokens (B, T) at the places from `start` on as vectors (B, T, D)."""

    def _embed_source(self, source: Tensor) -> Tensor:
        """A source (B, S) as the first block of the encoder reads it (B, S, D)."""
        return self._embed(source, self.source_embedding or self.target_embedding)

    @abstractmethod
    def _vectors(self, x: Tensor) -> Tensor:
        """What the last block of the decoder gave (..., D), as the head reads it (..., D)."""

    def _logits(self, x: Tensor) -> Tensor:
        """What the last block of the decoder gave (..., D) as logits (..., V)."""
        return padded_linear(self._vectors(x), self._head_weight)

    def _source_bias(self, count: int) -> Tensor | None:
        """What is added to the scores of the encoder (H, S, S); None: nothing."""
        return None

    def _target_bias(self, queries: int, keys: int) -> Tensor | None:
        """What is added to the scores of the decoder among its own (H, T, S); None: nothing."""
        return None

    @property
    def _head_weight(self) -> Tensor:
        """(V, D)."""
        return self.target_embedding.weight if self.head is None else self.head.weight

    def _project(self, source: Tensor) -> tuple[Projected, ...]:
        """Read the source (B, S): keys and values for each block of the decoder."""
        counts = torch.ones_like(source, dtype=torch.bool)
        if self.spec.padding is not None:
            counts = source != self.spec.padding
        mask = counts[:, None]  # (B, 1, S)
        x = self._embed_source(source)
        bias = self._source_bias(source.shape[1])
        for block in self.encoder_blocks:
            x = block(x, mask, bias)
        memory = self.encoder_norm(x)
        return tuple(block.cross.project(memory, mask) for block in self.decoder_blocks)

    def _read_and_told(self, inputs: Tree) -> Tensor:
        """What the last block of the decoder gives of pairs (B, T, D)."""
        source, told = split_pairs(inputs, self.spec.source_length)
        projected = self._project(source)
        if self.training and self.teacher_forcing < 1:
            told = self._half_told(told, projected)
        return self._say(told, projected)

    def _say(self, told: Tensor, source: tuple[Projected, ...]) -> Tensor:
        """What the last block of the decoder gives of the tokens told (B, T): (B, T, D)."""
        x = self._embed(told, self.target_embedding)
        bias = self._target_bias(told.shape[1], told.shape[1])
        for block, projected in zip(self.decoder_blocks, source, strict=True):
            x = block(x, projected, bias)
        return x

    def _half_told(self, told: Tensor, source: tuple[Projected, ...]) -> Tensor:
        """What is told (B, T), where some tokens are those that the model itself would say.

        It says all of them in one pass that was told the truth, not each after the last.
        Source: Mihaylova and Martins (2019), arXiv 1906.07651.
        """
        with torch.no_grad():
            own = self._logits(self._say(told, source)[:, :-1]).argmax(dim=2)
        truth = told[:, 1:]
        is_told = torch.rand(truth.shape, device=truth.device) < self.teacher_forcing
        return torch.cat((told[:, :1], torch.where(is_told, truth, own)), dim=1)
