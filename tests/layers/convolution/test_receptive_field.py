"""Receptive fields: the formula against the support of gradients, and published networks."""

import re
from random import Random

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError
from netwright.layers.convolution.locally_connected import LocallyConnected2d
from netwright.layers.convolution.pooling import GaussianPool2d
from netwright.layers.convolution.receptive_field import (
    ReceptiveField,
    Window,
    receptive_fields,
    windows_of,
)
from tests.repetition import for_each


def random_stack(seed: int) -> nn.Sequential:
    """Convolutions with positive weights and means: no path to a pixel cancels another."""
    draw = Random(seed)
    layers: list[nn.Module] = []
    for _ in range(draw.randint(1, 4)):
        kernel, stride = draw.randint(1, 4), draw.randint(1, 3)
        if draw.random() < 0.3:
            layers.append(nn.AvgPool1d(kernel, stride))
        else:
            conv = nn.Conv1d(1, 1, kernel, stride, dilation=draw.randint(1, 3))
            nn.init.constant_(conv.weight, 1.0)
            layers += [conv, nn.Softplus()]
    return nn.Sequential(*layers).double()


def seen_pixels(network: nn.Module, shape: tuple[int, ...], place: tuple[int, ...]) -> Tensor:
    """The coordinates (pixels, dimensions) on which one output depends."""
    x = torch.zeros(1, 1, *shape, dtype=torch.float64, requires_grad=True)
    out = network(x)[(0, 0, *place)]
    return torch.autograd.grad(out, x)[0][0, 0].nonzero()


@pytest.mark.covers("receptive-field-growth")
@for_each("seed", range(12))
def test_it_is_the_support_of_the_gradient(seed: int) -> None:
    network = random_stack(seed)
    field = receptive_fields(network)[-1]
    shape = (field.size + field.jump,)
    assert network(torch.zeros(1, 1, *shape, dtype=torch.float64)).shape[-1] == 2
    for place, start in ((0, 0), (1, field.jump)):
        seen = seen_pixels(network, shape, (place,))
        assert (int(seen.min()), int(seen.max())) == (start, start + field.size - 1)


@pytest.mark.covers("receptive-field-growth")
def test_three_small_kernels_see_seven_pixels_and_with_strides_more() -> None:
    assert [field.size for field in receptive_fields([Window(kernel=3)] * 3)] == [3, 5, 7]
    strided = receptive_fields([Window(kernel=3, stride=2)] * 3)
    assert [(field.size, field.jump) for field in strided] == [(3, 2), (7, 4), (15, 8)]
    dilated = receptive_fields([Window(kernel=3, dilation=d) for d in (1, 2, 4)])
    assert [field.size for field in dilated] == [3, 7, 15]


@pytest.mark.covers("local-receptive-field")
def test_an_output_depends_on_its_window_alone() -> None:
    conv = nn.Conv2d(1, 1, 3).double()
    seen = seen_pixels(conv, (8, 9), (2, 4))
    window = torch.cartesian_prod(torch.arange(2, 5), torch.arange(4, 7))
    assert torch.equal(seen, window)


def test_published_networks() -> None:
    three, halve = Window(kernel=3), Window(kernel=2, stride=2)
    vgg16 = [window for count in (2, 2, 3, 3, 3) for window in (*[three] * count, halve)]
    last = receptive_fields(vgg16)[-1]
    assert (last.size, last.jump) == (212, 32)
    pool = Window(kernel=3, stride=2)
    first = (Window(kernel=11, stride=4), pool, Window(kernel=5), pool)
    last = receptive_fields([*first, *[three] * 3, pool])[-1]
    assert (last.size, last.jump) == (195, 32)  # AlexNet


def test_layers_of_a_module_are_read_in_order_up_to_the_first_that_sees_all() -> None:
    network = nn.Sequential(
        nn.Sequential(nn.Conv2d(1, 4, 5, padding=2), nn.BatchNorm2d(4), nn.ReLU()),
        nn.MaxPool2d(2),
        nn.LPPool2d(2, 2),
        GaussianPool2d(3, width=1.0, stride=1),
        LocallyConnected2d(4, 4, (5, 5), 3),
        nn.AdaptiveAvgPool2d(1),
        nn.Conv2d(4, 4, 7),
    )
    assert receptive_fields(network) == [
        ReceptiveField(layer="0.0", size=5, jump=1),
        ReceptiveField(layer="1", size=6, jump=2),
        ReceptiveField(layer="2", size=8, jump=4),
        ReceptiveField(layer="3", size=16, jump=4),
        ReceptiveField(layer="4", size=24, jump=4),
    ]


def test_windows_that_are_not_square_are_read_along_an_axis() -> None:
    conv = nn.Conv2d(1, 1, (3, 5), stride=(2, 1), dilation=(1, 3))
    assert list(windows_of(conv)) == [Window(kernel=5, stride=1, dilation=3)]
    assert list(windows_of(conv, axis=0)) == [Window(kernel=3, stride=2, dilation=1)]
    assert [field.size for field in receptive_fields(conv, axis=0)] == [3]


@pytest.mark.parametrize("layer", [nn.Flatten(), nn.Linear(4, 4), nn.AdaptiveMaxPool2d(2)])
def test_what_sees_everything_ends_the_table(layer: nn.Module) -> None:
    assert len(receptive_fields(nn.Sequential(nn.Conv2d(1, 1, 3), layer, nn.Conv2d(1, 1, 3)))) == 1


def test_branches_and_enlarging_layers_are_refused() -> None:
    class Branches(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Conv2d(1, 1, 3)

    start = "receptive fields need layers that follow each other (nn.Sequential), got Branches"
    with pytest.raises(ConfigError, match=f"^{re.escape(start)}$"):
        receptive_fields(Branches())
    with pytest.raises(ConfigError, match=f"^{re.escape(start)} at 1$"):
        receptive_fields(nn.Sequential(nn.Conv2d(1, 1, 3), Branches()))
    sentence = "receptive fields need layers that do not enlarge, got Upsample"
    with pytest.raises(ConfigError, match=f"^{sentence}$"):
        receptive_fields(nn.Upsample(scale_factor=2))
    with pytest.raises(ConfigError, match=f"^{sentence} at 1.0$"):
        receptive_fields(nn.Sequential(nn.ReLU(), nn.Sequential(nn.Upsample(scale_factor=2))))


def test_a_whole_network_is_refused_and_its_features_are_named() -> None:
    class Whole(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.features = nn.Sequential(nn.Conv2d(1, 1, 3))

    sentence = (
        "receptive fields need layers that follow each other (nn.Sequential), got Whole; "
        "give its .features"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        receptive_fields(Whole())
    assert [field.size for field in receptive_fields(Whole().features)] == [3]


def test_volumes_have_windows_too() -> None:
    network = nn.Sequential(nn.Conv3d(1, 1, 3), nn.PReLU(), nn.BatchNorm3d(1), nn.MaxPool3d(2))
    assert [(field.size, field.jump) for field in receptive_fields(network)] == [(3, 1), (4, 2)]


def test_other_layers_with_weights_are_refused() -> None:
    sentence = (
        "receptive fields need convolutions, poolings and layers that look at one place, "
        "got LSTM at 1, of which that is not known; give a list of Window"
    )
    with pytest.raises(ConfigError, match=f"^{sentence}$"):
        receptive_fields(nn.Sequential(nn.Conv1d(1, 1, 3), nn.LSTM(4, 4)))


SIDE = 24
LAYERS: list[nn.Module] = [
    *(nn.Conv2d(4, 4, 3, stride=2, dilation=2), nn.Conv2d(4, 4, 5, padding="same", groups=2)),
    *(nn.LazyConv2d(4, 3), LocallyConnected2d(4, 4, (SIDE, SIDE), 3), GaussianPool2d(3, width=2.0)),
    *(nn.MaxPool2d(3, 2), nn.AvgPool2d(2), nn.LPPool2d(2, 3), nn.LPPool2d(2, 3, stride=1)),
    *(nn.PixelUnshuffle(2), nn.PixelUnshuffle(3), nn.PixelShuffle(2), nn.Fold(24, 3)),
    *(nn.Unfold(3), nn.FractionalMaxPool2d(3, output_size=9), nn.MaxUnpool2d(2)),
    *(nn.AdaptiveAvgPool2d(1), nn.AdaptiveMaxPool2d(2), nn.Flatten(), nn.Linear(SIDE, 3)),
    *(nn.Upsample(scale_factor=2), nn.UpsamplingBilinear2d(scale_factor=2)),
    *(nn.UpsamplingNearest2d(scale_factor=2), nn.ConvTranspose2d(4, 4, 3)),
    *(nn.BatchNorm2d(4), nn.BatchNorm2d(4, track_running_stats=False), nn.SyncBatchNorm(4)),
    *(nn.InstanceNorm2d(4), nn.GroupNorm(2, 4), nn.LayerNorm([4, SIDE, SIDE])),
    *(nn.LayerNorm(SIDE), nn.RMSNorm(SIDE), nn.LocalResponseNorm(3), nn.CrossMapLRN2d(3)),
    *(nn.Softmax(dim=1), nn.Softmax(dim=-1), nn.LogSoftmax(dim=2), nn.Softmin(dim=1)),
    *(nn.Softmax2d(), nn.GLU(dim=1), nn.GLU(), nn.ChannelShuffle(2), nn.Unflatten(2, (4, 6))),
    *(nn.ReflectionPad2d(2), nn.ReplicationPad2d(1), nn.CircularPad2d(2), nn.ZeroPad2d(1)),
    *(nn.ConstantPad2d(-1, 0.0), nn.Identity(), nn.Dropout(), nn.Dropout2d(), nn.AlphaDropout()),
    *(nn.CELU(), nn.ELU(), nn.GELU(), nn.Hardshrink(), nn.Hardsigmoid(), nn.Hardswish()),
    *(nn.Hardtanh(), nn.LeakyReLU(), nn.LogSigmoid(), nn.Mish(), nn.PReLU(), nn.ReLU()),
    *(nn.ReLU6(), nn.RReLU(), nn.SELU(), nn.Sigmoid(), nn.SiLU(), nn.Softplus(), nn.Tanh()),
    *(nn.Softshrink(), nn.Softsign(), nn.Tanhshrink(), nn.Threshold(0.1, 0.0)),
    *(nn.FeatureAlphaDropout(), nn.Bilinear(4, 4, 2), nn.Embedding(4, 4), nn.CosineSimilarity()),
    *(nn.MultiheadAttention(4, 2), nn.GRU(4, 4), nn.MSELoss(), nn.TransformerEncoderLayer(4, 2)),
]


def changed_columns(layer: nn.Module, shape: tuple[int, ...]) -> list[set[int]]:
    """For each output column, the input columns that change a value in it; by trying."""
    x = torch.rand(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) + 0.5
    before = layer(x)
    seen: list[set[int]] = [set() for _ in range(before.shape[-1])]
    for column in range(shape[-1]):
        for change in (5.0, -5.0):  # upwards and downwards: a maximum notices only one of them
            moved = x.clone()
            moved[..., column] += change
            differs = (layer(moved) != before).flatten(0, -2).any(dim=0)
            for place in differs.nonzero().flatten().tolist():
                seen[place].add(column)
    return seen


@for_each("layer", LAYERS, ids=str)
def test_each_layer_of_torch_is_counted_right_or_refused_or_sees_all(layer: nn.Module) -> None:
    layer = layer.eval().double()
    try:
        fields = receptive_fields(nn.Sequential(nn.Identity(), layer))
    except ConfigError as refusal:
        assert type(layer).__name__ in str(refusal)
        return
    seen = changed_columns(layer, (1, 4, SIDE, SIDE))
    middle = seen[len(seen) // 3]
    sees_all = layer(torch.zeros(1, 4, SIDE, SIDE).double()).dim() < 4 or len(middle) > SIDE // 3
    if sees_all:
        assert not fields
        return
    field = fields[-1] if fields else ReceptiveField(layer="", size=1, jump=1)
    assert max(middle) - min(middle) + 1 == field.size
    assert min(seen[len(seen) // 3 + 1]) - min(middle) == field.jump


def test_no_layer_of_torch_is_forgotten() -> None:
    tried = {type(layer).__name__ for layer in LAYERS}
    others = re.compile(
        r".*(1d|3d|Loss.*|Cell|Base|Container|Parallel|List|Dict)$|Lazy.*|Transformer.*|Module"
        r"|EmbeddingBag|PairwiseDistance|LSTM|RNN|Sequential"
    )
    named = {name for name in dir(nn) if isinstance(getattr(nn, name), type)}
    kinds = {name for name in named if issubclass(getattr(nn, name), nn.Module)}
    assert {name for name in kinds - tried if not others.fullmatch(name)} == set()


def test_pixels_moved_into_channels_are_seen_by_what_mixes_the_channels() -> None:
    mixed = nn.Conv2d(4, 1, 1).double()
    nn.init.constant_(mixed.weight, 1.0)
    network = nn.Sequential(nn.PixelUnshuffle(2), mixed)
    seen = seen_pixels(network, (6, 6), (1, 1))
    assert torch.equal(seen, torch.cartesian_prod(torch.arange(2, 4), torch.arange(2, 4)))
    assert [(field.size, field.jump) for field in receptive_fields(network)] == [(2, 2), (2, 2)]


def test_an_activation_of_ones_own_is_refused_by_its_name() -> None:
    class Blur(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.roll(1, -1) + x

    with pytest.raises(ConfigError, match="got Blur at 1, of which that is not known"):
        receptive_fields(nn.Sequential(nn.Conv2d(1, 1, 3), Blur()))


@pytest.mark.parametrize("setting", ["kernel", "stride", "dilation"])
def test_a_window_of_nothing_is_refused(setting: str) -> None:
    with pytest.raises(ConfigError, match=f"^{setting} must be positive, got 0$"):
        Window(**{"kernel": 3, setting: 0})  # type: ignore[arg-type]
