"""Images that are too small for a network, or not of the size that it was built for, are refused.

Shapes: one image is (channels, I, J), a batch (B, channels, I, J).
"""

from torch import Tensor

from netwright.core.errors import ConfigError, ShapeError
from netwright.data.spec import DataSpec


def check_image_size(reason: str, spec: DataSpec, least: int) -> None:
    """Refuse images with fewer than `least` rows or columns.

    Args:
        reason: what the network does that needs them: "vgg16 halves an image five times".
        spec: of the images.
        least: the fewest rows and columns that leave something to look at.
    """
    _, rows, columns = spec.input_shape
    if min(rows, columns) < least:
        raise ConfigError(
            f"{reason}: it must be at least {least} x {least}, got {rows} x {columns}"
        )


def check_sides(reason: str, images: Tensor, sides: tuple[int, int]) -> None:
    """Refuse images of another size than a network was built for.

    Args:
        reason: what ties it to its size: "this model has positions for images".
        images: (B, channels, I, J).
        sides: the rows and columns that it was built for.
    """
    if images.shape[-2:] != sides:
        wanted, got = (f"{rows} x {columns}" for rows, columns in (sides, images.shape[-2:]))
        raise ShapeError(f"{reason} of {wanted}, got {got}")
