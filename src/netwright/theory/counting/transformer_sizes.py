r"""Parameter counts of the transformer of 2017: a block has 12 or 16 matrices of its width squared.

An attention has four matrices and biases of width D, a feed-forward network two of 4 D^2, a norm
2 D. The decoder's blocks have a second attention and a third norm; both stacks end in a norm.

Source: Vaswani et al., "Attention Is All You Need" (2017), section 3; torch.nn.Transformer.
"""

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Size
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.layers.attention.cross_attention import CrossAttention
from netwright.layers.attention.decoder_block import DecoderBlock
from netwright.layers.attention.feedforward import FeedForward
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.attention.transformer_block import TransformerBlock
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, equals


@dataclass(frozen=True, kw_only=True)
class TransformerSizesConfig(Config):
    """Which transformer is counted; by default the base model."""

    layers: Annotated[Size, Doc("blocks of the encoder, and of the decoder")] = 6
    heads: Annotated[Size, Doc("attention heads; must divide the width")] = 8
    width: Annotated[Size, Doc("features per token")] = 512
    biased: Annotated[
        bool, Assumption("attentions and feed-forward networks have biases; without it, none")
    ] = True


def block_sizes(width: int) -> tuple[int, int]:
    """Parameters of an encoder block and of a decoder block, by formula."""
    attention = 4 * width**2 + 4 * width
    forward = 8 * width**2 + 5 * width
    norm = 2 * width
    return attention + forward + 2 * norm, 2 * attention + forward + 3 * norm


def build_blocks(given: TransformerSizesConfig) -> tuple[nn.Module, nn.Module]:
    """A block of each stack, without memory."""
    width, heads, bias = given.width, given.heads, given.biased
    with torch.device("meta"):
        mlps = [FeedForward(width, 4 * width, nn.ReLU(), bias=bias) for _ in range(2)]
        attn, causal = (
            MultiHeadAttention(width, heads, causal=is_causal, bias=bias)
            for is_causal in (False, True)
        )
        cross = CrossAttention(width, heads, bias=bias)
        return TransformerBlock(attn, mlps[0]), DecoderBlock(causal, cross, mlps[1])


def measure_transformer_sizes(given: TransformerSizesConfig, seed: int, effort: Effort) -> Verdict:
    """Build a block of each stack, and count."""
    encoder, decoder = (
        sum(weight.numel() for weight in block.parameters()) for block in build_blocks(given)
    )
    norms = 2 * 2 * given.width
    counted = [encoder, decoder, given.layers * (encoder + decoder) + norms]
    formula = [*block_sizes(given.width)]
    formula.append(given.layers * sum(formula) + norms)
    names = ("encoder block", "decoder block", "both stacks with their last norms")
    places = range(len(names))
    return Verdict(
        findings=tuple(
            equals(f"parameters, {name}", told, count, n=1)
            for name, told, count in zip(names, formula, counted, strict=True)
        ),
        chart=ClaimChart(
            x_label="part",
            y_label="parameters",
            series=(
                predicted("formula", places, formula),
                measured("allocated", places, counted),
            ),
            explanation="Weights and biases of one block of each stack, and of both stacks. The "
            "embedding is not among them: with 37,000 tokens it has 19 million more.",
            log="y",
            categories=("encoder\nblock", "decoder\nblock", "both\nstacks"),
        ),
    )


TRANSFORMER_SIZES = Claim(
    card=Card(
        sentence="A block of the transformer's encoder has about 12 parameters for each pair of "
        "features, one of its decoder about 16.",
        formula=r"P_e = 12 D^2 + 13 D, \quad P_d = 16 D^2 + 19 D, \quad P = L (P_e + P_d) + 4 D",
        symbols={
            "P_e, P_d": "parameters of a block of the encoder and of the decoder",
            "D": "features per token, 512 in the base model",
            "L": "blocks of each stack, 6 in the base model",
        },
        source="Vaswani et al. (2017), arXiv 1706.03762, section 3",
        misprint="The output matrix of the attention is often left out of the count: it is a "
        "fourth of its weights.",
    ),
    topic="Counting and cost",
    kind="theorem",
    settings=TransformerSizesConfig,
    experiment=measure_transformer_sizes,
)
