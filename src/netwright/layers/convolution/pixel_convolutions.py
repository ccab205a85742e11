"""Convolutions over square images whose pixels come one after the other, as a sequence.

    x -> (D, I, I) -> ReLU(conv 3 x 3) ... -> as many pixels, each of which knows its neighbours

The encoder of a captioner: what it gives is read as other sequences are, place by place.

Shapes: B batch, I pixels along a side, S = I^2 pixels, D features of a pixel.
Source: Vinyals et al., "Show and Tell: A Neural Image Caption Generator" (2015); Xu et al., "Show,
Attend and Tell" (2015), for a decoder that looks at the places of the maps.
"""

from torch import Tensor, nn

from netwright.core.checks import check_shape


class PixelConvolutions(nn.Module):
    """Each pixel with those around it, (B, S, D) -> (B, S, D).

    Args:
        side: I.
        width: D.
        layers: convolutions.
    """

    def __init__(self, side: int, width: int, layers: int) -> None:
        super().__init__()
        self.side = side
        parts = ((nn.Conv2d(width, width, 3, padding=1), nn.ReLU()) for _ in range(layers))
        self.maps = nn.Sequential(*(part for pair in parts for part in pair))

    def forward(self, x: Tensor) -> Tensor:
        """The pixels row by row, and what the last convolution makes of them."""
        check_shape("pixels", x, "B", self.side**2, "D")
        seen: Tensor = self.maps(x.mT.reshape(len(x), -1, self.side, self.side))
        return seen.flatten(2).mT
