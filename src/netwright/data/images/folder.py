"""A folder of images as data: found, looked at, decoded, divided, with a note on every decision.

Every file is decoded once before any training, so that all bad ones are known. What fits in memory
is held as bytes; what does not is decoded again whenever a batch wants it.

Shapes: N images, C channels, I rows, J columns.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import torch
from PIL import Image
from torch import Tensor

from netwright.core.config import Doc, Fraction, Positive
from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Data, Split, check_data
from netwright.data.files.file_names import shown
from netwright.data.images.bad_files import OnBad, handle_bad_files
from netwright.data.images.chosen_form import ImageConfig, choose_form
from netwright.data.images.decoding import (
    ImageForm,
    ImageHeader,
    decode_file,
    decode_image,
    header_of,
)
from netwright.data.images.encoder import ImageEncoder
from netwright.data.images.fitted_encoder import fit_encoder
from netwright.data.images.labelled import LabelledImages, divide
from netwright.data.images.layout import find_images
from netwright.data.images.reading import most_kept, read_digests, read_headers, read_pixels
from netwright.data.images.stored_images import StoredImages
from netwright.data.loading.stored import StoredSplit
from netwright.data.pixels import PixelSplit
from netwright.data.source import Source


@dataclass(frozen=True, kw_only=True)
class ImageFolderConfig(ImageConfig):
    """A folder of images of your own."""

    path: Annotated[
        str,
        Doc(
            "the folder: one subfolder per class, optionally under train, val and test, or "
            "metadata.csv"
        ),
    ] = ""
    on_bad: Annotated[
        OnBad,
        Doc(
            "unreadable files: stop, skip them, or quarantine: skip, and list them in "
            ".quarantine/bad_files.txt"
        ),
    ] = "stop"
    most_bad: Annotated[Fraction, Doc("largest fraction of unreadable files that skip accepts")] = (
        0.01
    )
    memory: Annotated[Positive, Doc("GiB of images to hold in memory")] = 4.0
    target: Annotated[tuple[str, ...], Doc("the column of metadata.csv to predict")] = ()
    target_kind: Annotated[
        Literal["auto", "class", "real", "labels"], Doc("kind of target in metadata.csv")
    ] = "auto"
    split_column: Annotated[
        str | None,
        Doc(
            "the column of metadata.csv with the split; a column named 'split' is "
            "used automatically"
        ),
    ] = None


def load_image_folder(config: ImageFolderConfig) -> Data:
    """Read a folder; what cannot be learned from is refused before any training."""
    if not config.path:
        raise ConfigError(
            "path is empty, wanted a folder of images: name it as the data, or set data.path"
        )
    root = Path(config.path).expanduser()
    found = find_images(
        root,
        target=config.target,
        target_kind=config.target_kind,
        split_column=config.split_column,
    )
    return image_data(decode_files(found, root, config), shown(root.resolve().name), config)


def image_data(decoded: "DecodedImages", name: str, config: ImageFolderConfig) -> Data:
    """Decoded images as data: divided, normalised and checked."""
    images = decoded.images
    places, divided = divide(
        images, val_size=config.val_size, test_size=config.test_size, seed=config.split_seed
    )
    pixels = partial(_pixels_at, decoded)
    encoder = fit_encoder(images, decoded.form, config.normalize, places["train"], pixels)
    splits = _splits(decoded, places, encoder)
    data = Data(
        name=name,
        spec=encoder.spec,
        train=splits["train"],
        val=splits.get("val"),
        test=splits.get("test"),
        preprocessor=encoder,
        notes=(*decoded.notes, divided, *_shared(splits)),
        test_is_given="test" in images.parts,
    )
    check_data(data)
    return data


SOURCE = Source(
    config=ImageFolderConfig,
    load=load_image_folder,
    sentence="your own images: one folder per class, or a folder with metadata.csv",
    origin="your files",
    licence="yours",
    inputs=("image",),
)


@dataclass(frozen=True, kw_only=True)
class DecodedImages:
    """The good images of a folder.

    Args:
        images: their files, and what they show.
        form: what they are brought to.
        pixels: (N, C, I, J), or None where they do not fit in memory.
        digests: then the sha256 of each file.
        notes: what was decided on the way.
    """

    images: LabelledImages
    form: ImageForm
    pixels: Tensor | None
    digests: Sequence[bytes]
    notes: tuple[str, ...]


def decode_pictures(
    pictures: Sequence[Image.Image], found: LabelledImages, config: ImageFolderConfig
) -> DecodedImages:
    """The same for images that are in memory already."""
    named = [(one, str(name)) for one, name in zip(pictures, found.files, strict=True)]
    form, chosen = choose_form([header_of(*one) for one in named], config)
    pixels = torch.stack([decode_image(one, form, name) for one, name in named])
    notes = (*found.notes, *chosen)
    return DecodedImages(images=found, form=form, pixels=pixels, digests=(), notes=notes)


def decode_files(found: LabelledImages, root: Path, config: ImageFolderConfig) -> DecodedImages:
    """Decode every file, and hold it where there is room; bad ones go as the settings say."""
    headers = read_headers(found.files)
    bad = {place: end for place, end in enumerate(headers) if isinstance(end, DataError)}
    good = [header for header in headers if isinstance(header, ImageHeader)]
    form, chosen = choose_form(good, config) if good else (None, [])
    pixels: Tensor | None = None
    digests: Sequence[bytes] = ()
    if form is not None:
        size = len(headers) * math.prod(form.shape) / 2**30
        if size <= min(config.memory, most_kept(found.files) / 2**30):
            pixels, bad = read_pixels(found.files, form)
        else:
            digests, bad = read_digests(found.files, form)
            chosen.append(_not_held(size, config.memory))
    left_out = handle_bad_files(
        {found.files[place]: str(refusal) for place, refusal in bad.items()},
        root=root,
        count=len(headers),
        on_bad=config.on_bad,
        most_bad=config.most_bad,
    )
    if form is None:
        raise DataError(f"{shown(root)} holds no images")
    if bad:
        kept = [place for place in range(len(headers)) if place not in bad]
        found, pixels = found.take(kept), None if pixels is None else pixels[kept]
    notes = (*found.notes, *left_out, *chosen)
    return DecodedImages(images=found, form=form, pixels=pixels, digests=digests, notes=notes)


def _not_held(size: float, memory: float) -> str:
    why = f"more than memory={memory:g}" if size > memory else "far more than their files"
    return (
        f"the images take {size:.3g} GiB, {why}: they are decoded batch by batch; train.workers=N "
        f"speeds this up"
    )


def _pixels_at(decoded: DecodedImages, rows: Tensor) -> Tensor:
    if decoded.pixels is not None:
        return decoded.pixels[rows]
    files = decoded.images.files
    return torch.stack([decode_file(files[row], decoded.form) for row in rows.tolist()])


def _splits(
    decoded: DecodedImages, places: dict[str, Tensor], encoder: ImageEncoder
) -> dict[str, Split]:
    images = decoded.images
    whole: Split
    if decoded.pixels is None:
        stored = StoredImages(images.files, encoder, decoded.digests)
        whole = StoredSplit(stored=stored, targets=images.targets, weights=images.weights)
    else:
        whole = PixelSplit(
            pixels=decoded.pixels,
            scaling=encoder.scaling,
            targets=images.targets,
            weights=images.weights,
        )
    return {part: whole.take(rows) for part, rows in places.items()}


def _shared(splits: dict[str, Split]) -> tuple[str, ...]:
    """Say how many images to choose by or to report on were also learned from."""
    digests = {
        part: [hashlib.blake2b(image.numpy().tobytes()).digest() for image in split.pixels]
        for part, split in splits.items()
        if isinstance(split, PixelSplit)
    }
    learned = set(digests.pop("train", ()))
    counts = {part: sum(one in learned for one in ones) for part, ones in digests.items()}
    return tuple(
        f"{count} {part} images are also in train, pixel for pixel"
        for part, count in counts.items()
        if count
    )
