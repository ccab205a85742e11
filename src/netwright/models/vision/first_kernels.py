"""First kernels of networks for images: normal numbers, their variance 2 / (k^2 channels out).

Gradients then keep their size on the way back through convolutions and ReLUs.

Source: He et al., "Delving Deep into Rectifiers" (2015), section 2.2.
"""

from torch import nn


def draw_kernels(module: nn.Module) -> None:
    """Draw the kernels of all convolutions anew."""
    for layer in module.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
