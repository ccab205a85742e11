r"""Patches: an image as a sequence of small squares, each a vector.

    (C, I, J)  ->  N = (I / p) (J / p) patches of p p C numbers, row by row

A linear map of every patch is a convolution with kernel and stride p. An image whose sides p does
not divide is filled up with zeros at its right and its lower edge.

Shapes: B batch, C channels, I rows, J columns, p side of a patch, N patches, D width.
Source: Dosovitskiy et al., "An Image is Worth 16x16 Words" (2020), section 3.1.
"""

from torch import Tensor, nn
from torch.nn import functional

from netwright.core.checks import check_shape
from netwright.core.errors import ShapeError


def count_patches(rows: int, columns: int, side: int) -> int:
    """N of an image of this size."""
    return -(-rows // side) * -(-columns // side)


def fill_up(images: Tensor, side: int) -> Tensor:
    """Images (B, C, I, J) with zeros at the right and below, so that the side divides I and J."""
    rows, columns = images.shape[-2:]
    if rows % side == columns % side == 0:
        return images
    return functional.pad(images, (0, -columns % side, 0, -rows % side))


def patchify(images: Tensor, side: int) -> Tensor:
    """(B, C, I, J) -> (B, N, p p C), of each patch channel after channel, as a kernel has them."""
    check_shape("images", images, "B", "C", "I", "J")
    return functional.unfold(fill_up(images, side), side, stride=side).mT


def unpatchify(patches: Tensor, side: int, rows: int, columns: int) -> Tensor:
    """(B, N, p p C) -> (B, C, I, J): what `patchify` was given."""
    check_shape("patches", patches, "B", "N", "F")
    if patches.shape[1] != count_patches(rows, columns, side):
        raise ShapeError(
            f"an image of {rows} x {columns} has {count_patches(rows, columns, side)} patches of "
            f"{side} x {side}, got {patches.shape[1]}"
        )
    filled = (rows + -rows % side, columns + -columns % side)
    images = functional.fold(patches.mT, filled, side, stride=side)
    return images[..., :rows, :columns]


class PatchEmbedding(nn.Module):
    """Every patch as a vector: one linear map for all of them.

    Args:
        channels: C.
        width: D.
        side: p.
    """

    def __init__(self, channels: int, width: int, side: int) -> None:
        super().__init__()
        self.side = side
        self.projection = nn.Conv2d(channels, width, side, stride=side)

    def forward(self, images: Tensor) -> Tensor:
        """(B, C, I, J) -> (B, N, D)."""
        maps: Tensor = self.projection(fill_up(images, self.side))  # (B, D, I / p, J / p)
        return maps.flatten(2).mT
