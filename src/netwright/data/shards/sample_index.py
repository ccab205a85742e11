"""What is counted of a shard once, and kept in the cache: where its samples lie, and their labels.

    starts, sizes   of each image in a tar file (N,); of each row group of a parquet file (P,), in
                    rows and bytes
    codes, texts    the label of each sample (N,), by the texts that there are
    headers         height, width, grey and frames of some images (n, 4)
    sha256          of the whole file: what a run learned from can be told apart later

Shapes: N samples, P row groups, n of the images.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.files.open_tensors import open_tensors
from netwright.core.files.storage import write_pieces
from netwright.core.files.tensor_content import TensorContent
from netwright.data.files.shard import Shard
from netwright.data.images.decoding import ImageHeader
from netwright.data.loading.stored import evenly_spaced

FORMAT = 1
LOOKED_AT = 32  # images of a shard whose headers are read
TENSORS = ("starts", "sizes", "codes", "headers")
MOST_LABEL = 2**10  # characters of a label
LABELS = ("label", "labels", "cls", "class", "target")  # what a label is usually called


@dataclass(frozen=True, kw_only=True)
class SampleIndex:
    """See above."""

    starts: Tensor
    sizes: Tensor
    codes: Tensor
    texts: tuple[str, ...]
    headers: Tensor
    sha256: str

    def __len__(self) -> int:
        return len(self.codes)

    def save(self, path: Path) -> None:
        """Write it into the cache: whole, or not at all."""
        about = {"format": FORMAT, "texts": self.texts, "sha256": self.sha256}
        tensors = {name: getattr(self, name) for name in TENSORS}
        write_pieces(path, TensorContent(tensors, {"about": json.dumps(about)}))

    @classmethod
    def load(cls, path: Path) -> "SampleIndex | None":
        """That of an earlier run; None where there is none that can be read: it is made again."""
        try:
            with path.open("rb") as file, open_tensors(file, path) as found:
                about = json.loads(found.metadata()["about"])
                tensors = {name: found.get_tensor(name) for name in TENSORS}
            texts, sha256 = tuple(about["texts"]), about["sha256"]
        except (OSError, DataError, LookupError, TypeError, ValueError):
            return None
        return cls(**tensors, texts=texts, sha256=sha256)


def index_name(shard: Shard, *settings: str) -> str:
    """The name of its file in the cache, which another shard, or other settings, do not have."""
    told = json.dumps([FORMAT, *shard, *settings])
    return f"{hashlib.sha256(told.encode()).hexdigest()[:24]}.safetensors"


def coded(labels: Sequence[str]) -> tuple[Tensor, tuple[str, ...]]:
    """Labels as codes (N,) of the texts that there are."""
    texts = {text: place for place, text in enumerate(dict.fromkeys(labels))}
    return torch.tensor([texts[label] for label in labels], dtype=torch.int32), tuple(texts)


def some_places(count: int) -> list[int]:
    """The samples of a shard whose images are looked at."""
    places: list[int] = evenly_spaced(count, LOOKED_AT).tolist()
    return places


def as_numbers(headers: Sequence[ImageHeader]) -> Tensor:
    """Headers (n, 4)."""
    rows = [(one.height, one.width, one.is_grey, one.has_frames) for one in headers]
    return torch.tensor(rows, dtype=torch.int64).reshape(-1, 4)


def as_headers(numbers: Tensor) -> list[ImageHeader]:
    """The headers that numbers (n, 4) stand for."""
    return [
        ImageHeader(height=height, width=width, is_grey=bool(grey), has_frames=bool(frames))
        for height, width, grey, frames in numbers.tolist()
    ]


def label_text(value: object, shard: str, sample: str) -> str:
    """A label as the text that it is compared by; what is no label is refused."""
    if isinstance(value, str) and len(value) > MOST_LABEL:
        raise DataError(
            f"{shard}: the label of sample {sample} has {len(value):,} characters, at most "
            f"{MOST_LABEL:,} are read"
        )
    is_number = isinstance(value, bool | int) or (isinstance(value, float) and isfinite(value))
    if is_number or (isinstance(value, str) and value.strip()):
        return str(value).strip()
    raise DataError(
        f"{shard}: the label of sample {sample} must be a text or a number, got {value!r:.60}"
    )
