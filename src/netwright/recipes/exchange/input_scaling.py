"""Raw inputs as part of an exported model, where scaling is all that encodes them.

    encoded = (raw - offset) / scale      per feature, per channel of an image

Tables, texts and series are encoded by more than a formula: their exported models take encoded
inputs, and the preprocessing is written beside them.

Shapes: B batch, F features, T steps, C channels, I rows, J columns.
"""

import torch
from torch import Tensor, nn

from netwright.data.array_encoder import ArrayEncoder
from netwright.data.images.encoder import ImageEncoder
from netwright.data.preprocessing import Preprocessor
from netwright.data.spec import DataSpec


class InputScaling(nn.Module):
    """The scaling of raw inputs, in the precision that they need.

    Args:
        offset: in the units of the raw inputs, (F,), (1, F) or (C, 1, 1).
        scale: the same shape.
        raw: the type of raw inputs.
    """

    offset: Tensor
    scale: Tensor

    def __init__(self, offset: Tensor, scale: Tensor, raw: torch.dtype) -> None:
        super().__init__()
        self.raw = raw
        self.register_buffer("offset", offset)
        self.register_buffer("scale", scale)

    def forward(self, raw: Tensor) -> Tensor:
        """Raw inputs (B, ...) -> float32 (B, ...)."""
        return ((raw.to(self.offset.dtype) - self.offset) / self.scale).float()

    def undo(self, encoded: Tensor) -> Tensor:
        """The raw inputs of encoded ones; bytes are exact."""
        values = encoded.double() * self.scale.double() + self.offset.double()
        return (values if self.raw.is_floating_point else values.round()).to(self.raw)


def build_input_scaling(preprocessor: Preprocessor, spec: DataSpec) -> InputScaling | None:
    """The scaling that a preprocessor does; None where it does something else, or nothing.

    Features stay in double precision until they are scaled: held in 24 bits, a timestamp such as
    1.7e9 loses its seconds.
    """
    if not isinstance(preprocessor, ArrayEncoder | ImageEncoder):
        return None
    offset, scale = (unit.reshape(spec.input_shape) for unit in preprocessor.units())
    if spec.inputs != "image":
        first = slice(0, 1) if spec.inputs == "series" else slice(None)
        return InputScaling(offset[first], scale[first], torch.float64)
    offset, scale = (unit[:, :1, :1].float() for unit in (offset, scale))
    is_bytes = isinstance(preprocessor, ImageEncoder)
    return InputScaling(offset, scale, torch.uint8 if is_bytes else torch.float32)
