"""What images of a user's own are brought to: the settings, and what they leave to the images."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from netwright.core.config import Doc, Size
from netwright.core.errors import ConfigError
from netwright.data.images.decoding import ImageForm, ImageHeader, Resize
from netwright.data.images.normalization import Normalization
from netwright.data.source import DataConfig

USUAL = 224  # the size that most networks for photos were made for
LARGEST = 512  # a side up to which images of one size keep it


@dataclass(frozen=True, kw_only=True)
class ImageConfig(DataConfig):
    """How images of any kind become inputs of one shape."""

    size: Annotated[
        tuple[Size, ...],
        Doc(
            "height and width, or one number for both; default: the images' own size if all "
            "agree, else 224"
        ),
    ] = ()
    resize: Annotated[
        Resize, Doc("squash stretches the image, crop takes its centre, pad adds black borders")
    ] = "squash"
    mode: Annotated[
        Literal["auto", "L", "RGB", "RGBA"],
        Doc(
            "L is greyscale, RGB colour, RGBA with alpha; auto: L if all images are grey, else RGB"
        ),
    ] = "auto"
    normalize: Annotated[
        Normalization,
        Doc("per-channel normalisation: imagenet's, that of the training images, or none"),
    ] = "imagenet"


def choose_form(headers: Sequence[ImageHeader], config: ImageConfig) -> tuple[ImageForm, list[str]]:
    """The one mode and size of all images, and how they were chosen."""
    mode = config.mode
    if mode == "auto":
        mode = "L" if all(header.is_grey for header in headers) else "RGB"
    sizes = sorted({(header.height, header.width) for header in headers})
    height, width = _size(sizes, config)
    notes = [f"every image is {height} x {width}, {mode}"]
    if sizes != [(height, width)]:
        (low, left), (high, right) = sizes[0], sizes[-1]
        span = f"{low} x {left}" + (f" to {high} x {right}" if len(sizes) > 1 else "")
        notes = [f"images of {span} are resized to {height} x {width} ({config.resize}), {mode}"]
    frames = sum(header.has_frames for header in headers)
    if frames:
        notes.append(f"{frames} files have several frames or pages, of which the first is read")
    return ImageForm(mode=mode, height=height, width=width, resize=config.resize), notes


def _size(sizes: Sequence[tuple[int, int]], config: ImageConfig) -> tuple[int, int]:
    if len(config.size) > 2:
        raise ConfigError(f"size must be height and width, got {len(config.size)} numbers")
    if config.size:
        return config.size[0], config.size[-1]
    same = len(sizes) == 1 and max(sizes[0]) <= LARGEST
    return sizes[0] if same else (USUAL, USUAL)
