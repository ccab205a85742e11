"""Image files of any kind -> bytes of one shape.

Every picture is turned as its EXIF note says, brought to one mode (grey, colour, colour with
alpha) and to one size. Palettes, 1-bit, CMYK and transparency are resolved; what is transparent
shows white, unless the alpha channel is asked for. Depths beyond a byte are scaled by what the
depth can hold, never by what one image happens to hold:

    16 bits: byte = value / 257        floats, which must lie in [0, 1]: byte = 255 value

Of several frames or pages the first is read. A file that is not whole is refused, one that claims
to be huge before a pixel of it is decoded.

Shapes: C channels, I rows, J columns.
"""

import contextlib
import math
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
import torch
from PIL import Image, ImageOps, UnidentifiedImageError
from PIL.PngImagePlugin import PngImageFile
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.limits import INPUT, PIXELS
from netwright.data.files.file_names import shown
from netwright.data.images.decoding_room import ROOM
from netwright.data.images.exif_note import orientation, orientation_in_head
from netwright.data.images.quiet_pillow import QUIET

ImageMode = Literal["L", "RGB", "RGBA"]
Resize = Literal["squash", "crop", "pad"]

CHANNELS: dict[ImageMode, int] = {"L": 1, "RGB": 3, "RGBA": 4}
SUFFIXES = frozenset(
    ".png .jpg .jpeg .jpe .jfif .gif .bmp .dib .tif .tiff .webp .ppm .pgm .pbm .pnm".split()
)
BAND = 2**20  # pixels that are changed at a time

# Pillow knows more, among them formats that start another program.
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "DIB", "TIFF", "WEBP", "PPM")
_GREY = frozenset({"1", "L", "LA", "I", "I;16", "I;16B", "I;16L", "I;16N", "F"})
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_SIDEWAYS = (5, 6, 7, 8)


@dataclass(frozen=True, kw_only=True)
class ImageForm:
    """What every picture is brought to.

    Args:
        mode: L is grey, RGB colour, RGBA colour with alpha.
        height: I.
        width: J.
        resize: how another size becomes this one: `squash` stretches, `crop` brings the picture to
            the size that covers this one and takes its centre, `pad` brings it to the size that
            fits inside and leaves the rest black.
    """

    mode: ImageMode
    height: int
    width: int
    resize: Resize = "squash"

    def __post_init__(self) -> None:
        """Refuse a size for which there is no room, before the first image is brought to it."""
        INPUT.check(f"an image of {self.height} x {self.width}", math.prod(self.shape))

    @property
    def shape(self) -> tuple[int, int, int]:
        """(C, I, J)."""
        return CHANNELS[self.mode], self.height, self.width


@dataclass(frozen=True, kw_only=True)
class ImageHeader:
    """What a file says of its image before it is decoded; the size is that of the upright image."""

    height: int
    width: int
    is_grey: bool
    has_frames: bool


def read_header(path: str | Path) -> ImageHeader:
    """Size and mode of an image file; no pixel is decoded."""
    with refusing(path), QUIET, opened(path) as image:
        return opened_header(image)


def read_content_header(content: bytes, name: str = "image") -> ImageHeader:
    """The same of the bytes of a file."""
    with refusing(name), QUIET:
        return opened_header(open_content(content))


def opened_header(image: Image.Image) -> ImageHeader:
    """What the head of an image says that is open and may not be decoded yet."""
    width, height = image.size
    # A TIFF is turned by pillow, and its header has the upright size already.
    if image.format != "TIFF" and orientation_in_head(image) in _SIDEWAYS:
        width, height = height, width
    return ImageHeader(
        height=height,
        width=width,
        is_grey=image.mode in _GREY,
        has_frames=getattr(image, "is_animated", False),
    )


def header_of(image: Image.Image, name: str = "image") -> ImageHeader:
    """The same of an image in memory."""
    with refusing(name), QUIET:
        PIXELS.check("it", image.width * image.height / 1e6)
        turned = upright(image)
        return ImageHeader(
            height=turned.height,
            width=turned.width,
            is_grey=image.mode in _GREY,
            has_frames=getattr(image, "is_animated", False),
        )


def decode_file(path: str | Path, form: ImageForm) -> Tensor:
    """The image of a file as bytes (C, I, J)."""
    with refusing(path), QUIET, opened(path, whole=True) as image:
        return decoded(image, form)


def decode_content(
    content: bytes, form: ImageForm, name: str = "image", *, most: float = math.inf
) -> Tensor:
    """The same of the bytes of a file.

    Args:
        content: all of them.
        form: what the image is brought to.
        name: what refusals call it.
        most: bytes of memory that decoding may take.
    """
    with refusing(name), QUIET:
        return decoded(open_content(content, whole=True), form, most)


def decoded(image: Image.Image, form: ImageForm, most: float = math.inf) -> Tensor:
    """The pixels of an image whose header is read, as bytes (C, I, J)."""
    # A JPEG is decoded at a half, a quarter or an eighth where that is large enough.
    enough = 2 * max(form.height, form.width)
    pixels = image.width * image.height
    image.draft(None, (enough, enough))
    needed = _needed(image, form, pixels)
    if needed > most:
        raise ValueError(f"it takes {needed / 1e6:,.0f} MB to decode, more than {most / 1e6:,.0f}")
    with ROOM.hold(needed):
        return pixels_of(resized(with_mode(upright(image), form.mode), form))


def decode_image(image: Image.Image, form: ImageForm, name: str = "image") -> Tensor:
    """A pillow image as bytes (C, I, J).

    A large JPEG may differ by some levels from what `decode_file` gives: to decode it small would
    change the caller's image.
    """
    with refusing(name), QUIET:
        return pixels_of(resized(with_mode(upright(image), form.mode), form))


def upright(image: Image.Image) -> Image.Image:
    """The image turned as its EXIF note says."""
    image.load()
    turn = _TURNS.get(orientation(image))
    return image if turn is None else image.transpose(turn)


def with_mode(image: Image.Image, mode: ImageMode) -> Image.Image:
    """The image in grey or colour, a byte a channel."""
    if image.mode.startswith(("I", "F")):
        image = _as_bytes(image)
    if image.has_transparency_data and mode != "RGBA":
        return _by_bands(image, mode, lambda band: _on_white(band).convert(mode))
    return image if image.mode == mode else image.convert(mode)


def resized(image: Image.Image, form: ImageForm) -> Image.Image:
    """The image in the size of the form."""
    size, method = (form.width, form.height), Image.Resampling.BILINEAR
    if image.size == size:
        return image
    if form.resize == "crop":
        return ImageOps.fit(image, size, method)
    if form.resize == "pad":
        return ImageOps.pad(image, size, method)
    return image.resize(size, method)


def pixels_of(image: Image.Image) -> Tensor:
    """The bytes of an image in one of the modes (C, I, J): pillow keeps channels last."""
    stored = np.frombuffer(image.tobytes(), np.uint8).reshape(image.height, image.width, -1)
    return torch.from_numpy(stored.transpose(2, 0, 1).copy())  # numpy turns three times as fast


@contextlib.contextmanager
def refusing(name: str | Path) -> Iterator[None]:
    """Turn whatever a decoder stumbles over into one sentence that names the file."""
    try:
        yield
    except Exception as error:  # pillow's parsers raise errors of every kind
        sentence = f"{shown(name)} cannot be read as an image: {_reason(error)}"
        raise DataError(sentence) from None


@contextlib.contextmanager
def opened(path: str | Path, *, whole: bool = False) -> Iterator[Image.Image]:
    """An image whose header is read; with `whole`, a PNG whose checksums hold."""
    _check_regular(os.stat(path))
    with open(path, "rb") as file:
        yield _with_header(file, whole=whole)


def open_content(content: bytes, *, whole: bool = False) -> Image.Image:
    """The same of the bytes of a file."""
    if not content:
        raise ValueError("it is empty")
    return _with_header(BytesIO(content), whole=whole)


def _with_header(file: BinaryIO, *, whole: bool) -> Image.Image:
    image = Image.open(file, formats=_FORMATS)
    PIXELS.check("its header", image.width * image.height / 1e6, "claims")
    if whole:
        check_sums(image)
    return image


def check_sums(image: Image.Image) -> None:
    """Refuse a PNG that is open, not decoded, and damaged: to decode it skips the checksums.

    Pillow's `verify` does the same and leaves the image closed.
    """
    if isinstance(image, PngImageFile) and image.fp and image.png:
        image.fp.seek(image.tile[0][2] - 8)  # to the name of the first part with pixels
        image.png.verify()


def _check_regular(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise ValueError("it is a folder")
    if not stat.S_ISREG(status.st_mode):  # a pipe would be waited for
        raise ValueError("it is not a regular file")
    if status.st_size == 0:
        raise ValueError("it is empty")


def _needed(image: Image.Image, form: ImageForm, pixels: int) -> int:
    """Bytes that decoding takes at most: as pillow holds the image, turned, and in its new mode.

    Args:
        image: whose head is read, and which a JPEG decodes small.
        form: what it is brought to.
        pixels: of the whole image; a progressive JPEG holds all its coefficients.
    """
    stored = 1 if image.mode in {"1", "L", "P"} else 4
    copied = 1 if form.mode == "L" else 4
    if image.mode == form.mode:
        copied = 0 if orientation_in_head(image) == 1 else stored
    coefficients = 2 * len(image.getbands()) * pixels if "progressive" in image.info else 0
    return image.width * image.height * (stored + copied) + coefficients


def _by_bands(
    image: Image.Image, mode: ImageMode, change: Callable[[Image.Image], Image.Image]
) -> Image.Image:
    """What a change, pixel by pixel, makes of an image; its copies are of a few rows at a time."""
    if image.width * image.height <= BAND:
        return change(image)
    changed = Image.new(mode, image.size)
    for top, band in _bands(image):
        changed.paste(change(band), (0, top))
    return changed


def _bands(image: Image.Image) -> Iterator[tuple[int, Image.Image]]:
    """The first row of each band, and the band."""
    rows = max(1, BAND // image.width)
    for top in range(0, image.height, rows):
        yield top, image.crop((0, top, image.width, min(top + rows, image.height)))


def _on_white(image: Image.Image) -> Image.Image:
    image = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)


def _as_bytes(image: Image.Image) -> Image.Image:
    top = 1 if image.mode == "F" else 65535
    arrays = (np.asarray(band) for _, band in _bands(image))
    held = [(values.min(), values.max()) for values in arrays]
    low, high = np.min(held), np.max(held)
    if not (low >= 0 and high <= top):  # this way round NaN is refused too
        raise ValueError(f"its pixels must lie between 0 and {top}, got {low:g} to {high:g}")
    scale = 255 / top
    return _by_bands(image, "L", lambda band: _scaled(band, scale))


def _scaled(image: Image.Image, scale: float) -> Image.Image:
    return Image.fromarray(np.rint(np.asarray(image) * scale).astype(np.uint8))


def _reason(error: Exception) -> str:
    if isinstance(error, UnidentifiedImageError):
        return f"it is none of {', '.join(_FORMATS)}, or its header is damaged"
    if isinstance(error, Image.DecompressionBombError):
        return "its header claims more pixels than pillow accepts"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return shown(str(error) or type(error).__name__)[:200]
