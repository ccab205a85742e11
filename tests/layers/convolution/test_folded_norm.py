"""A norm folded into its convolution says the same; what cannot be folded is left as it is."""

import copy
import platform
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.config import parse
from netwright.core.seeding import generator
from netwright.layers.convolution import folded_norm
from netwright.layers.convolution.folded_norm import (
    FoldedConvolution,
    fold_norms,
    folded_weights,
)
from netwright.layers.convolution.fused_norm import normalized
from netwright.layers.convolution.residual_block import BasicBlock
from netwright.models.catalog import MODELS
from tests.models.test_catalog import SMALLER, specs
from tests.repetition import for_each, slow_but


def draw(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=generator(0, "images"), dtype=torch.float64).to(dtype)


def learned(model: nn.Module, x: Tensor) -> nn.Module:
    """The model with scales, shifts and statistics that are not those of a new one, at rest."""
    drawn = generator(1, "norms")
    for part in model.modules():
        if isinstance(part, nn.BatchNorm2d) and part.affine:
            nn.init.uniform_(part.weight, -1.5, 1.5, generator=drawn)
            nn.init.uniform_(part.bias, -1, 1, generator=drawn)
    with torch.no_grad():
        model.train()(x)
    return model.eval()


def test_the_weights_are_those_worked_by_hand() -> None:
    convolution, norm = nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1, eps=1.0)
    for tensor, value in (
        (convolution.weight, 2.0),
        (convolution.bias, 5.0),
        (norm.weight, 6.0),
        (norm.bias, 7.0),
        (norm.running_mean, 1.0),
        (norm.running_var, 8.0),
    ):
        assert tensor is not None
        nn.init.constant_(tensor, value)
    weight, bias = folded_weights(convolution, norm)  # a scale of 6 / sqrt(8 + 1) = 2
    assert (weight.item(), bias.item()) == (4.0, 2 * (5 - 1) + 7)


KINDS: list[dict[str, Any]] = [
    {"bias": False, "padding": 1},
    {"stride": 2, "padding": (1, 0)},
    {"groups": 2, "dilation": 2, "padding": 2},
]


@for_each("settings", KINDS)
def test_one_convolution_does_what_convolution_norm_sum_and_relu_do(
    settings: dict[str, Any],
) -> None:
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.float64, 1e-12)):
        x = draw(3, 4, 9, 8, dtype=dtype)
        both = nn.Sequential(nn.Conv2d(4, 6, 3, **settings), nn.BatchNorm2d(6)).to(dtype)
        learned(both, x)
        assert isinstance(both[0], nn.Conv2d) and isinstance(both[1], nn.BatchNorm2d)
        folded = FoldedConvolution(both[0], both[1])
        with torch.no_grad():
            wanted = both(x)
            added = draw(*wanted.shape, dtype=dtype)
            cases = (
                (folded(x), wanted),
                (folded(x, rectifies=True), functional.relu(wanted)),
                (folded(x, added=added.clone()), wanted + added),
                (normalized(folded, x, added=added.clone()), functional.relu(wanted + added)),
                (FoldedConvolution(both[0], both[1], rectifies=True)(x), functional.relu(wanted)),
            )
        for said, meant in cases:
            torch.testing.assert_close(said, meant, atol=tolerance, rtol=tolerance)


def test_it_gives_gradients_to_who_looks_at_its_input() -> None:
    both = learned(nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3)), draw(4, 2, 5, 5))
    x = draw(1, 2, 5, 5).requires_grad_()
    folded = fold_norms(both, x.detach())
    (wanted,) = torch.autograd.grad(both(x).sum(), x)
    torch.testing.assert_close(torch.autograd.grad(folded(x).sum(), x)[0], wanted)


@pytest.mark.parametrize(
    ("shape", "count"),
    [((3, 4, 1, 5), 6), ((3, 4, 5, 1), 6), ((3, 1, 4, 5), 6), ((3, 4, 4, 5), 1)],
)
def test_a_map_that_lies_the_same_in_either_order_is_not_given_to_onednn(
    shape: tuple[int, ...], count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = draw(*shape)
    both = nn.Sequential(nn.Conv2d(shape[1], count, 3, padding=1), nn.BatchNorm2d(count))
    learned(both, x)
    assert isinstance(both[0], nn.Conv2d) and isinstance(both[1], nn.BatchNorm2d)
    monkeypatch.delattr(FoldedConvolution, "_in_one_pass")
    folded = FoldedConvolution(both[0], both[1])
    with torch.no_grad():
        wanted = both(x)
        torch.testing.assert_close(folded(x), wanted)
        torch.testing.assert_close(folded(x, added=wanted), 2 * wanted)


packed_only = pytest.mark.skipif(
    not torch._C._has_mkldnn or platform.machine() not in folded_norm.PACKED_ON,
    reason="elsewhere convolution, sum and ReLU are operations of their own",
)


@packed_only
def test_what_is_made_of_images_of_one_channel_lies_as_the_next_convolution_reads_it() -> None:
    x = draw(3, 1, 9, 8)
    both = nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6))
    learned(both, x)
    assert isinstance(both[0], nn.Conv2d) and isinstance(both[1], nn.BatchNorm2d)
    folded = FoldedConvolution(both[0], both[1])
    with torch.no_grad():
        said, wanted = folded(x, rectifies=True), functional.relu(both(x))
    assert said.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(said, wanted)


IMAGE_MODELS = [name for name in MODELS if "image" in MODELS.load(name).inputs]


def has_option(name: str) -> bool:
    """Whether its norms are left out unless they are asked for."""
    return hasattr(MODELS.load(name).settings, "batch_norm")


NORMED = [
    name
    for name in IMAGE_MODELS
    if name != "mlp" and (name.startswith("resnet") or has_option(name))
]


@pytest.mark.parametrize(
    "name", slow_but(["resnet9", "resnet20", "resnet50", "unet", "vgg11", "cnn"], NORMED)
)
def test_every_model_of_the_catalog_says_the_same(name: str) -> None:
    kind = MODELS.load(name)
    settings: dict[str, Any] = {**SMALLER.get(name, {})}
    if has_option(name):
        settings["batch_norm"] = True
    spec = next(one for one in specs(name) if one.inputs == "image" and one.target != "boxes")
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.float64, 1e-10)):
        x = draw(4, *spec.input_shape, dtype=dtype)
        model = learned(kind.build(parse(kind.settings, settings), spec).to(dtype), x)
        before = copy.deepcopy(model.state_dict())
        folded = fold_norms(model, x[:2])
        norms = [part for part in folded.modules() if isinstance(part, FoldedConvolution)]
        assert norms
        with torch.no_grad():
            wanted, said = model(x), folded(x)
        apart = (said - wanted).abs().max() / max(1.0, wanted.abs().max())
        assert apart <= tolerance, (name, dtype, float(apart))
        assert all(torch.equal(before[key], kept) for key, kept in model.state_dict().items())
        assert not any(part.training for part in folded.modules())


class Twice(nn.Module):
    """What a convolution gives is read by its norm and by somebody else."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution, self.norm = nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2)

    def forward(self, x: Tensor) -> Tensor:
        """(B, 2, I, J) -> the same."""
        x = self.convolution(x)
        out: Tensor = x + self.norm(x)
        return out


class Shared(nn.Module):
    """One convolution and one norm, called two times."""

    def __init__(self) -> None:
        super().__init__()
        self.both = nn.Sequential(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2))

    def forward(self, x: Tensor) -> Tensor:
        """(B, 2, I, J) -> the same."""
        out: Tensor = self.both(self.both(x))
        return out


UNFIT: dict[str, Callable[[], nn.Module]] = {
    "read by two": Twice,
    "called twice": Shared,
    "norm first": lambda: nn.Sequential(nn.BatchNorm2d(2), nn.Conv2d(2, 2, 1)),
    "pooled before": lambda: nn.Sequential(nn.Conv2d(2, 2, 1), nn.MaxPool2d(2), nn.BatchNorm2d(2)),
    "mirrored edges": lambda: nn.Sequential(
        nn.Conv2d(2, 2, 3, padding=1, padding_mode="reflect"), nn.BatchNorm2d(2)
    ),
    "padding by name": lambda: nn.Sequential(nn.Conv2d(2, 2, 3, padding="same"), nn.BatchNorm2d(2)),
    "no statistics": lambda: nn.Sequential(
        nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2, track_running_stats=False)
    ),
    "no norm": lambda: nn.Sequential(nn.Conv2d(2, 2, 1), nn.ReLU()),
}


@for_each("name", UNFIT)
def test_what_cannot_be_folded_is_left_alone(name: str) -> None:
    x = draw(4, 2, 4, 4)
    model = learned(UNFIT[name](), x)
    assert fold_norms(model, x) is model


def test_a_relu_that_somebody_else_reads_too_stays() -> None:
    class Watched(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.both = nn.Sequential(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2))
            self.relu = nn.ReLU()

        def forward(self, x: Tensor) -> Tensor:
            x = self.both(x)
            out: Tensor = x - self.relu(x)
            return out

    x = draw(4, 2, 4, 4)
    model = learned(Watched(), x)
    assert fold_norms(model, x) is model


@packed_only
def test_a_sum_is_written_over_what_is_added() -> None:
    x = draw(3, 4, 5, 5)
    both = nn.Sequential(nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4))
    learned(both, x)
    assert isinstance(both[0], nn.Conv2d) and isinstance(both[1], nn.BatchNorm2d)
    added = draw(3, 4, 5, 5).contiguous(memory_format=torch.channels_last)
    with torch.no_grad():
        said = FoldedConvolution(both[0], both[1])(x, added=added)
    assert said.data_ptr() == added.data_ptr()


class Reader(nn.Module):
    """A residual block, and somebody else who reads what came into it."""

    def __init__(self) -> None:
        super().__init__()
        self.block = BasicBlock(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        """(B, 4, I, J) -> the same."""
        x = functional.relu(x)
        out: Tensor = self.block(x) + x
        return out


@for_each("kind", [lambda: BasicBlock(4, 4), Reader], ids=["the caller", "the model"])
def test_a_sum_is_not_written_over_what_somebody_reads(kind: Callable[[], nn.Module]) -> None:
    x = draw(3, 4, 5, 5).contiguous(memory_format=torch.channels_last)
    model, before = learned(kind(), x), x.clone()
    folded = fold_norms(model, x.clone(memory_format=torch.preserve_format))
    with torch.no_grad():
        torch.testing.assert_close(folded(x), model(before))
    assert torch.equal(x, before)


def test_a_model_that_views_its_maps_still_answers() -> None:
    class Viewed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.both = nn.Sequential(nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.ReLU())

        def forward(self, x: Tensor) -> Tensor:
            out: Tensor = self.both(x).view(len(x), -1)
            return out

    x = draw(4, 1, 5, 5)
    model = learned(Viewed(), x)
    with torch.no_grad():
        wanted = model(x)
        assert torch.allclose(fold_norms(model, x)(x), wanted, atol=1e-5)


def test_planted_bug_weights_that_are_wrong_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    x = draw(4, 2, 4, 4)
    model = learned(nn.Sequential(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2), nn.ReLU()), x)
    assert fold_norms(model, x) is not model
    right = folded_norm.folded_weights

    def wrong(*given: Any) -> tuple[Tensor, Tensor]:
        weight, bias = right(*given)
        return weight * 1.001, bias

    monkeypatch.setattr(folded_norm, "folded_weights", wrong)
    assert fold_norms(model, x) is model


def test_all_else_is_shared_with_the_model() -> None:
    x = draw(4, 2, 4, 4)
    model = learned(
        nn.Sequential(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(32, 3)), x
    )
    folded = fold_norms(model, x)
    assert isinstance(folded, nn.Sequential) and isinstance(model, nn.Sequential)
    assert folded[3] is not model[3] and folded[3].weight is model[3].weight
