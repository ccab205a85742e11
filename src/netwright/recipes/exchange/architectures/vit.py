"""A vision transformer as `transformers` has it: ViTForImageClassification.

Where the run read images, preprocessor_config.json says how they are scaled.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, cast

import torch
from torch import Tensor

from netwright.core.errors import RunError
from netwright.core.files.storage import as_json
from netwright.data.images.encoder import ImageEncoder
from netwright.models.exchange.task_labels import PROBLEMS, task_labels
from netwright.models.exchange.vit_config import differs_from_vit, to_vit_config
from netwright.models.exchange.vit_weights import to_vit
from netwright.models.model import Model
from netwright.models.vision.vit import ViT
from netwright.recipes.exchange.architectures.architecture import Architecture
from netwright.recipes.exchange.export_format import ExportSource

READ_THERE = (1, 3)  # channels that an image processor tells from rows and columns
SCALING = "preprocessor_config.json"
CLOSE = 1e-4  # of pixels, scaled there and here
BILINEAR = 2  # as pillow numbers it


class AsViT(Architecture):
    """ViT and its sizes."""

    family: ClassVar[type[Model]] = ViT
    title: ClassVar[str] = "ViT"

    def differs(self, source: ExportSource) -> str:
        """The mean of all patches, borders that are filled up, another target."""
        if source.spec.target not in PROBLEMS:
            return f"it predicts a target of kind {source.spec.target!r}"
        return differs_from_vit(cast(ViT, source.model))

    def config(self, source: ExportSource) -> dict[str, Any]:
        """The sizes and the names of the classes."""
        return {**to_vit_config(cast(ViT, source.model)), **task_labels(source.spec)}

    def weights(self, source: ExportSource) -> dict[str, Tensor]:
        """See `to_vit`."""
        return to_vit(source.model.state_dict())

    def others(self, source: ExportSource) -> Mapping[str, bytes]:
        """How images are scaled, where the run read some."""
        encoder = source.preprocessor
        if not isinstance(encoder, ImageEncoder) or encoder.input_shape[0] not in READ_THERE:
            return {}
        _, rows, columns = encoder.input_shape
        told = {
            "image_processor_type": "ViTImageProcessor",
            "do_resize": True,
            "size": {"height": rows, "width": columns},
            "resample": BILINEAR,
            "do_rescale": True,
            "rescale_factor": 1 / 255,
            "do_normalize": True,
            "image_mean": list(encoder.mean),
            "image_std": list(encoder.scale),
        }
        return {SCALING: as_json(told)}

    def kind(self, source: ExportSource) -> str:
        """There is one."""
        return "AutoModelForImageClassification"

    def outputs(self, theirs: Any, source: ExportSource, rows: Tensor) -> Tensor:
        """The logits."""
        logits: Tensor = theirs(pixel_values=rows).logits
        return logits

    def check_inputs(self, transformers: Any, source: ExportSource, folder: Path) -> None:
        """Images of the run's size must be scaled as here."""
        if not (folder / SCALING).exists():
            return
        scaled = transformers.AutoImageProcessor.from_pretrained(folder, local_files_only=True)
        rows = cast(Tensor, source.rows)
        raw = [image.numpy() for image in cast(Tensor, source.predictor.raw(rows))]
        got = scaled(raw, input_data_format="channels_first", return_tensors="pt")["pixel_values"]
        if got.shape != rows.shape or not torch.allclose(got, rows, rtol=0, atol=CLOSE):
            raise RunError(
                "exported to hf, images are scaled otherwise than in the run; nothing was written"
            )
