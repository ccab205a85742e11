"""Similarity kernels by hand, and pooling by them: softmax, means, widths, memory."""

import math
import re

import numpy as np
import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError, ShapeError, UnknownNameError
from netwright.layers.attention import kernels
from netwright.layers.attention.kernels import KERNELS, kernel_pooling, scaled_distances
from tests.repetition import for_each

U = torch.tensor([0.0, 0.5, 1.0, 1.5], dtype=torch.float64)
BY_HAND = {
    "gaussian": [1.0, math.exp(-0.125), math.exp(-0.5), math.exp(-1.125)],
    "boxcar": [1.0, 1.0, 1.0, 0.0],
    "triangular": [1.0, 0.5, 0.0, 0.0],
    "epanechnikov": [0.75, 0.5625, 0.0, 0.0],
}


def numbers(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def direct(q: Tensor, k: Tensor, v: Tensor, kernel: str, width: float | Tensor = 1.0) -> Tensor:
    """The definition, one query at a time."""
    rows = []
    for query in q:
        weights = KERNELS.load(kernel)(((query - k) / width).norm(dim=1))
        rows.append(weights @ v / weights.sum() if weights.sum() > 0 else v.mean(dim=0))
    return torch.stack(rows)


@pytest.mark.covers("kernel-epanechnikov")
@for_each("name", KERNELS)
def test_values_by_hand(name: str) -> None:
    assert KERNELS.load(name)(U).tolist() == pytest.approx(BY_HAND[name], abs=1e-15)


def test_the_misprinted_name_is_told_on_both_cards() -> None:
    assert "max(0, 1 - u)" in KERNELS.load("epanechnikov").card.misprint
    assert "Epanechnikov" in KERNELS.load("triangular").card.misprint


@pytest.mark.covers("attention-pooling-nw")
@for_each("name", KERNELS)
def test_pooling_is_the_weighted_mean_of_its_definition(name: str) -> None:
    q, k, v = numbers(6, 2), numbers(9, 2, seed=1), numbers(9, 3, seed=2)
    ours = kernel_pooling(q, k, v, name, 0.8)
    torch.testing.assert_close(ours, direct(q, k, v, name, 0.8), rtol=0, atol=1e-12)

    def error(count: int) -> float:
        """Of y = 2 sin x + x, learned from `count` noisy places."""
        x = 5 * torch.rand(
            count, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(3)
        )
        noisy = 2 * x.sin() + x + 0.5 * numbers(count, 1, seed=4)
        at = torch.linspace(0.5, 4.5, 100, dtype=torch.float64)[:, None]
        foretold = kernel_pooling(at, x, noisy, name, count**-0.2)
        return float((foretold - 2 * at.sin() - at).square().mean())

    errors = [error(count) for count in (50, 500, 5000, 50_000)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.02


@pytest.mark.covers("kernel-gaussian")
def test_gaussian_pooling_is_attention_with_the_softmax_of_squared_distances() -> None:
    q, k, v = numbers(6, 4), numbers(9, 4, seed=1), numbers(9, 3, seed=2)
    scores = -torch.cdist(q, k).square() / 2
    ours = kernel_pooling(q, k, v, "gaussian")
    torch.testing.assert_close(ours, scores.softmax(dim=1) @ v, rtol=0, atol=1e-12)
    for coordinates in (4, 100):  # also where distances are taken by a matrix product
        x = numbers(5, coordinates).float()
        own = KERNELS.load("gaussian")(scaled_distances(x, x, 0.1).diagonal())
        assert own.tolist() == pytest.approx([1.0] * 5, abs=1e-6)


def test_a_query_far_from_all_keys_takes_the_nearest() -> None:
    k, v = torch.tensor([[0.0], [1.0]]), torch.tensor([[3.0], [5.0]])
    assert kernel_pooling(torch.tensor([[1e4]]), k, v, "gaussian").tolist() == [[5.0]]


@pytest.mark.covers("kernel-boxcar")
def test_boxcar_gives_the_mean_within_its_radius_or_of_all() -> None:
    k = torch.tensor([[0.0], [1.0], [2.0], [9.0]])
    v = torch.tensor([[1.0], [2.0], [6.0], [31.0]])
    at = torch.tensor([[1.0], [0.5], [9.9], [50.0]])
    assert kernel_pooling(at, k, v, "boxcar").flatten().tolist() == pytest.approx([3, 1.5, 31, 10])


@pytest.mark.covers("kernel-width")
@for_each("name", KERNELS)
def test_scaling_a_coordinate_is_dividing_its_width(name: str) -> None:
    q, k, v = numbers(6, 3), numbers(9, 3, seed=1), numbers(9, 2, seed=2)
    scale = torch.tensor([1.0, 4.0, 0.5], dtype=torch.float64)
    by_width = kernel_pooling(q, k, v, name, 2 / scale)
    torch.testing.assert_close(by_width, kernel_pooling(q * scale, k * scale, v, name, 2.0))
    torch.testing.assert_close(by_width, direct(q, k, v, name, 2 / scale))


@for_each("name", KERNELS)
def test_a_weight_of_two_is_a_key_that_is_there_twice(name: str) -> None:
    q, k, v = numbers(6, 2), numbers(5, 2, seed=1), numbers(5, 2, seed=2)
    weights = torch.tensor([1.0, 2.0, 0.0, 1.0, 1.0], dtype=torch.float64)
    twice = torch.tensor([0, 1, 1, 3, 4])
    q = torch.cat((q, torch.full((1, 2), 99.0), k[2:3]))  # near to nothing, or to what counts 0
    ours = kernel_pooling(q, k, v, name, 0.5, weights)
    torch.testing.assert_close(ours, kernel_pooling(q, k[twice], v[twice], name, 0.5))


def test_distances_of_many_coordinates_keep_their_digits() -> None:
    x = numbers(8, 100).float()
    near = x + 1e-3
    ours = scaled_distances(near, x, 1.0).diagonal()
    exact = (near.double() - x.double()).norm(dim=1)
    np.testing.assert_allclose(ours, exact, rtol=1e-5)


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "boxcar"])  # it is flat
def test_gradients_are_right_and_finite(name: str) -> None:
    q = torch.tensor([[0.1, 0.2], [50.0, 0.0]], dtype=torch.float64, requires_grad=True)
    k, v = numbers(4, 2, seed=1), numbers(4, 2, seed=2)
    (grad,) = torch.autograd.grad(kernel_pooling(q, k, v, name, 3.0).sum(), q)
    assert bool(grad.isfinite().all())
    assert torch.autograd.gradcheck(lambda q: kernel_pooling(q[:1], k, v, name, 3.0), (q,))


def test_blocks_give_what_all_at_once_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    q, k, v = numbers(11, 3), numbers(7, 3, seed=1), numbers(7, 2, seed=2)
    at_once = kernel_pooling(q, k, v)
    monkeypatch.setattr(kernels, "BLOCK_BYTES", 3 * 7 * kernels.BYTES_A_PAIR)
    torch.testing.assert_close(kernel_pooling(q, k, v), at_once, rtol=0, atol=1e-15)
    direct = scaled_distances(q, k, 0.5)
    monkeypatch.setattr(kernels, "MOST_DIRECT", 1)
    monkeypatch.setattr(kernels, "BLOCK_NUMBERS", 6)  # two keys at a time
    torch.testing.assert_close(scaled_distances(q, k, 0.5), direct, rtol=0, atol=1e-7)


@for_each(
    ("changes", "error", "sentence"),
    [
        ({"kernel": "gausian"}, UnknownNameError, "unknown kernel 'gausian'; did you mean 'gaus"),
        ({"width": 0.0}, ConfigError, "width must be positive, got 0.0"),
        ({"width": math.nan}, ConfigError, "width must be positive, got nan"),
        ({"keys": torch.ones(3, 5)}, ShapeError, "keys must have shape (N, 2), got (3, 5)"),
        ({"values": torch.ones(2, 1)}, ShapeError, "values must have shape (3, K), got (2, 1)"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, str) else None,
)
def test_refusals(changes: dict[str, object], error: type[Exception], sentence: str) -> None:
    given = {"queries": torch.ones(4, 2), "keys": torch.ones(3, 2), "values": torch.ones(3, 1)}
    with pytest.raises(error, match=f"^{re.escape(sentence)}"):
        kernel_pooling(**{**given, **changes})  # type: ignore[arg-type]
