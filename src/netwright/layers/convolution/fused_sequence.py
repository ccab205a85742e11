"""Layers one after the other, of which neighbours run as one operation where there is one.

Source: torch's `nn.Sequential`, whose names, parameters and outputs it has.
"""

from torch import Tensor, nn

from netwright.layers.convolution.fused_norm import has_fused_norm, normalized
from netwright.layers.convolution.fused_pooling import pooled
from netwright.layers.convolution.fused_stem import convolved
from netwright.layers.module_hooks import has_hooks


class Sequential(nn.Sequential):
    """`nn.Sequential` whose norms, poolings and first convolution run by kernels of their own."""

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, ...) -> what the last layer gives."""
        layers = list(self)
        skips = False
        for layer, behind in zip(layers, [*layers[1:], None], strict=True):
            if skips:
                skips = False
            elif isinstance(layer, nn.BatchNorm2d) and has_fused_norm(layer, x):
                skips = type(behind) is nn.ReLU and not has_hooks(behind)
                x = normalized(layer, x, rectifies=skips)
            elif isinstance(layer, nn.MaxPool2d):
                x = pooled(layer, x)
            elif isinstance(layer, nn.Conv2d):
                x = convolved(layer, x)
            else:
                x = layer(x)
        return x
