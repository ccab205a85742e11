r"""GPT: a stack of causal transformer blocks that gives the next token at every place.

    x = E[tokens] + P,    x = block_l(x),    logits = LN(x) E^T

One pass over a text trains all its places at once, since no place sees a later one. To generate,
the keys and values of the tokens so far are kept, and a new token costs one column. Parts have
GPT-2's names: wte, wpe, h.N.ln_1, h.N.attn.c_attn, ..., ln_f.

Padding behind a text needs no mask: no counted token looks there. Padding in front of it does, as
batches of prompts of different lengths have it: with `attention_mask` nothing looks at it, and a
row's positions count from its first token.

`attention` and `positions` choose how tokens read each other and know where they stand (see
`attention_settings`); a linear attention keeps sums in place of keys and values.

Shapes: B batch, T tokens, V vocabulary, C classes, H heads, D width.
Source: Radford et al., "Language Models are Unsupervised Multitask Learners" (2019).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Self, cast

import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.checks import check_shape
from netwright.core.config import Config, Doc, Size
from netwright.core.errors import ConfigError, ShapeError
from netwright.core.outputs import UnscoredTokens
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.attention.feedforward import FeedForward
from netwright.layers.attention.key_value_cache import KeyValueCache
from netwright.layers.attention.linear_attention import LinearCache
from netwright.layers.attention.masks import padding_mask
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.attention.self_attention import SelfAttention, check_heads
from netwright.layers.attention.transformer_block import TransformerBlock
from netwright.layers.padded_linear import padded_linear
from netwright.models.model import Functions, Model
from netwright.models.published_sizes import GPTS, GPTSize
from netwright.models.transformers.attention_settings import (
    SPREAD,
    AttentionConfig,
    build_attention,
    build_positions,
    build_relative,
    score_bias,
)
from netwright.models.variant import find_variant, make_variant

State = tuple[KeyValueCache | LinearCache, ...]  # one a block, all of one kind
EXPANSION = 4  # of the width, in the feed-forward networks


@dataclass(frozen=True, kw_only=True)
class GPTConfig(AttentionConfig):
    """Settings of a GPT."""

    context: Annotated[Size | None, Doc("context length in tokens; null: that of the inputs")] = (
        None
    )
    bias: Annotated[bool, Doc("biases in linear layers and norms")] = True
    kv_heads: Annotated[
        Size | None, Doc("key and value heads; must divide heads; null: the same number")
    ] = None
    tied: Annotated[bool, Doc("tie the output head of a language model to its embedding")] = True

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        check_heads(self.width, self.heads, self.kv_heads or self.heads)


def card_of(sentence: str) -> Card:
    """The card of a GPT of one size."""
    return Card(
        sentence=sentence,
        formula=r"x_0 = E[t] + P, \quad x_{l+1} = \mathrm{block}_l(x_l), \quad"
        r" p(t_{i+1} \mid t_{\le i}) = \mathrm{softmax}(\mathrm{LN}(x_L)_i E^\top)",
        symbols={
            "t": "the tokens, (T)",
            "E": "embedding, and head where they are tied, (V, D)",
            "P": "positions, (T, D)",
            r"\mathrm{block}_l": "causal attention, then a feed-forward network; each is added",
            r"\mathrm{LN}": "layer norm",
        },
        source="Radford et al. (2019), Language Models are Unsupervised Multitask Learners",
        misprint="The letters are sometimes read as generalised pretrained; they stand for"
        " generative pre-trained.",
    )


class GPT(Model):
    """Embedding, blocks, norm; then a logit a token at every place, or one answer at the last."""

    settings: ClassVar[type[Config]] = GPTConfig
    code: ClassVar[Functions] = (
        TransformerBlock.forward,
        TransformerBlock._add,
        MultiHeadAttention.forward,
        MultiHeadAttention.attention_weights,
    )
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"tokens"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"tokens", "class", "labels", "real"})
    card: ClassVar[Card] = card_of(
        "A small stack of causal transformer blocks tells what comes next."
    )

    def __init__(self, config: GPTConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.context = config.context or spec.input_shape[0]
        self.wte = nn.Embedding(spec.vocab_size, config.width)
        self.wpe = build_positions(config, self.context)
        self.relative = build_relative(config, causal=True)
        self.drop = nn.Dropout(config.dropout)
        self.h = nn.ModuleList(_build_block(config, self.context) for _ in range(config.layers))
        self.ln_f = nn.LayerNorm(config.width, bias=config.bias)
        is_tied = config.tied and spec.target == "tokens"
        self.head = None if is_tied else nn.Linear(config.width, spec.num_outputs, bias=False)
        self._draw_weights(config.layers)

    @classmethod
    def build(cls, config: GPTConfig, spec: DataSpec) -> Self:
        """The model for this vocabulary, and for texts as long as those of the data."""
        length = spec.input_shape[0]
        if config.context is not None and config.context < length:
            setting = "data.window" if spec.target == "tokens" else "data.max_length"
            raise ConfigError(
                f"context must be at least {length}, the tokens per example ({setting}), "
                f"got {config.context}"
            )
        return cls(config, spec)

    def word_table(self) -> Tensor:
        """The vectors of the tokens (V, D)."""
        return self.wte.weight

    @property
    def blocks(self) -> Iterable[TransformerBlock]:
        """The transformer blocks, in order."""
        return cast(Iterable[TransformerBlock], self.h)

    @property
    def attention(self) -> SelfAttention[Any]:
        """The attention of the first block; that of the others is of the same kind."""
        return next(iter(self.blocks)).attn

    def forward(self, tokens: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        """(B, T) -> (B, T, V) for a target of tokens, else (B, C).

        Args:
            tokens: the texts.
            attention_mask: True or 1 where a token counts, False or 0 at padding (B, T); what the
                model says at padding means nothing. None: padding, if any, is behind the texts.
        """
        if attention_mask is None:
            counted = first = mask = None
        else:
            counted, first = _read_mask(attention_mask, tokens)
            # Over all keys padding sees itself, so that no softmax is empty; others see to that.
            is_full = isinstance(self.attention, MultiHeadAttention)
            mask = padding_mask(counted) if is_full else counted[:, None]
        x, bias = self._embed(tokens, first=first), self._score_bias(tokens.shape[1])
        for block in self.blocks:
            x = block(x, mask, bias)
        if self.spec.target != "tokens":
            x = self._last_counted(x, tokens, counted)
        return self._logits(x)

    def unscored(self, tokens: Tensor) -> UnscoredTokens:
        """What the logits (B, T, V) of a target of tokens are made of; see `forward`."""
        x, bias = self._embed(tokens), self._score_bias(tokens.shape[1])
        for block in self.blocks:
            x = block(x, score_bias=bias)
        return UnscoredTokens(self.ln_f(x), self._head_weight)

    @torch.no_grad()
    def read(self, tokens: Tensor, attention_mask: Tensor | None = None) -> tuple[Tensor, State]:
        """The logits (B, V) of what follows the tokens (B, T), and the state to go on from.

        Args:
            tokens: the beginnings, of different lengths where they are padded in front.
            attention_mask: True or 1 where a token counts (B, T), as in `forward`.
        """
        state = tuple(block.attn.start(len(tokens), self.context) for block in self.blocks)
        if attention_mask is not None:
            counted, first = _read_mask(attention_mask, tokens)
            if not torch.equal(
                counted, torch.arange(tokens.shape[1], device=first.device) >= first[:, None]
            ):
                raise ShapeError(
                    "texts that are to go on must be padded in front only (padding_side='left'), "
                    "got an attention_mask with padding behind or between tokens"
                )
            state = tuple(cache._replace(first=first) for cache in state)
        return self._extend(tokens, state)

    @torch.no_grad()
    def step(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        """One more token a row, (B,): the next logits (B, V), and the state in place of the old."""
        return self._extend(tokens[:, None], state)

    @torch.no_grad()
    def attention_weights(self, tokens: Tensor) -> tuple[Tensor, ...]:
        """The weights (B, H, T, T) of every block, by the plain formula."""
        x, weights = self._embed(tokens), []
        bias = self._score_bias(tokens.shape[1])
        for block in self.blocks:
            weights.append(block.attn.attention_weights(block.attended(x), score_bias=bias))
            x = block(x, score_bias=bias)
        return tuple(weights)

    def _embed(self, tokens: Tensor, start: int = 0, first: Tensor | None = None) -> Tensor:
        """Tokens (B, T) at the places from `start` on as vectors (B, T, D).

        Positions count from the places `first` (B,). Rotary ones need not: only distances matter.
        """
        count = tokens.shape[1]
        if start + count > self.context:
            raise ShapeError(f"a context of {self.context} tokens has no room for {start + count}")
        x = self.wte(tokens)
        if self.wpe is not None:
            x = x + (
                self.wpe(start, count) if first is None else self._positions(start, count, first)
            )
        embedded: Tensor = self.drop(x)
        return embedded

    def _score_bias(self, count: int, seen: int | None = None) -> Tensor | None:
        """What is added to the scores of the last `count` of the tokens seen, in every block."""
        return score_bias(self.relative, self.attention, count, seen)

    def _positions(self, start: int, count: int, first: Tensor) -> Tensor:
        """Of each row by itself (B, T, D); padding has those of the first token."""
        places = torch.arange(start, start + count, device=first.device) - first[:, None]
        table: Tensor = cast(nn.Module, self.wpe)(0, self.context)
        return table[places.clamp_min(0)]

    def _extend(self, tokens: Tensor, state: State) -> tuple[Tensor, State]:
        start, count, grown = state[0].length, tokens.shape[1], []
        x, bias = self._embed(tokens, start, state[0].first), self._score_bias(count, start + count)
        for block, cache in zip(self.blocks, state, strict=True):
            x, longer = block.extend(x, cache, bias)
            grown.append(longer)
        return self._logits(x[:, -1]), tuple(grown)

    def _last_counted(self, x: Tensor, tokens: Tensor, counted: Tensor | None) -> Tensor:
        """The vector of each text's last token before its padding, (B, T, D) -> (B, D)."""
        if counted is not None:
            last = x.shape[1] - 1 - counted.flip(1).int().argmax(dim=1)
        elif self.spec.padding is None:
            return x[:, -1]
        else:
            last = ((tokens != self.spec.padding).sum(dim=1) - 1).clamp(min=0)
        return x[torch.arange(x.shape[0], device=x.device), last]

    def _logits(self, x: Tensor) -> Tensor:
        return padded_linear(self.ln_f(x), self._head_weight)

    @property
    def _head_weight(self) -> Tensor:
        return self.wte.weight if self.head is None else self.head.weight

    def _draw_weights(self, layers: int) -> None:
        """GPT-2's start: what is added to the sum of all blocks is drawn smaller the more add."""
        for name, weight in self.named_parameters():
            if weight.ndim > 1:
                shrink = math.sqrt(2 * layers) if name.endswith("c_proj.weight") else 1.0
                nn.init.normal_(weight, std=SPREAD / shrink)
            elif name.endswith("bias"):
                nn.init.zeros_(weight)


def _read_mask(attention_mask: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
    """Which tokens count (B, T), and the place of each row's first (B,)."""
    check_shape("attention_mask", attention_mask, *tokens.shape)
    counted = attention_mask.to(tokens.device).bool()
    return counted, counted.int().argmax(dim=1)


def _build_block(config: GPTConfig, context: int) -> TransformerBlock:
    attn = build_attention(config, context, causal=True, kv_heads=config.kv_heads, bias=config.bias)
    gelu = nn.GELU(approximate="tanh")  # the form that GPT-2's weights were trained with
    mlp = FeedForward(config.width, EXPANSION * config.width, gelu, bias=config.bias)
    norm = partial(nn.LayerNorm, bias=config.bias)
    return TransformerBlock(attn, mlp, dropout=config.dropout, norm=norm)


def _make_size(size: GPTSize) -> type[GPT]:
    return make_variant(
        GPT,
        size.kind,
        card=card_of(f"{size.title}: {size.layers} blocks of {size.width} features."),
        defaults={
            "layers": size.layers,
            "heads": size.heads,
            "width": size.width,
            "context": 1024,
            "dropout": 0.1,
        },
    )


__getattr__ = find_variant(__name__, (_make_size(size) for size in GPTS.values()))
