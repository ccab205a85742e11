"""The filters of a network's first convolution, as small pictures.

The first convolution looks at pixels, so its weights can be looked at as pixels.

Shapes: U filters (U, channels, I, J).
"""

import torch
from torch import Tensor, nn

from netwright.inspection.drawing.wording import quoted
from netwright.inspection.inside.filters import Filters, measure_filters

GREY_OR_COLOUR = (1, 3)  # channels that a picture can have


def measure_conv_filters(model: nn.Module) -> Filters | None:
    """The filters of the first convolution, the strongest first; None where there is none.

    Of inputs that are neither grey nor in colour, each picture shows one channel: the one to which
    its filter gives the longest weights.
    """
    convolutions = [
        (path, part) for path, part in model.named_modules() if isinstance(part, nn.Conv2d)
    ]
    if not convolutions:
        return None
    path, first = convolutions[0]
    weights = first.weight.detach()
    note = ""
    if weights.shape[1] not in GREY_OR_COLOUR:
        note = f"Each shows one of {weights.shape[1]} input channels: the strongest of its filter."
        weights = strongest_channel(weights)
    tall, wide = first.kernel_size
    whose = f"the {tall} x {wide} filters of the first convolution, {quoted(path or 'itself')},"
    return measure_filters(weights, whose=whose, note=note)


def strongest_channel(weights: Tensor) -> Tensor:
    """(U, channels, I, J) -> (U, 1, I, J): of each filter the channel with the longest weights."""
    channel = weights.flatten(2).norm(dim=2).argmax(dim=1)
    return weights[torch.arange(len(weights), device=weights.device), channel, None]
