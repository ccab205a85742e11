"""How images are encoded, and all that is needed to encode the next ones in the same way.

    picture, of any kind -> bytes (C, I, J) -> (byte / 255 - mean) / scale, channel by channel

Shapes: N images, C channels, I rows, J columns, K outputs, F = C I J numbers of one image.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from netwright.core.errors import DataError, ShapeError
from netwright.core.flat_record import from_plain, to_plain
from netwright.data.encoder_checks import check_count, check_positive, check_sizes
from netwright.data.files.file_names import shown
from netwright.data.images.decoding import (
    CHANNELS,
    ImageForm,
    ImageMode,
    Resize,
    decode_file,
    decode_image,
)
from netwright.data.images.listing import files_at
from netwright.data.images.masks import encode_masks
from netwright.data.images.metadata import find_metadata, read_metadata, rows_of
from netwright.data.images.pair_files import find_images, find_pairs, pair_folders, read_masks
from netwright.data.images.reading import read_pixels
from netwright.data.pixels import ChannelScaling
from netwright.data.preprocessing import Preprocessor, readable
from netwright.data.raw_arrays import WHOLE, read_array, read_numbers, to_float32, to_floats
from netwright.data.spec import DataSpec
from netwright.data.tables.targets import TargetEncoder
from netwright.data.targets import encode_classes, encode_labels, encode_reals

ImageTarget = Literal["class", "labels", "real", "mask", "boxes"]


@dataclass(frozen=True, kw_only=True)
class ImageEncoder(Preprocessor):
    """Encodes pictures of one shape, and targets of one kind.

    It takes the path of an image or of a folder, pillow images, lists of these, and arrays of bytes
    (N, C, I, J) or (N, I, J, C).

    Args:
        input_shape: (C, I, J).
        mode: L is grey (C = 1), RGB colour (3), RGBA colour with alpha (4).
        target: what is predicted; a mask is a class for each pixel, boxes are of drawn data only.
        num_outputs: classes, labels or reals.
        mean: taken from each channel (C,), of bytes brought to [0, 1].
        scale: each channel is divided by it (C,).
        class_names: the classes or labels in the order of the outputs; empty for reals.
        target_names: the target columns of a metadata table.
        resize: how pictures of another size are brought to this one.
        mask_values: what each class is in a mask file, in the order of the outputs.
    """

    kind: ClassVar[str] = "images"

    input_shape: tuple[int, int, int]
    mode: ImageMode
    target: ImageTarget
    num_outputs: int
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    class_names: tuple[str, ...] = ()
    target_names: tuple[str, ...] = ()
    resize: Resize = "squash"
    mask_values: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Refuse channels that do not agree."""
        channels = (CHANNELS[self.mode], len(self.mean), len(self.scale))
        if channels != (self.input_shape[0],) * 3:
            raise ShapeError(
                f"mode, mean and scale must match the {self.input_shape[0]} channels of an image, "
                f"got {self.mode}, {len(self.mean)} and {len(self.scale)}"
            )

    @property
    def form(self) -> ImageForm:
        """What a picture is decoded to."""
        _, height, width = self.input_shape
        return ImageForm(mode=self.mode, height=height, width=width, resize=self.resize)

    @property
    def scaling(self) -> ChannelScaling:
        """How its bytes become floats."""
        return ChannelScaling(mean=self.mean, scale=self.scale)

    @property
    def spec(self) -> DataSpec:
        """What a model is built to fit."""
        return DataSpec(
            inputs="image",
            input_shape=self.input_shape,
            target=self.target,
            num_outputs=self.num_outputs,
            class_names=self.class_names,
            target_names=self.target_names,
        )

    def read(self, source: Any) -> Tensor:
        """Pictures of any kind -> bytes (N, C, I, J)."""
        if isinstance(source, str | os.PathLike):
            source = self.files(Path(source))
        if isinstance(source, Image.Image):
            source = [source]
        if isinstance(source, list | tuple) and source:
            if all(isinstance(one, str | os.PathLike) for one in source):
                return self._read_files([Path(one) for one in source])
            if all(isinstance(one, Image.Image) for one in source):
                named = ((one, f"image {place}") for place, one in enumerate(source))
                return torch.stack([decode_image(one, self.form, name) for one, name in named])
        return self._read_bytes(source)

    def files(self, path: Path) -> list[Path]:
        """The image at a path, or all below a folder; masks that lie beside them are none."""
        folders = pair_folders(path) if self.target == "mask" else []
        if folders:
            return [file for folder in folders for file in find_images(folder)]
        return files_at(path)

    def encode(self, source: Any) -> Tensor:
        """Pictures of any kind -> float32 (N, C, I, J)."""
        return self.scaling.encode(self.read(source))

    def encode_targets(self, source: Any) -> Tensor:
        """Class indices (N,), labels or reals (N, K), masks (N, I, J); of a folder, those it names.

        A folder names the class of an image by the folder right below it, or has a metadata table;
        masks lie beside their images. Boxes (N, M, 5) are arrays as in `Split`.
        """
        if isinstance(source, str | os.PathLike):
            return self._folder_targets(Path(source))
        if self.target == "class":
            return encode_classes(source, self.class_names)
        if self.target == "mask":
            return self._masks(source)
        if self.target == "boxes":
            return to_float32("boxes", to_floats("boxes", read_numbers("boxes", source)))
        encode = encode_labels if self.target == "labels" else encode_reals
        return encode(source, self.num_outputs)

    def decode_masks(self, classes: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Classes (..., I, J) -> the values that the masks have in their files."""
        return np.array(self._known_values())[classes]

    def units(self) -> tuple[Tensor, Tensor]:
        """Offset and scale of every number of an image (F,): byte = encoded * scale + offset."""
        channels, height, width = self.input_shape
        mean, scale = torch.tensor([self.mean, self.scale], dtype=torch.float64) * 255
        size = (channels, height * width)
        return mean[:, None].expand(size).flatten(), scale[:, None].expand(size).flatten()

    def decode(self, inputs: Tensor) -> list[dict[str, str]]:
        """The mean byte of each channel, and the least and the largest: nobody reads all pixels."""
        offset, scale = self.units()
        raw = inputs.flatten(1).double() * scale + offset  # (N, F)
        return [
            {name: _summary(channel) for name, channel in zip(self.mode, image, strict=True)}
            for image in raw.reshape(len(raw), self.input_shape[0], -1)  # (C, I J) each
        ]

    def check_numbers(self) -> None:
        """Refuse pictures of no size, channels divided by nothing, and values of other masks."""
        check_sizes("input_shape", *self.input_shape)
        check_positive("scale", *self.scale)
        if self.mask_values:
            check_count(self.num_outputs, mask_values=self.mask_values)

    def to_json(self) -> dict[str, Any]:
        """Plain lists, numbers and text."""
        return to_plain(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "ImageEncoder":
        """The encoder that `to_json` gave, number for number."""
        return from_plain(cls, values)

    def _read_files(self, files: list[Path]) -> Tensor:
        if len(files) == 1:
            return decode_file(files[0], self.form)[None]
        pixels, bad = read_pixels(files, self.form)
        for refusal in bad.values():
            raise refusal
        return pixels

    def _read_bytes(self, source: Any) -> Tensor:
        array = read_array("images", source)
        if array.dtype != np.uint8:
            raise DataError(
                "images must be paths, pillow images or bytes (uint8) from 0 to 255, "
                f"got {array.dtype}"
            )
        channels, height, width = self.input_shape
        if channels == 1 and array.shape[1:] == (height, width):
            array = array[:, None]
        elif array.shape[1:] == (height, width, channels) != self.input_shape:
            array = np.moveaxis(array, -1, 1)
        elif array.shape[1:] != self.input_shape:
            raise ShapeError(
                f"images must have shape (N, {channels}, {height}, {width}) or "
                f"(N, {height}, {width}, {channels}), got {array.shape}"
            )
        return torch.from_numpy(np.array(array))  # a copy: the source may be read-only

    def _folder_targets(self, folder: Path) -> Tensor:
        if self.target == "mask":
            return self._masks_below(folder)
        files = files_at(folder)
        path = find_metadata(folder)
        if self.target == "boxes":
            raise DataError(f"boxes are not read from folders, got {shown(folder)}: pass an array")
        if path is not None and self.target_names:
            target = TargetEncoder(
                kind=self.target, columns=self.target_names, class_names=self.class_names
            )
            return target.encode(rows_of(read_metadata(path), folder, files))
        if self.target != "class" or not folder.is_dir():
            wanted = "a folder of classes" if self.target == "class" else "a folder with metadata"
            raise DataError(f"{shown(folder)} has no labels for its images, wanted {wanted}")
        classes = [shown(file.relative_to(folder).parts[0]) for file in files]
        return encode_classes(classes, self.class_names, "the folders")

    def _masks_below(self, folder: Path) -> Tensor:
        folders, values = pair_folders(folder), self._known_values()
        if not folders:
            wanted = "a folder of images and masks"
            raise DataError(f"{shown(folder)} has no labels for its images, wanted {wanted}")
        pairs = [pair for each in folders for pair in find_pairs(each)]
        masks = read_masks(pairs, self.form.height, self.form.width)
        for pair, mask in zip(pairs, masks, strict=True):
            unknown = np.setdiff1d(mask, values)
            if unknown.size:
                raise DataError(
                    f"{shown(pair.mask)} holds the value {unknown[0]}, the training masks have "
                    f"{', '.join(map(str, values))}"
                )
        return encode_masks(masks, values)

    def _known_values(self) -> tuple[int, ...]:
        if not self.mask_values:
            raise DataError("the values of the masks are not recorded: train the run again")
        return self.mask_values

    def _masks(self, source: Any) -> Tensor:
        array = read_array("masks", source)
        _, height, width = self.input_shape
        if array.dtype.kind not in WHOLE or array.shape[1:] != (height, width):
            raise ShapeError(
                f"masks must be whole numbers of shape (N, {height}, {width}), "
                f"got {array.dtype} {array.shape}"
            )
        if array.size and not 0 <= array.min() <= array.max() < self.num_outputs:
            raise DataError(
                f"masks must hold classes from 0 to {self.num_outputs - 1}, "
                f"got {array.min()} to {array.max()}"
            )
        return torch.from_numpy(array.astype(np.uint8))


def _summary(channel: Tensor) -> str:
    mean, low, high = (float(value) for value in (channel.mean(), channel.min(), channel.max()))
    return f"{readable(mean, 1)} ({readable(low, 1)} to {readable(high, 1)})"
