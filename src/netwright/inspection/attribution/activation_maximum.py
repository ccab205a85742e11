"""Activation maximisation: the image that a unit of a network responds to most.

Gradient ascent on the pixels, the weights held still, among images whose mean square is 1:

    x <- y / rms(y),   y = x + s g / rms(g),   g the gradient of the unit's activation at x

A unit of a convolution has a map of activations; the one in its middle is made large.

Shapes: U units, one image a unit (U, channels, I, J); s the length of a step.
Source: Erhan, Bengio, Courville and Vincent, "Visualizing Higher-Layer Features of a Deep
Network" (2009), section 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from netwright.core.checks import nearest
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.core.evaluation import differentiable, evaluating
from netwright.core.seeding import generator
from netwright.inspection.drawing.pictures import (
    COLUMNS,
    ROW_HEIGHT,
    Pixels,
    draw_pictures,
    num_rows,
    pixels_of,
)
from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.wording import number, quoted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STEPS, STEP = 100, 0.1
SIDE = 1.1  # inches of a picture's place
TINY = 1e-12  # a gradient of 0 stays 0


@dataclass(frozen=True, kw_only=True)
class Maximum:
    """The image of one unit.

    Args:
        unit: which output of the layer it is.
        activation: what the image makes of it.
        at_noise: what the noise made of it from which the ascent began.
        pixels: of the image; channels that are neither grey nor colour are averaged.
    """

    unit: int
    activation: float
    at_noise: float
    pixels: Pixels


@dataclass(frozen=True, kw_only=True)
class ActivationMaximum(View):
    """What some units of one layer respond to most.

    Args:
        layer: its path in the model.
        maxima: one a unit.
    """

    title: ClassVar[str] = "Activation maxima"

    layer: str
    maxima: tuple[Maximum, ...]

    @property
    def size(self) -> tuple[float, float]:
        """As high as there are rows of pictures."""
        return (SIDE * COLUMNS, SIDE * ROW_HEIGHT * num_rows(len(self.maxima)))

    @property
    def caption(self) -> str:
        """How to read it."""
        first = self.maxima[0]
        return (
            f"Images that make units of {quoted(self.layer)} respond most, found by gradient "
            "ascent from noise among images of one strength; below each its activation. That of "
            f"unit {first.unit} rose from {number(first.at_noise)} to {number(first.activation)}. "
            "They show what a unit responds to, and need not resemble any image of the data."
        )

    def draw(self, figure: "Figure") -> None:
        """One picture a unit."""
        draw_pictures(
            figure.subplots(),
            [(one.pixels, f"unit {one.unit}\n{number(one.activation)}") for one in self.maxima],
        )


def measure_activation_maximum(
    model: nn.Module, layer: str, units: Sequence[int], image_shape: tuple[int, int, int]
) -> ActivationMaximum:
    """The images that these units of a layer respond to most.

    Args:
        model: reads images (B, channels, I, J); it is not changed.
        layer: the path of a module in it, such as "features.0" or "classifier".
        units: channels of a convolution, or outputs of a dense layer.
        image_shape: (channels, I, J).
    """
    noise = ascend(model, layer, units, image_shape, steps=0)
    images = ascend(model, layer, units, image_shape)
    with evaluating(model):
        before = _activations(model, layer, units, noise)
        after = _activations(model, layer, units, images)
    shown = images if image_shape[0] in (1, 3) else images.mean(dim=1, keepdim=True)
    rows = zip(units, after.tolist(), before.tolist(), map(pixels_of, shown), strict=True)
    return ActivationMaximum(
        layer=layer,
        maxima=tuple(
            Maximum(unit=unit, activation=high, at_noise=low, pixels=pixels)
            for unit, high, low, pixels in rows
        ),
    )


def ascend(
    model: nn.Module,
    layer: str,
    units: Sequence[int],
    image_shape: tuple[int, int, int],
    *,
    steps: int = STEPS,
    seed: int = 0,
) -> Tensor:
    """Images (U, channels, I, J) of mean square 1 that the units respond to, one each.

    Args:
        model: reads images (B, channels, I, J); it is not changed.
        layer: the path of a module in it.
        units: channels of a convolution, or outputs of a dense layer.
        image_shape: (channels, I, J).
        steps: of gradient ascent.
        seed: of the noise that it begins with.
    """
    noise = torch.randn(len(units), *image_shape, generator=generator(seed, "ascend"))
    images = _of_one_strength(noise.to(device_of(model)))
    with evaluating(model), differentiable(model):
        for _ in range(steps):
            images.requires_grad_()
            # In evaluation mode each image has its own activation: the gradients do not mix.
            total = _activations(model, layer, units, images).sum()
            (gradient,) = torch.autograd.grad(total, images)
            images = _of_one_strength(images.detach() + STEP * _of_one_strength(gradient))
    return images


def _of_one_strength(images: Tensor) -> Tensor:
    """Each image over the root of its mean square."""
    return images / images.square().mean(dim=(1, 2, 3), keepdim=True).sqrt().clamp_min(TINY)


def _activations(model: nn.Module, layer: str, units: Sequence[int], images: Tensor) -> Tensor:
    """What image u makes of unit u (U,); of a map the middle counts."""
    outputs: list[Tensor] = []
    parts = dict(model.named_modules())
    if layer not in parts:
        raise ConfigError(f"the model has no layer {layer!r}{nearest(layer, parts)}")
    with parts[layer].register_forward_hook(lambda *call: outputs.append(call[-1])):
        model(images)
    output = outputs[0]
    for unit in units:
        if not 0 <= unit < output.shape[1]:
            raise ConfigError(
                f"a unit of {layer!r} must be from 0 to {output.shape[1] - 1}, got {unit}"
            )
    own = output[range(len(units)), list(units)]  # (U,), or a map (U, I', J')
    return own[:, own.shape[1] // 2, own.shape[2] // 2] if own.ndim == 3 else own
