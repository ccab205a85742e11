r"""How the tokens of a transformer read each other, and how they know where they stand: settings.

    attention    full: a softmax over all keys; window: over near ones and the first few, which
                 read all themselves, or, where it is causal, are attention sinks, read by all that
                 come later; bigbird: over near, first and drawn blocks; hierarchical: over near
                 ones and over means of the other blocks; linear: sums of features
    positions    learned, sinusoidal: added to the embeddings; rotary: turn queries and keys;
                 alibi, t5: added to the scores, by the distance of query and key

GPT and BERT share them, but for bigbird and hierarchical, which read both ways. Full attention
takes time and memory in proportion to the square of the length n of a text, hierarchical to
n c + (n / c)^2 for blocks of c, the others in proportion to the length.

Source: Xiao et al., "Efficient Streaming Language Models with Attention Sinks" (2023), for the
first tokens that are always read.
"""

import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Ge
from torch import Tensor, nn

from netwright.core.config import Doc, Fraction, Size
from netwright.core.errors import ConfigError
from netwright.layers.attention.bigbird_attention import BigBirdAttention, BigBirdBlocks
from netwright.layers.attention.hierarchical_attention import HierarchicalAttention
from netwright.layers.attention.linear_attention import LinearAttention
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.attention.position_encoding import (
    LearnedPositions,
    Rotary,
    SinusoidalPositions,
)
from netwright.layers.attention.relative_positions import AlibiBias, RelativePositionBias
from netwright.layers.attention.self_attention import SelfAttention, check_heads
from netwright.layers.attention.window_attention import WindowAttention
from netwright.models.first_vectors import FirstVectorsConfig

BY_BLOCKS = ("bigbird", "hierarchical")
SPREAD = 0.02  # of the weights at the start
BY_BIAS = ("alibi", "t5")  # positions that are told by a bias of the scores
BY_SCORES = ("rotary", *BY_BIAS)  # positions that only scores can tell


@dataclass(frozen=True, kw_only=True)
class AttentionConfig(FirstVectorsConfig):
    """Settings of a transformer's attention."""

    layers: Annotated[Size, Doc("transformer blocks")] = 4
    heads: Annotated[Size, Doc("attention heads; must divide the width")] = 4
    width: Annotated[Size, Doc("features per token")] = 128
    dropout: Annotated[Fraction, Doc("dropout on embeddings, residual branches and attention")] = (
        0.0
    )
    attention: Annotated[
        Literal["full", "window", "bigbird", "hierarchical", "linear"],
        Doc(
            "attention of each token: over all, over a sliding window, over near, first and drawn "
            "blocks (bigbird, not causal), over its block and the means of the others "
            "(hierarchical, not causal), or linear (no dropout)"
        ),
    ] = "full"
    attention_window: Annotated[Size, Doc("attention=window: tokens read on either side")] = 128
    global_tokens: Annotated[
        int,
        Ge(0),
        Doc(
            "attention=window: first tokens, which are read by all and read all; in a gpt, "
            "attention sinks: read by all later ones"
        ),
    ] = 0
    attention_block: Annotated[
        Size,
        Doc(
            "attention=bigbird, hierarchical: tokens per block; bigbird's first block reads all "
            "and is read by all"
        ),
    ] = 64
    random_blocks: Annotated[
        int,
        Ge(0),
        Doc("attention=bigbird: drawn blocks that each block reads beside its neighbours"),
    ] = 1
    positions: Annotated[
        Literal["learned", "sinusoidal", "rotary", "alibi", "t5"],
        Doc("position encoding; alibi and t5: biases of the scores by distance"),
    ] = "learned"

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        check_heads(self.width, self.heads, self.heads)
        if self.global_tokens and self.attention != "window":
            raise ConfigError(
                f"global_tokens are for attention=window, got {self.global_tokens} with "
                f"attention={self.attention}"
            )
        if self.attention in BY_BLOCKS and self.positions in BY_BIAS:
            raise ConfigError(
                f"attention={self.attention} takes no bias of its scores: positions must be "
                f"learned, sinusoidal or rotary, got {self.positions}"
            )
        if self.attention == "linear" and self.positions in BY_SCORES:
            raise ConfigError(
                "attention=linear has no scores to tell positions by: positions must be learned "
                f"or sinusoidal, got {self.positions}"
            )


def build_attention(
    config: AttentionConfig, context: int, *, causal: bool, **settings: Any
) -> SelfAttention[Any]:
    """The attention of one block, for texts of at most so many tokens.

    Args:
        config: its kind.
        context: the longest text.
        causal: nothing is read from later tokens.
        settings: others of `SelfAttention`.
    """
    head_size = config.width // config.heads
    shared = {
        "causal": causal,
        "dropout": config.dropout,
        "rotary": Rotary(head_size, context) if config.positions == "rotary" else None,
        **settings,
    }
    if causal and config.attention in BY_BLOCKS:
        raise ConfigError(
            "attention must be full, window or linear here: "
            f"attention={config.attention} reads both ways and cannot be causal"
        )
    match config.attention:
        case "full":
            return MultiHeadAttention(config.width, config.heads, **shared)
        case "window":
            return WindowAttention(
                config.width,
                config.heads,
                window=config.attention_window,
                global_tokens=config.global_tokens,
                **shared,
            )
        case "bigbird":
            blocks = BigBirdBlocks(config.attention_block, 1, config.random_blocks)
            return BigBirdAttention(
                config.width, config.heads, blocks=blocks, longest=context, **shared
            )
        case "hierarchical":
            return HierarchicalAttention(
                config.width, config.heads, chunk=config.attention_block, **shared
            )
        case "linear":
            return LinearAttention(config.width, config.heads, **shared)


def build_positions(config: AttentionConfig, context: int) -> nn.Module | None:
    """What is added to the embeddings; None: positions are told in the attention."""
    match config.positions:
        case "learned":
            return LearnedPositions(context, config.width)
        case "sinusoidal":
            # As large as the embeddings are at the start; larger would drown them.
            return SinusoidalPositions(context, config.width, scale=SPREAD * math.sqrt(2))
        case _:
            return None


def build_relative(
    config: AttentionConfig, *, causal: bool
) -> AlibiBias | RelativePositionBias | None:
    """What is added to the scores of all blocks; None: positions are told otherwise."""
    match config.positions:
        case "alibi":
            return AlibiBias(config.heads)
        case "t5":
            return RelativePositionBias(config.heads, is_causal=causal)
        case _:
            return None


def score_bias(
    relative: AlibiBias | RelativePositionBias | None,
    attention: SelfAttention[Any],
    queries: int,
    keys: int | None = None,
) -> Tensor | None:
    """What the blocks' attention adds to its scores, in the form that it takes; None: nothing.

    Args:
        relative: how positions are told.
        attention: of any block.
        queries: T, the last of the S places.
        keys: S; T where None.
    """
    if relative is None:
        return None
    if attention.bias_by_distance:
        return relative.by_distance(queries if keys is None else keys)
    return relative(queries, keys)  # type: ignore[no-any-return]
