"""Pairs of an image and its mask, matched by their names: data for segmentation.

    root/images/7.png, root/masks/7.png              parts are held out by chance
    root/train/images/7.png, root/train/masks/7.png  the same below train, val and test

A mask goes with the image of the same name, whatever the two names end in. Images that are brought
to another size take their masks along.

Shapes: N pairs, C channels, I rows, J columns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import torch
from torch import Tensor

from netwright.core.config import Doc, Size
from netwright.core.errors import ConfigError
from netwright.data.dataset import Data, check_data
from netwright.data.files.file_names import shown
from netwright.data.images.decoding import CHANNELS, ImageForm, ImageHeader, ImageMode
from netwright.data.images.encoder import ImageEncoder
from netwright.data.images.listing import check_folder
from netwright.data.images.masks import encode_masks, mask_values
from netwright.data.images.normalization import measured_scaling
from netwright.data.images.pair_files import (
    all_good,
    find_pairs,
    pair_folders,
    part_folders,
    read_masks,
)
from netwright.data.images.reading import read_headers, read_pixels
from netwright.data.pixels import PixelSplit
from netwright.data.source import DataConfig, Source
from netwright.data.split import hold_out


@dataclass(frozen=True, kw_only=True)
class PairsConfig(DataConfig):
    """A folder of images and their masks, of your own."""

    path: Annotated[
        str,
        Doc("the folder: with subfolders images and masks, optionally under train, val and test"),
    ] = ""
    size: Annotated[
        tuple[Size, ...],
        Doc("height and width, or one number for both; default: the images' own size"),
    ] = ()
    mode: Annotated[
        Literal["auto"] | ImageMode,
        Doc(
            "L is greyscale, RGB colour, RGBA with alpha; auto: L if all images are grey, else RGB"
        ),
    ] = "auto"
    class_names: Annotated[
        tuple[str, ...], Doc("names for the values of the masks, in ascending order")
    ] = ()


def is_pairs_folder(path: str | Path) -> bool:
    """Whether a folder holds a folder of images beside one of masks, itself or below train."""
    return bool(pair_folders(Path(path)))


def load_pairs(config: PairsConfig) -> Data:
    """Read a folder of images and masks; what cannot be learned from is refused."""
    if not config.path:
        raise ConfigError("path is empty, wanted a folder of images and masks")
    root = Path(config.path).expanduser()
    check_folder(root)
    found = {part: find_pairs(folder) for part, folder in part_folders(root).items()}
    pairs = [pair for part in found.values() for pair in part]
    files = [pair.image for pair in pairs]
    headers = all_good(read_headers(files))
    form = _form(headers, config)
    pixels, bad = read_pixels(files, form)
    all_good(list(bad.values()))
    masks = read_masks(pairs, form.height, form.width)
    values = mask_values(masks, config.class_names)
    data = mask_data(
        shown(root.resolve().name),
        pixels,
        encode_masks(masks, values),
        _rows({part: len(its) for part, its in found.items()}, config),
        mode=form.mode,
        classes=dict(zip(values, config.class_names or map(str, values), strict=True)),
    )
    notes = tuple(_notes(headers, form, values, config))
    return replace(data, notes=notes, test_is_given="test" in found)


def mask_data(
    name: str,
    pixels: Tensor,
    masks: Tensor,
    rows: dict[str, Tensor],
    *,
    mode: ImageMode,
    classes: Mapping[int, str],
) -> Data:
    """Images and masks as data, scaled by the mean and deviation of the training images.

    Args:
        name: what refusals and reports call the data.
        pixels: bytes (N, C, I, J).
        masks: classes (N, I, J), uint8.
        rows: the places of the pairs of each part; a part without any is not there.
        mode: what the channels are.
        classes: the value of a pixel in a mask file -> its class, ascending.
    """
    scaling = measured_scaling(pixels[rows["train"]])
    encoder = ImageEncoder(
        input_shape=(CHANNELS[mode], *pixels.shape[2:]),
        mode=mode,
        target="mask",
        num_outputs=len(classes),
        class_names=tuple(classes.values()),
        mask_values=tuple(classes),
        mean=scaling.mean,
        scale=scaling.scale,
    )
    whole = PixelSplit(pixels=pixels, scaling=scaling, targets=masks)
    parts = {part: whole.take(places) for part, places in rows.items() if len(places)}
    data = Data(
        name=name,
        spec=encoder.spec,
        train=parts["train"],
        val=parts.get("val"),
        test=parts.get("test"),
        preprocessor=encoder,
    )
    check_data(data)
    return data


def _form(headers: Sequence[ImageHeader], config: PairsConfig) -> ImageForm:
    """The one mode and size of all images."""
    mode = config.mode
    if mode == "auto":
        mode = "L" if all(header.is_grey for header in headers) else "RGB"
    sizes = sorted({(header.height, header.width) for header in headers})
    if len(config.size) > 2:
        raise ConfigError(f"size must be height and width, got {len(config.size)} numbers")
    if not config.size and len(sizes) > 1:
        (low, left), (high, right) = sizes[0], sizes[-1]
        raise ConfigError(
            f"images of {low} x {left} to {high} x {right} cannot be batched together, set "
            f"data.size"
        )
    height, width = (config.size[0], config.size[-1]) if config.size else sizes[0]
    return ImageForm(mode=mode, height=height, width=width)


def _rows(counts: dict[str, int], config: PairsConfig) -> dict[str, Tensor]:
    """The places of the pairs of each part, which lie one part after the other, train first.

    A part to choose by is held out of the training pairs where none is there, and where these are
    all that there is, so is one to report on.
    """
    places = torch.split(torch.arange(sum(counts.values())), list(counts.values()))
    train, val, test = hold_out(
        counts["train"],
        val_size=0 if "val" in counts else config.val_size,
        test_size=config.test_size if len(counts) == 1 else 0,
        seed=config.split_seed,
    )
    return {"val": val, "test": test} | dict(zip(counts, places, strict=True)) | {"train": train}


def _notes(
    headers: Sequence[ImageHeader], form: ImageForm, values: Sequence[int], config: PairsConfig
) -> Iterator[str]:
    count = sum((header.height, header.width) != (form.height, form.width) for header in headers)
    if count:
        yield f"{count} images and their masks are resized to {form.height} x {form.width}"
    if not config.class_names:
        yield f"the values of the masks are the classes: {', '.join(map(str, values))}"


SOURCE = Source(
    config=PairsConfig,
    load=load_pairs,
    sentence="your own images and masks: a folder of each, matched by file name",
    origin="your files",
    licence="yours",
    inputs=("image",),
)
