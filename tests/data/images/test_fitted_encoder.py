"""The encoder of own images: scaled by the training images alone, or by agreed numbers."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from netwright.data.images import fitted_encoder
from netwright.data.images.decoding import ImageForm
from netwright.data.images.fitted_encoder import fit_encoder
from netwright.data.images.labelled import LabelledImages

FORM = ImageForm(mode="L", height=1, width=2, resize="crop")
IMAGES = LabelledImages(
    files=(Path("a"), Path("b"), Path("c")),
    targets=torch.tensor([0, 1, 0]),
    target="class",
    class_names=("cat", "dog"),
)
BYTES = torch.tensor([[[[0, 51]]], [[[255, 255]]], [[[102, 51]]]], dtype=torch.uint8)


def test_mean_and_scale_are_those_of_the_training_images() -> None:
    encoder = fit_encoder(IMAGES, FORM, "train", torch.tensor([0, 2]), BYTES.__getitem__)
    levels = torch.tensor([0.0, 0.2, 0.4, 0.2], dtype=torch.float64)  # of bytes / 255
    assert encoder.mean == pytest.approx([levels.mean().item()])
    assert encoder.scale == pytest.approx([levels.std(correction=0).item()])
    assert (encoder.input_shape, encoder.resize) == ((1, 1, 2), "crop")
    assert (encoder.num_outputs, encoder.class_names) == (2, ("cat", "dog"))


def test_of_many_images_some_are_looked_at_and_for_agreed_numbers_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[list[int]] = []

    def pixels(rows: Tensor) -> Tensor:
        asked.append(rows.tolist())
        return BYTES[:1].expand(len(rows), -1, -1, -1)

    monkeypatch.setattr(fitted_encoder, "MOST_MEASURED", 3)
    fit_encoder(IMAGES, FORM, "train", torch.arange(10, 20), pixels)
    assert len(asked[0]) == 3
    assert set(asked[0]) <= set(range(10, 20))
    agreed = fit_encoder(IMAGES, FORM, "imagenet", torch.arange(10, 20), pixels)
    assert (agreed.mean, agreed.scale) == ((0.449,), (0.226,))
    assert len(asked) == 1
