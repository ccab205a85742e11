r"""BERT: a stack of transformer blocks that reads a text both ways, first to fill in masked tokens.

    x = LN(E[tokens] + P + S[segments]),    x = block_l(x)
    pre-training    p(masked token) = softmax(E m(x) + b),    p(next) = softmax(W_n tanh(W_p x_0))
    fine-tuning     W tanh(W_p x_0) for a text,    W x_i for each token: its tag, or how likely
                    a span begins and ends there

Both pre-training losses are minimised together. A text for fine-tuning comes as its tokens alone:
[CLS] is put before it and [SEP] behind it here. Our <bos> and <eos> are these two; [MASK] is a
token behind the vocabulary.

Shapes: B batch, T tokens, F = T + 2 with [CLS] and [SEP], V vocabulary, C outputs, H heads, D
width.
Source: Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers" (2018); Turc et al.,
"Well-Read Students Learn Better" (2019), for the small sizes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Annotated, ClassVar, Self, cast

import torch
from annotated_types import Gt
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Size
from netwright.core.errors import ConfigError, ShapeError
from netwright.core.outputs import UnscoredTokens
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.data.text.pretraining.framing import CLS, SEP, frame_texts, segments_of
from netwright.data.text.tokenizer import BOS, EOS, PAD, SPECIALS
from netwright.layers.attention.feedforward import FeedForward
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.attention.transformer_block import TransformerBlock
from netwright.models.model import Functions, Model
from netwright.models.published_sizes import BERTS, BERTSize
from netwright.models.transformers.attention_settings import (
    SPREAD,
    AttentionConfig,
    build_attention,
    build_positions,
    build_relative,
    score_bias,
)
from netwright.models.variant import find_variant, make_variant

EXPANSION = 4  # of the width, in the feed-forward networks
FRAME = 2  # tokens around a text


@dataclass(frozen=True, kw_only=True)
class BERTConfig(AttentionConfig):
    """Settings of a BERT."""

    width: Annotated[Size, Doc("features per token")] = 256
    context: Annotated[Size, Doc("context length in tokens, [CLS] and [SEP] included")] = 512
    dropout: Annotated[Fraction, Doc("dropout on embeddings, residual branches and attention")] = (
        0.1
    )
    norm_eps: Annotated[float, Gt(0), Doc("added to the variance in layer norms")] = 1e-12


def card_of(sentence: str) -> Card:
    """The card of a BERT of one size."""
    return Card(
        sentence=sentence,
        formula=r"x_0 = \mathrm{LN}(E[t] + P + S[s]), \quad x_{l+1} = \mathrm{block}_l(x_l), \quad"
        r" L = -\frac{1}{|M|} \sum_{i \in M} \log p(t_i) - \log p(\text{next})",
        symbols={
            "t": "the tokens with [CLS] and [SEP], (F)",
            "s": "the segment of each token, 0 or 1, (F)",
            "E, P, S": "embeddings of tokens, positions and segments, (V, D), (F, D), (2, D)",
            "M": "the places that were chosen, 15 % of all: 80 % are [MASK], 10 % another token, "
            "10 % as they were",
            r"p(\text{next})": "whether the second text follows the first, read at [CLS]",
        },
        source="Devlin et al. (2018), arXiv 1810.04805",
        misprint="The two losses are sometimes called two stages; they are added and minimised "
        "together. [CLS] stands before the text, not behind it.",
    )


class PretrainingHead(nn.Module):
    """Tokens by the embedding, after a layer of their own; and whether a text follows another.

    Args:
        config: the widths.
        outputs: V.
    """

    def __init__(self, config: BERTConfig, outputs: int) -> None:
        super().__init__()
        self.transform = nn.Linear(config.width, config.width)
        self.norm = nn.LayerNorm(config.width, eps=config.norm_eps)
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.next_text = nn.Linear(config.width, 2)

    def forward(self, x: Tensor, pooled: Tensor, embedding: Tensor) -> UnscoredTokens:
        """Places (B, F, D), pooled (B, D) -> what makes (B, F, V).

        At [CLS] only two of the V can be: 0, the second text follows, and 1, it does not.
        """
        vectors = self.norm(functional.gelu(self.transform(x)))
        head = embedding[: len(self.bias)]
        return UnscoredTokens(vectors, head, self.bias, first=self.next_text(pooled))


class BERT(Model):
    """Embeddings, blocks; then masked tokens, one answer from [CLS], or one at every token."""

    settings: ClassVar[type[Config]] = BERTConfig
    code: ClassVar[Functions] = (
        TransformerBlock.forward,
        MultiHeadAttention.attention_weights,
        PretrainingHead.forward,
        frame_texts,
    )
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"tokens", "masked"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset(
        {"tokens", "tags", "span", "class", "labels", "real"}
    )
    apart: ClassVar[Mapping[tuple[InputKind, TargetKind], str]] = MappingProxyType(
        {
            ("tokens", "tokens"): "reads a text both ways and would see the next token: pre-train "
            "it on masked text (--set data.name=masked-text)"
        }
    )
    task_parts: ClassVar[frozenset[str]] = frozenset({"pooler", "pretraining", "head"})
    card: ClassVar[Card] = card_of(
        "Transformer blocks read a text both ways, first to fill in masked tokens, then for a task."
    )

    def __init__(self, config: BERTConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        width, is_masked = config.width, spec.inputs == "masked"
        self.context = config.context
        self.wte = nn.Embedding(spec.vocab_size + (not is_masked), width)  # the last is [MASK]
        self.wpe = build_positions(config, config.context)
        self.relative = build_relative(config, causal=False)
        self.wse = nn.Embedding(2, width)
        self.ln_e = nn.LayerNorm(width, eps=config.norm_eps)
        self.drop = nn.Dropout(config.dropout)
        self.h = nn.ModuleList(_build_block(config) for _ in range(config.layers))
        is_each = spec.target in {"tags", "span"}  # something is said of each token
        self.pooler = None if is_each else nn.Linear(width, width)
        self.pretraining = PretrainingHead(config, spec.num_outputs) if is_masked else None
        self.head = None if is_masked else nn.Linear(width, spec.num_outputs)
        for name, weight in self.named_parameters():
            if weight.ndim > 1:
                nn.init.normal_(weight, std=SPREAD)
            elif name.endswith("bias"):
                nn.init.zeros_(weight)

    @classmethod
    def build(cls, config: BERTConfig, spec: DataSpec) -> Self:
        """The model for this vocabulary; texts that its context has no room for are refused."""
        length = spec.input_shape[0] + (0 if spec.inputs == "masked" else FRAME)
        if length > config.context:
            setting = "window" if spec.inputs == "masked" else "max_length"
            raise ConfigError(
                f"context must be at least {length}, the tokens per example with [CLS] and [SEP] "
                f"(data.{setting}), got {config.context}"
            )
        return cls(config, spec)

    def word_table(self) -> Tensor:
        """The vectors of the tokens (V, D); the last is that of [MASK]."""
        return self.wte.weight

    @property
    def blocks(self) -> Iterable[TransformerBlock]:
        """The transformer blocks, in order."""
        return cast(Iterable[TransformerBlock], self.h)

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, T) -> (B, T, V) of masked text, (B, T, C) for tags and spans, else (B, C)."""
        if self.head is None:
            return self.unscored(tokens).logits
        framed = self.framed(tokens)
        x = self.encode(framed, segments_of(framed), framed != PAD)
        of_each = self.pooler is None
        logits: Tensor = self.head(self.drop(x[:, 1:-1] if of_each else self._pooled(x)))
        return logits

    def unscored(self, tokens: Tensor) -> UnscoredTokens:
        """What the logits (B, F, V) of masked text are made of."""
        is_padded = self.spec.padding is not None  # without a mask attention is faster
        x = self.encode(tokens, segments_of(tokens), tokens != PAD if is_padded else None)
        made: UnscoredTokens = cast(PretrainingHead, self.pretraining)(
            x, self._pooled(x), self.wte.weight
        )
        return made

    def encode(self, tokens: Tensor, segments: Tensor, counted: Tensor | None = None) -> Tensor:
        """What the last block gives of framed tokens (B, F), segments, and where padding is not."""
        mask = None if counted is None else counted[:, None]  # (B, 1, F)
        bias = self._score_bias(tokens.shape[1])
        x = self._embed(tokens, segments)
        for block in self.blocks:
            x = block(x, mask, bias)
        return x

    @torch.no_grad()
    def attention_weights(self, tokens: Tensor) -> tuple[Tensor, ...]:
        """The weights (B, H, F, F) of every block, by the plain formula."""
        framed = self.framed(tokens)
        mask, bias = (framed != PAD)[:, None], self._score_bias(framed.shape[1])
        x, weights = self._embed(framed, segments_of(framed)), []
        for block in self.blocks:
            weights.append(block.attn.attention_weights(block.attended(x), mask, bias))
            x = block(x, mask, bias)
        return tuple(weights)

    def framed(self, tokens: Tensor) -> Tensor:
        """The tokens (B, F) that are read of texts (B, T): masked text has its frame already."""
        return tokens if self.spec.inputs == "masked" else frame_texts(tokens)

    def framed_names(self, names: Sequence[str]) -> list[str]:
        """What the places of a text without padding are called, [CLS] and [SEP] among them."""
        begin, end = SPECIALS[BOS], SPECIALS[EOS]
        framed = names if self.spec.inputs == "masked" else [begin, *names, end]
        return [{begin: CLS, end: SEP}.get(name, name) for name in framed]

    def _embed(self, tokens: Tensor, segments: Tensor) -> Tensor:
        count = tokens.shape[1]
        if count > self.context:
            raise ShapeError(f"a context of {self.context} tokens has no room for {count}")
        x = self.wte(tokens)
        if self.wpe is not None:
            x = x + self.wpe(0, count)
        x = x + self.wse(segments)
        embedded: Tensor = self.drop(self.ln_e(x))
        return embedded

    def _score_bias(self, count: int) -> Tensor | None:
        """What is added to the scores of so many tokens, in every block."""
        return score_bias(self.relative, next(iter(self.blocks)).attn, count)

    def _pooled(self, x: Tensor) -> Tensor:
        """What [CLS] says of the whole, (B, F, D) -> (B, D)."""
        return torch.tanh(cast(nn.Linear, self.pooler)(x[:, 0]))


def _build_block(config: BERTConfig) -> TransformerBlock:
    return TransformerBlock(
        build_attention(config, config.context, causal=False),
        FeedForward(config.width, EXPANSION * config.width, nn.GELU()),
        pre_norm=False,
        dropout=config.dropout,
        norm=partial(nn.LayerNorm, eps=config.norm_eps),
    )


def _make_size(size: BERTSize) -> type[BERT]:
    return make_variant(
        BERT,
        size.kind,
        card=card_of(f"{size.title}: {size.layers} blocks of {size.width} features."),
        defaults={"layers": size.layers, "heads": size.width // 64, "width": size.width},
    )


__getattr__ = find_variant(__name__, (_make_size(size) for size in BERTS.values()))
