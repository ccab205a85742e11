"""Images that are too small for a network are refused before any layer is made.

Shapes: one image is (channels, I, J).
"""

from netwright.core.errors import ConfigError
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
