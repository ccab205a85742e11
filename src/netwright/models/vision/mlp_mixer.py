r"""MLP-Mixer: dense layers mix the patches of an image, and the features of each patch, in turn.

    u = x + mlp_t(LN_1(x)^T)^T,    y = u + mlp_c(LN_2(u)),    logits = W mean(LN(y))

The token-mixing network sees one feature of all patches, and is the same for every feature; the
channel-mixing one sees all features of a patch, and is the same for every patch. There is neither
convolution nor attention. Parts have timm's names where it splits the model as we do.

Shapes: B batch, C outputs, N patches, D features of a patch; images (channels, I, J).
Source: Tolstikhin et al., "MLP-Mixer: An all-MLP Architecture for Vision" (2021), section 2.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Fraction, Size
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.layers.attention.feedforward import FeedForward
from netwright.layers.patches import PatchEmbedding, count_patches
from netwright.models.model import Functions, Model
from netwright.models.vision.image_size import check_sides

EPS = 1e-6  # of the norms


@dataclass(frozen=True, kw_only=True)
class MLPMixerConfig(Config):
    """Settings of an MLP-Mixer."""

    patch: Annotated[Size, Doc("rows and columns of a patch; borders are padded to a multiple")] = 4
    layers: Annotated[Size, Doc("blocks of token mixing and channel mixing")] = 8
    width: Annotated[Size, Doc("features per patch")] = 128
    token_hidden: Annotated[Size, Doc("hidden units of the token-mixing networks")] = 64
    channel_hidden: Annotated[Size, Doc("hidden units of the channel-mixing networks")] = 512
    dropout: Annotated[Fraction, Doc("dropout on residual branches")] = 0.0


class MixerBlock(nn.Module):
    """Patches learn of each other, feature by feature; then each works by itself.

    Args:
        patches: N.
        config: the widths.
    """

    def __init__(self, patches: int, config: MLPMixerConfig) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(config.width, eps=EPS)
        self.mlp_tokens = FeedForward(patches, config.token_hidden, nn.GELU())
        self.norm2 = nn.LayerNorm(config.width, eps=EPS)
        self.mlp_channels = FeedForward(config.width, config.channel_hidden, nn.GELU())
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """(B, N, D) -> (B, N, D)."""
        x = x + self.drop(self.mlp_tokens(self.norm1(x).mT).mT)
        mixed: Tensor = x + self.drop(self.mlp_channels(self.norm2(x)))
        return mixed


class MLPMixer(Model):
    """Patches, mixing blocks, norm; then one answer from the mean of all patches."""

    settings: ClassVar[type[Config]] = MLPMixerConfig
    code: ClassVar[Functions] = (MixerBlock.forward,)
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"image"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})
    card: ClassVar[Card] = Card(
        sentence="Dense layers mix an image's patches, and the features of each patch, in turn.",
        formula=r"U = X + W_2\, \phi(W_1\, \mathrm{LN}(X)), \quad"
        r" Y = U + \phi(\mathrm{LN}(U) W_3) W_4",
        symbols={
            "X": "the patches, (N, D)",
            "W_1, W_2": "token mixing, (hidden, N) and (N, hidden), the same for every feature",
            "W_3, W_4": "channel mixing, (D, hidden) and (hidden, D), the same for every patch",
            r"\phi": "GELU",
            r"\mathrm{LN}": "layer norm",
        },
        source="Tolstikhin et al. (2021), arXiv 2105.01601",
    )

    def __init__(self, config: MLPMixerConfig, spec: DataSpec) -> None:
        super().__init__(config, spec)
        channels, rows, columns = spec.input_shape
        self.sides = (rows, columns)
        patches = count_patches(rows, columns, config.patch)
        self.stem = PatchEmbedding(channels, config.width, config.patch)
        self.blocks = nn.Sequential(*(MixerBlock(patches, config) for _ in range(config.layers)))
        self.norm = nn.LayerNorm(config.width, eps=EPS)
        self.head = nn.Linear(config.width, spec.num_outputs)

    @classmethod
    def build(cls, config: MLPMixerConfig, spec: DataSpec) -> Self:
        """The model for images of this size."""
        return cls(config, spec)

    def forward(self, images: Tensor) -> Tensor:
        """(B, channels, I, J) -> (B, C)."""
        check_sides("this model mixes patches of images", images, self.sides)
        logits: Tensor = self.head(self.norm(self.blocks(self.stem(images))).mean(dim=1))
        return logits
