"""Embedded categories: a vector each, numbers beside them, nothing of a category not seen."""

import pytest
import torch

from netwright.core.errors import ShapeError
from netwright.core.seeding import seeded
from netwright.layers.features.category_embeddings import SMALL, WIDEST, CategoryEmbeddings


def test_numbers_stay_and_places_become_vectors() -> None:
    with seeded(0):
        layer = CategoryEmbeddings((4, 0, 3))
    first, second = layer.tables.parameters()
    assert (first.shape, second.shape, layer.width) == ((4, 2), (3, 2), 5)
    x = torch.tensor([[2.0, 0.25, 0], [0, -7, 1]])
    expected = torch.cat([x[:, [1]], first[[2, 0]], second[[0, 1]]], dim=1)
    torch.testing.assert_close(layer(x), expected)


def test_a_category_not_seen_is_zero_and_stays_it() -> None:
    layer = CategoryEmbeddings((4,))
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        (layer(torch.tensor([[3.0], [0.0]])) - 1).square().sum().backward()
        optimizer.step()
    vectors = layer(torch.tensor([[3.0], [0.0]]))
    assert (vectors[0] == 0).all()
    assert (vectors[1] > 0.1).all()


def test_vectors_start_small_and_are_never_wider_than_the_widest() -> None:
    with seeded(0):
        (table,) = CategoryEmbeddings((50_000,)).tables.parameters()
    assert table.shape == (50_000, WIDEST)
    assert float(table[:-1].detach().std()) == pytest.approx(SMALL, rel=0.01)


def test_every_place_that_a_float_can_name_is_its_own() -> None:
    """float32 has every whole number below 2^24: two large places are two vectors."""
    layer = CategoryEmbeddings((60_002,))
    places = torch.tensor([[59_999.0], [60_000.0]])
    first, second = layer(places)
    (table,) = layer.tables.parameters()
    torch.testing.assert_close(first, table[59_999])
    assert not torch.equal(first, second)


def test_only_tables_are_saved_and_bad_levels_are_refused() -> None:
    assert set(CategoryEmbeddings((3, 0)).state_dict()) == {"tables.0.weight"}
    with pytest.raises(ShapeError, match="levels must give the categories"):
        CategoryEmbeddings((3, -1))
    with pytest.raises(ShapeError, match=r"x must have shape \(B, 2\)"):
        CategoryEmbeddings((3, 0))(torch.zeros(1, 3))
