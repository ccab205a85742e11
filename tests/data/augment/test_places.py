"""Places: reading where nothing moved is the identity, outside lies the border."""

import pytest
import torch
from torch import Tensor

from netwright.data.augment.places import Places, own_places, read_between, read_nearest, read_whole
from tests.repetition import for_each


def images(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(0), dtype=dtype)


@for_each("shape", [(2, 3, 4, 4), (2, 1, 5, 8), (1, 2, 1, 3), (3, 3, 33, 32)])
def test_own_places_give_the_image_itself(shape: tuple[int, ...]) -> None:
    x = images(*shape)
    places = own_places(x)
    assert torch.equal(read_whole(x, places), x)
    assert torch.allclose(read_between(x, places), x, atol=1e-13, rtol=0)
    single = x.float()
    assert torch.allclose(read_between(single, own_places(single)), single, atol=1e-5, rtol=0)


def test_places_are_counted_from_the_middle() -> None:
    rows, columns = own_places(images(2, 1, 4, 3))
    assert rows.flatten(1).tolist() == [[-1.5, -0.5, 0.5, 1.5]] * 2
    assert columns.flatten(1).tolist() == [[-1, 0, 1]] * 2


def test_half_way_between_two_pixels_lies_their_mean() -> None:
    x = torch.tensor([[[[0.0, 2.0], [4.0, 10.0]]]])
    middle = Places(torch.zeros(1, 2, 1), torch.zeros(1, 1, 2))
    assert torch.unique(read_between(x, middle)).tolist() == [4.0]
    right = Places(torch.zeros(1, 2, 1), torch.full((1, 1, 2), 0.5))
    assert torch.unique(read_between(x, right)).tolist() == [6.0]


@pytest.mark.parametrize("read", [read_whole, read_between])
def test_outside_lies_the_nearest_border_pixel(read: object) -> None:
    x = torch.tensor([[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]])
    far = own_places(x)._replace(rows=own_places(x).rows - 9)
    assert callable(read)
    assert torch.allclose(read(x, far), x[:, :, :1].expand_as(x))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_dtype_is_kept(dtype: torch.dtype) -> None:
    x = images(2, 1, 300, 2).to(dtype)  # bfloat16 itself could not count these rows
    assert torch.equal(read_whole(x, own_places(x)), x)
    between = read_between(x, own_places(x))
    assert between.dtype == dtype
    assert torch.allclose(between, x, atol=1e-4)


def test_masks_are_read_at_the_nearest_pixel() -> None:
    mask = torch.tensor([[[1, 2, 3], [4, 5, 6]]], dtype=torch.uint8)
    assert torch.equal(read_nearest(mask, own_places(mask[:, None].float())), mask)
    # 0.4 further down and 0.6 further right: the own row, the next column; then off the right end.
    places = Places(torch.tensor([[[-0.1], [0.9]]]), torch.tensor([[[-0.4, 0.6, 1.6]]]))
    assert read_nearest(mask, places).tolist() == [[[2, 3, 3], [5, 6, 6]]]
    far = Places(torch.full((1, 2, 3), -9.0), torch.full((1, 2, 3), 9.0))
    assert torch.unique(read_nearest(mask, far)).tolist() == [3]


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64])
def test_whole_moves_take_masks_exactly_where_they_take_images(dtype: torch.dtype) -> None:
    masks = (images(3, 5, 4) * 4).to(dtype)
    own = own_places(masks[:, None].double())
    moved = Places(own.rows - 1, own.columns + 2)
    assert read_nearest(masks, moved).dtype == dtype
    assert torch.equal(read_nearest(masks, moved), read_whole(masks[:, None], moved)[:, 0])


def test_whole_pixels_are_read_into_the_room_that_is_given() -> None:
    x = images(2, 3, 5, 4)
    room = torch.empty_like(x)
    moved = own_places(x)._replace(rows=own_places(x).rows - 1)
    assert read_whole(x, moved, room).data_ptr() == room.data_ptr()
    assert torch.equal(room, read_whole(x, moved))
