"""The bytes of an image file that is opened once: first for its head, then for its pixels.

To open a small PNG takes as long as to decode it.
"""

import math

from PIL import Image
from torch import Tensor

from netwright.data.images.decoding import (
    ImageForm,
    ImageHeader,
    check_sums,
    decoded,
    open_content,
    opened_header,
    refusing,
)
from netwright.data.images.quiet_pillow import QUIET


class ImageContent:
    """The bytes of one file.

    Args:
        content: all of them.
        name: what refusals call it.
    """

    def __init__(self, content: bytes, name: str = "image") -> None:
        self._content, self._name = content, name
        self._open: Image.Image | None = None

    def header(self, *, keeps: bool = False) -> ImageHeader:
        """Size and mode.

        Args:
            keeps: whether a PNG stays open until it is decoded. It holds its notes so long, which
                may be thousands of times as large as its bytes, but never its pixels.
        """
        with refusing(self._name), QUIET:
            image = open_content(self._content)
            header = opened_header(image)
        is_decoded = getattr(image, "fp", None) is None  # to look for notes behind the pixels
        if keeps and image.format == "PNG" and not is_decoded:
            self._open = image
        return header

    def decode(self, form: ImageForm, *, most: float = math.inf) -> Tensor:
        """The image as bytes (C, I, J).

        Args:
            form: what the image is brought to.
            most: bytes of memory that decoding may take.
        """
        image, self._open = self._open, None
        with refusing(self._name), QUIET:
            if image is None:
                image = open_content(self._content)
            check_sums(image)
            return decoded(image, form, most)
