"""The length of each tensor of a list, by whatever is quickest for it."""

import pytest
import torch

from netwright.train.watching.lengths import lengths_of
from tests.repetition import for_each

SIZES = [(), (1,), (7,), (3, 5), (2, 3, 4), (300, 400)]


@for_each("dtype", [torch.float32, torch.float64, torch.bfloat16])
@for_each("size", SIZES)
def test_a_length_is_the_root_of_the_sum_of_squares(
    size: tuple[int, ...], dtype: torch.dtype
) -> None:
    drawn = torch.randn(size, generator=torch.Generator().manual_seed(0)).to(dtype)
    found = lengths_of([drawn, drawn * 2])
    wanted = drawn.double().square().sum().sqrt().float()
    assert found.dtype == torch.float32
    torch.testing.assert_close(
        found,
        torch.stack([wanted, 2 * wanted]),
        rtol=1e-2 if dtype is torch.bfloat16 else 1e-5,
        atol=0,
    )


def test_layouts_and_kinds_may_differ() -> None:
    images = torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert lengths_of([images, torch.full((4,), 3.0)]).tolist() == [pytest.approx(120**0.5), 6.0]
    assert lengths_of([torch.ones(4).double(), torch.ones(9)]).tolist() == [2.0, 3.0]


def test_of_nothing_there_is_nothing() -> None:
    assert lengths_of([]).shape == (0,)
    assert lengths_of([torch.ones(0, 3)]).tolist() == [0.0]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_has_no_finite_length(bad: float) -> None:
    for place in (0, 500, 999):
        numbers = torch.ones(1000)
        numbers[place] = bad
        assert not lengths_of([torch.ones(3), numbers])[1].isfinite()
