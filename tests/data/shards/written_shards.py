"""Shards of small pictures, each of which says its number in its pixels."""

import io
import json
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from netwright.data.dataset import Data
from netwright.data.shards.source import ImageShardsConfig, load_image_shards

SIDE = 4
CLASSES = ("cat", "dog", "owl")


def picture(number: int) -> bytes:
    """A PNG of 4 x 4 whose red and green are the number, by which it is known after decoding."""
    pixels = np.zeros((SIDE, SIDE, 3), np.uint8)
    pixels[..., 0], pixels[..., 1], pixels[..., 2] = number % 256, number // 256, 7
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def write_tar(path: Path, numbers: Sequence[int], *, record: bool = False) -> Path:
    """A tar file with a picture and a label a sample: .cls, or .json."""
    members: list[tuple[str, bytes]] = []
    for number in numbers:
        label = number % len(CLASSES)
        told = json.dumps({"label": CLASSES[label]}) if record else str(label)
        members += [(f"{number:05}.png", picture(number))]
        members += [(f"{number:05}.{'json' if record else 'cls'}", told.encode())]
    return write_members(path, members)


def write_members(path: Path, members: Sequence[tuple[str, bytes]], format: int = -1) -> Path:  # noqa: A002
    """A tar file of these files."""
    kind = tarfile.DEFAULT_FORMAT if format < 0 else format
    with tarfile.open(path, "w", format=kind) as tar:
        for name, content in members:
            about = tarfile.TarInfo(name)
            about.size = len(content)
            tar.addfile(about, io.BytesIO(content))
    return path


def write_parquet(
    path: Path, numbers: Sequence[int], *, rows: int = 4, record: bool = True
) -> Path:
    """A parquet file as Hugging Face writes it, in row groups of so many rows."""
    images = [picture(number) for number in numbers]
    label = pa.array([number % len(CLASSES) for number in numbers], pa.int64())
    column = [{"bytes": image, "path": None} for image in images] if record else images
    features = {"label": {"names": list(CLASSES), "_type": "ClassLabel"}}
    head = {"huggingface": json.dumps({"info": {"features": features}})}
    table = pa.table({"image": column, "label": label}).replace_schema_metadata(head)
    pq.write_table(table, path, row_group_size=rows)
    return path


def load(path: Path | str, **settings: Any) -> Data:
    """The shards at a path as data."""
    return load_image_shards(ImageShardsConfig(path=str(path), **settings))
