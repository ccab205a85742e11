"""Pictures as they are given: pillow images, or paths of image files, each with its target."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from netwright.core.config import Config
from netwright.core.errors import ConfigError, DataError
from netwright.data.arrays import read_weights
from netwright.data.dataset import Data
from netwright.data.given.arrays import check_same_form, is_pair
from netwright.data.given.form import GivenForm
from netwright.data.given.given import Given
from netwright.data.groups import read_groups
from netwright.data.images.folder import (
    ImageFolderConfig,
    decode_files,
    decode_pictures,
    image_data,
)
from netwright.data.images.labelled import LabelledImages
from netwright.data.images.listing import is_image_name
from netwright.data.spec import ClassType
from netwright.data.targets import (
    encode_classes,
    encode_labels,
    encode_reals,
    infer_kind,
    names_of_classes,
    read_targets,
    type_of_classes,
)

NAME = "pictures"
PARTS = {"train": "data", "val": "validation", "test": "test"}  # part -> what it is given as


def is_labelled_pictures(source: Any) -> bool:
    """Whether these are pictures in a list, with their targets."""
    return is_pair(source) and (_are_images(source[0]) or _are_paths(source[0]))


def _listed(source: Any) -> list[Any]:
    if hasattr(source, "to_list"):  # a series
        source = source.to_list()
    return list(source) if isinstance(source, Sequence) and not isinstance(source, str) else []


def _are_images(source: Any) -> bool:
    found = _listed(source)
    return bool(found) and all(isinstance(one, Image.Image) for one in found)


def _are_paths(source: Any) -> bool:
    found = _listed(source)
    return bool(found) and all(
        isinstance(one, os.PathLike) or (isinstance(one, str) and is_image_name(Path(one)))
        for one in found
    )


def _load(given: Given, config: ImageFolderConfig) -> Data:
    check_same_form(given, "(pictures, targets[, weights])")
    if config.path or config.target or config.split_column:
        raise ConfigError("path, target and split_column are of a folder: pictures are given")
    parts = {
        part: getattr(given, name)
        for part, name in PARTS.items()
        if getattr(given, name) is not None
    }
    pictures = [one for pair in parts.values() for one in _listed(pair[0])]
    found, class_type = _labelled(parts, config, has_parts=given.has_splits)
    if given.groups is not None:
        learned = _listed(given.data[0])
        own = read_groups(given.groups, len(learned))
        none = torch.full((len(pictures) - len(learned),), -1)  # of those nothing is held out
        found = replace(found, groups=None if own is None else torch.cat([own, none]))
    if _are_images(pictures):
        decoded = decode_pictures(pictures, found, config)
    elif _are_paths(pictures):
        folders = [file.resolve().parent for file in found.files]
        decoded = decode_files(found, Path(os.path.commonpath(folders)), config)
    else:
        raise DataError("pictures must all be pillow images, or all be paths")
    data = image_data(decoded, NAME, config)
    return replace(data, spec=replace(data.spec, class_type=class_type))


def _labelled(
    parts: Mapping[str, tuple[Any, ...]], config: ImageFolderConfig, *, has_parts: bool
) -> tuple[LabelledImages, ClassType]:
    """The pictures by their names, with what they show; classes are those of the training ones."""
    targets = read_targets(parts["train"][1])
    kind = infer_kind(targets)[0] if config.target_kind == "auto" else config.target_kind
    classes = names_of_classes(targets) if kind == "class" else ()
    width = 1 if targets.ndim == 1 else targets.shape[1]
    columns = ("y",) if width == 1 else tuple(f"y{place}" for place in range(width))
    names: list[Path] = []
    encoded, counted, which = [], [], []
    for part, (pictures, own, *weights) in parts.items():
        listed, name = _listed(pictures), f"{PARTS[part]} targets"
        names += [_name(one, place) for place, one in enumerate(listed)]
        if kind == "class":
            encoded.append(encode_classes(own, classes, name))
        else:
            encode = encode_labels if kind == "labels" else encode_reals
            encoded.append(encode(own, width, name))
        if len(encoded[-1]) != len(listed):
            raise DataError(f"there are {len(listed)} pictures but {len(encoded[-1])} {name}")
        counted.append(read_weights(weights[0] if weights else None, len(listed)))
        which += [part] * len(listed)
    found = LabelledImages(
        files=tuple(names),
        targets=torch.cat(encoded),
        target=kind,
        class_names=columns if kind == "labels" else classes,
        target_names=columns,
        parts=tuple(which) if has_parts else (),
        how="as given",
        weights=_joined(counted, [len(one) for one in encoded]),
    )
    return found, type_of_classes(targets) if kind == "class" else ""


def _name(picture: Any, place: int) -> Path:
    is_path = isinstance(picture, str | os.PathLike)
    return Path(picture) if is_path else Path(f"image {place}")


def _joined(weights: Sequence[Tensor | None], counts: Sequence[int]) -> Tensor | None:
    """The weights of all parts; a row without one counts once."""
    if all(one is None for one in weights):
        return None
    pairs = zip(weights, counts, strict=True)
    return torch.cat([torch.ones(count) if one is None else one for one, count in pairs])


def _settings(_pictures: Any, _given: Mapping[str, Any]) -> type[Config]:
    return ImageFolderConfig


LABELLED_PICTURES = GivenForm(
    name="(pillow images or paths, targets[, weights])",
    recognises=is_labelled_pictures,
    settings=_settings,
    load=_load,
)
