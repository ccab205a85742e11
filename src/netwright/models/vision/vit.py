r"""The vision transformer: an image is read as a sequence of patches.

    x = [c, E p_1, ..., E p_N] + P,    x = block_l(x),    logits = W LN(x)_c

A class token c comes before the patches and is read out in the end; or there is none, and the mean
of all patches is read out. Nothing but the positions P, which are learned, says which patches are
neighbours: that is to be found in the data, where a convolution has it from the start.

Shapes: B batch, C outputs, N patches, T = N + 1 with the class token, D width, H heads; images
(channels, I, J).
Source: Dosovitskiy et al., "An Image is Worth 16x16 Words" (2020), section 3.1.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, ClassVar, Literal, Self, cast

import torch
from annotated_types import Gt
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Size
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.attention.feedforward import FeedForward
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.attention.self_attention import check_heads
from netwright.layers.attention.transformer_block import TransformerBlock
from netwright.layers.patches import PatchEmbedding, count_patches
from netwright.models.model import Functions, Model
from netwright.models.published_sizes import VITS, ViTSize
from netwright.models.variant import find_variant, make_variant
from netwright.models.vision.image_size import check_sides

SPREAD = 0.02  # of the last layer's and the class token's weights at the start
POSITION_SPREAD = 0.5
EXPANSION = 4  # of the width, in the feed-forward networks


@dataclass(frozen=True, kw_only=True)
class ViTConfig(Config):
    """Settings of a vision transformer."""

    patch: Annotated[Size, Doc("rows and columns of a patch; borders are padded to a multiple")] = 4
    layers: Annotated[Size, Doc("transformer blocks")] = 6
    heads: Annotated[Size, Doc("attention heads; must divide the width")] = 4
    width: Annotated[Size, Doc("features per patch")] = 128
    dropout: Annotated[Fraction, Doc("dropout on embeddings, residual branches and attention")] = (
        0.0
    )
    pool: Annotated[
        Literal["class", "mean"], Doc("read out a class token, or the mean of all patches")
    ] = "class"
    norm_eps: Annotated[float, Gt(0), Doc("added to the variance in layer norms")] = 1e-6

    def __post_init__(self) -> None:
        """Check the fields, then what they mean together."""
        super().__post_init__()
        check_heads(self.width, self.heads, self.heads)


def card_of(sentence: str) -> Card:
    """The card of a vision transformer of one size."""
    return Card(
        sentence=sentence,
        formula=r"x_0 = [c, E p_1, \ldots, E p_N] + P, \quad x_{l+1} = \mathrm{block}_l(x_l),"
        r" \quad f = W\, \mathrm{LN}(x_L)_c",
        symbols={
            "p_i": "patch i of the image, its pixels in a row",
            "E": "the map of patches, (D, pixels of a patch times channels)",
            "c": "the class token, learned, (D)",
            "P": "positions, learned, (N + 1, D)",
            r"\mathrm{block}_l": "attention of all to all, then a feed-forward network; each is "
            "added",
            "f": "logits or reals, (C)",
        },
        source="Dosovitskiy et al. (2020), arXiv 2010.11929",
        misprint="The positions are often left out of the formula: without them the order of the "
        "patches would be lost. The class token stands before the patches.",
    )


class ViT(Model):
    """Patches, positions, blocks, norm; then one answer from the class token or the mean."""

    settings: ClassVar[type[Config]] = ViTConfig
    code: ClassVar[Functions] = (
        PatchEmbedding.forward,
        TransformerBlock.forward,
        MultiHeadAttention.attention_weights,
    )
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})
    card: ClassVar[Card] = card_of(
        "A stack of transformer blocks reads an image as a sequence of patches."
    )

    def __init__(self, config: ViTConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        channels, rows, columns = spec.input_shape
        self.sides = (rows, columns)
        count = count_patches(rows, columns, config.patch)
        self.side = config.patch
        self.patches = PatchEmbedding(channels, config.width, config.patch)
        has_token = config.pool == "class"
        self.class_token = nn.Parameter(torch.empty(1, 1, config.width)) if has_token else None
        self.positions = nn.Parameter(torch.empty(1, count + has_token, config.width))
        self.drop = nn.Dropout(config.dropout)
        self.h = nn.ModuleList(_build_block(config) for _ in range(config.layers))
        self.ln_f = nn.LayerNorm(config.width, eps=config.norm_eps)
        self.head = nn.Linear(config.width, spec.num_outputs)
        self._draw_weights()

    @classmethod
    def build(cls, config: ViTConfig, spec: DataSpec) -> Self:
        """The model for images of this size."""
        return cls(config, spec)

    def _draw_weights(self) -> None:
        """Xavier's matrices in the blocks, so that narrow ones learn as well as wide ones do.

        Pixels of size 1 become features of size 1. Positions start at half of that: at the 0.02 of
        the paper it takes long until a narrow model tells its patches apart.
        """
        for name, weight in self.named_parameters():
            if weight.ndim > 1:
                nn.init.trunc_normal_(weight, std=SPREAD)
            elif name.endswith("bias"):
                nn.init.zeros_(weight)
        for block in self.blocks:
            for layer in block.modules():
                if isinstance(layer, nn.Linear):
                    nn.init.xavier_uniform_(layer.weight)
        kernel = self.patches.projection.weight
        nn.init.trunc_normal_(kernel, std=kernel[0].numel() ** -0.5)
        nn.init.trunc_normal_(self.positions, std=POSITION_SPREAD)

    @property
    def blocks(self) -> Iterable[TransformerBlock]:
        """The transformer blocks, in order."""
        return cast(Iterable[TransformerBlock], self.h)

    def forward(self, images: Tensor) -> Tensor:
        """(B, channels, I, J) -> (B, C)."""
        x = self._embed(images)
        for block in self.blocks:
            x = block(x)
        x = self.ln_f(x)
        logits: Tensor = self.head(x.mean(dim=1) if self.class_token is None else x[:, 0])
        return logits

    def patch_side(self) -> int:
        """The pixels of a patch along each side."""
        return self.side

    @torch.no_grad()
    def attention_weights(self, images: Tensor) -> tuple[Tensor, ...]:
        """The weights (B, H, T, T) of every block, by the plain formula."""
        x, weights = self._embed(images), []
        for block in self.blocks:
            weights.append(block.attn.attention_weights(block.attended(x)))
            x = block(x)
        return tuple(weights)

    def _embed(self, images: Tensor) -> Tensor:
        """Images as vectors (B, T, D): the class token, if there is one, and the patches."""
        check_sides("this model has positions for images", images, self.sides)
        x = self.patches(images)
        if self.class_token is not None:
            x = torch.cat((self.class_token.expand(x.shape[0], -1, -1), x), dim=1)
        embedded: Tensor = self.drop(x + self.positions)
        return embedded


def _build_block(config: ViTConfig) -> TransformerBlock:
    return TransformerBlock(
        MultiHeadAttention(config.width, config.heads, dropout=config.dropout),
        FeedForward(config.width, EXPANSION * config.width, nn.GELU()),
        dropout=config.dropout,
        norm=partial(nn.LayerNorm, eps=config.norm_eps),
    )


def _make_size(size: ViTSize) -> type[ViT]:
    return make_variant(
        ViT,
        size.kind,
        card=card_of(f"{size.title}: 12 blocks of {size.width} features on patches of 16 x 16."),
        defaults={"patch": 16, "layers": 12, "heads": size.heads, "width": size.width},
    )


__getattr__ = find_variant(__name__, (_make_size(size) for size in VITS.values()))
