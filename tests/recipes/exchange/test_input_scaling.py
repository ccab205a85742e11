"""The scaling inside an exported model is that of the preprocessor, number for number."""

from typing import Any

import numpy as np
import pytest
import torch

from netwright.data.array_encoder import ArrayEncoder
from netwright.data.images.encoder import ImageEncoder
from netwright.data.series.symbols import SymbolEncoder
from netwright.data.spec import DataSpec
from netwright.recipes.exchange.input_scaling import build_input_scaling

CLASSES: dict[str, Any] = {"target": "class", "num_outputs": 2, "class_names": ("a", "b")}


def encoder(shape: tuple[int, ...], **settings: Any) -> ArrayEncoder:
    return ArrayEncoder(input_shape=shape, **CLASSES, **settings)


def spec(inputs: Any, shape: tuple[int, ...]) -> DataSpec:
    return DataSpec(inputs=inputs, input_shape=shape, **CLASSES)


@pytest.mark.parametrize(
    ("inputs", "shape", "settings", "dtype"),
    [
        ("features", (3,), {"mean": (1.7e9, 0.0, -2.0), "scale": (5.0, 1.0, 0.1)}, torch.float64),
        ("series", (4, 2), {"mean": (1.0, 3.0), "scale": (2.0, 0.5)}, torch.float64),
        ("image", (2, 3, 4), {"factor": 1 / 16}, torch.float32),
    ],
)
def test_arrays_are_scaled_as_by_their_encoder(
    inputs: str, shape: tuple[int, ...], settings: dict[str, Any], dtype: torch.dtype
) -> None:
    rows = np.random.default_rng(0).normal(size=(5, *shape)).round(3)
    rows += 1.7e9 * (inputs == "features") * np.array([1, 0, 0])[: shape[-1]].sum()
    held = encoder(shape, **settings)
    scaling = build_input_scaling(held, spec(inputs, shape))
    assert scaling is not None
    assert scaling.raw == dtype
    encoded = held.encode(rows)
    got = scaling(torch.from_numpy(rows).to(dtype))
    assert got.dtype == torch.float32
    torch.testing.assert_close(got, encoded, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(scaling(scaling.undo(encoded)), encoded, rtol=1e-6, atol=1e-6)
    assert scaling.offset.numel() < np.prod(shape) or inputs == "features"  # once a channel or step


def test_pixels_come_as_bytes_and_come_back_exactly() -> None:
    held = ImageEncoder(
        input_shape=(3, 2, 5), mode="RGB", mean=(0.5, 0.4, 0.3), scale=(0.2, 0.3, 0.25), **CLASSES
    )
    pixels = torch.from_numpy(np.random.default_rng(1).integers(0, 256, (4, 3, 2, 5), np.uint8))
    scaling = build_input_scaling(held, spec("image", (3, 2, 5)))
    assert scaling is not None
    torch.testing.assert_close(scaling(pixels), held.encode(pixels.numpy()), rtol=1e-6, atol=1e-5)
    assert torch.equal(scaling.undo(held.encode(pixels.numpy())), pixels)


def test_what_is_not_scaled_stays_encoded() -> None:
    held = SymbolEncoder(symbols="ab", length=3, class_names=("a", "b"))
    tokens = DataSpec(inputs="tokens", input_shape=(3,), vocab_size=3, **CLASSES)
    assert build_input_scaling(held, tokens) is None
