"""Receptive fields: how many pixels of the input one place of a layer depends on.

    r_l = r_(l-1) + (k_l - 1) d_l j_(l-1),   j_l = j_(l-1) s_l,   r_0 = j_0 = 1,

for kernels of k values that lie d apart and move by strides s; the jump j counts the input pixels
between two neighbours of a layer. A place is all channels at one position: in most layers each of
them sees as much; where pixels are only moved into channels (PixelUnshuffle), they do together.
Layers are as they are at rest, and positions away from the border.

Every layer is in one of four tables; of one that is in none it is not known what it looks at.

Source: Araujo, Norris and Sim, "Computing Receptive Fields of Convolutional Neural Networks"
(2019).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from torch import nn

from netwright.core.checks import check_positive
from netwright.core.errors import ConfigError
from netwright.layers.convolution.locally_connected import LocallyConnected2d
from netwright.layers.convolution.pooling import GaussianPool2d

SLIDES = (
    *(nn.Conv1d, nn.Conv2d, nn.Conv3d, LocallyConnected2d),
    *(nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d, nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d),
    *(nn.LPPool1d, nn.LPPool2d, nn.LPPool3d, GaussianPool2d),
)
SEES_ALL = (
    *(nn.AdaptiveMaxPool1d, nn.AdaptiveMaxPool2d, nn.AdaptiveMaxPool3d),
    *(nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d),
    *(nn.Flatten, nn.Linear),
    # Their mean and spread are those of the whole image.
    *(nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d),
    *(nn.GroupNorm, nn.LayerNorm, nn.RMSNorm),
)
ENLARGES = (
    *(nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d),
    *(nn.MaxUnpool1d, nn.MaxUnpool2d, nn.MaxUnpool3d),
    *(nn.Upsample, nn.PixelShuffle, nn.Fold),
)
NORMALISES = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
ALONG_AN_AXIS = (nn.GLU, nn.Softmax, nn.LogSoftmax, nn.Softmin)
CHANNELS = 1  # the axis of them
POINTWISE = (
    *(nn.CELU, nn.ELU, nn.GELU, nn.Hardshrink, nn.Hardsigmoid, nn.Hardswish, nn.Hardtanh),
    *(nn.LeakyReLU, nn.LogSigmoid, nn.Mish, nn.PReLU, nn.ReLU, nn.ReLU6, nn.RReLU, nn.SELU),
    *(nn.Sigmoid, nn.SiLU, nn.Softplus, nn.Softshrink, nn.Softsign, nn.Tanh, nn.Tanhshrink),
    *(nn.Threshold, nn.Identity, nn.Softmax2d, nn.ChannelShuffle),
    *(nn.LocalResponseNorm, nn.CrossMapLRN2d),  # over neighbouring channels
    *(nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d),
    *(nn.AlphaDropout, nn.FeatureAlphaDropout),
    *(nn.ConstantPad1d, nn.ConstantPad2d, nn.ConstantPad3d),
    *(nn.ReflectionPad1d, nn.ReflectionPad2d, nn.ReflectionPad3d),
    *(nn.ReplicationPad1d, nn.ReplicationPad2d, nn.ReplicationPad3d),
    *(nn.CircularPad1d, nn.CircularPad2d, nn.CircularPad3d),
)


@dataclass(frozen=True, kw_only=True)
class Window:
    """What a layer looks at, along one dimension.

    Args:
        kernel: k.
        stride: s.
        dilation: d.
        layer: its name.
    """

    kernel: int
    stride: int = 1
    dilation: int = 1
    layer: str = ""

    def __post_init__(self) -> None:
        """Refuse what is not at least 1."""
        check_positive("kernel", self.kernel)
        check_positive("stride", self.stride)
        check_positive("dilation", self.dilation)


@dataclass(frozen=True, kw_only=True)
class ReceptiveField:
    """What one place of a layer depends on, along one dimension of the input.

    Args:
        layer: the name of the layer.
        size: r, in input pixels.
        jump: j, input pixels from one value of the layer to the next.
    """

    layer: str
    size: int
    jump: int


def receptive_fields(layers: Iterable[Window] | nn.Module, axis: int = -1) -> list[ReceptiveField]:
    """The receptive field after each layer that has a window.

    Args:
        layers: windows, or a module whose layers follow each other.
        axis: the dimension that is looked at where a module's windows are not square.
    """
    size = jump = 1
    fields = []
    for window in windows_of(layers, axis) if isinstance(layers, nn.Module) else layers:
        size += (window.kernel - 1) * window.dilation * jump
        jump *= window.stride
        fields.append(ReceptiveField(layer=window.layer, size=size, jump=jump))
    return fields


def windows_of(module: nn.Module, axis: int = -1) -> Iterator[Window]:
    """The windows of convolutions and poolings, up to the first layer that sees the whole image.

    Layers that work on each place by itself have none; a layer that is not known is refused.
    """
    for name, layer in _in_order(module, ""):
        if _sees_all(layer):
            return
        if isinstance(layer, ENLARGES):
            raise ConfigError(
                f"receptive fields need layers that do not enlarge, got {_described(layer, name)}"
            )
        if isinstance(layer, SLIDES):
            yield Window(
                kernel=_along(layer.kernel_size, axis),
                stride=_along(layer.stride or layer.kernel_size, axis),  # LPPool keeps its None
                dilation=_along(getattr(layer, "dilation", 1), axis),
                layer=name,
            )
        elif isinstance(layer, nn.PixelUnshuffle):
            side = layer.downscale_factor
            yield Window(kernel=side, stride=side, layer=name)
        elif not _is_pointwise(layer):
            raise ConfigError(
                "receptive fields need convolutions, poolings and layers that look at one place, "
                f"got {_described(layer, name)}, of which that is not known; give a list of Window"
            )


def _sees_all(layer: nn.Module) -> bool:
    if isinstance(layer, NORMALISES):  # without what it has learned of the data, by all of a batch
        return layer.running_mean is None
    return isinstance(layer, SEES_ALL)


def _is_pointwise(layer: nn.Module) -> bool:
    if isinstance(layer, ALONG_AN_AXIS):
        return layer.dim == CHANNELS
    return isinstance(layer, POINTWISE + NORMALISES)


def _in_order(module: nn.Module, path: str) -> Iterator[tuple[str, nn.Module]]:
    """The innermost layers with their paths, in the order in which they are applied."""
    if isinstance(module, nn.Sequential):
        for name, child in module.named_children():
            yield from _in_order(child, f"{path}.{name}".lstrip("."))
    elif next(module.children(), None) is None:
        yield path, module
    else:
        within = isinstance(getattr(module, "features", None), nn.Sequential)
        raise ConfigError(
            "receptive fields need layers that follow each other (nn.Sequential), "
            f"got {_described(module, path)}{'; give its .features' if within else ''}"
        )


def _described(module: nn.Module, path: str) -> str:
    return f"{type(module).__name__} at {path}" if path else type(module).__name__


def _along(setting: int | tuple[int, ...], axis: int) -> int:
    return setting if isinstance(setting, int) else setting[axis]
