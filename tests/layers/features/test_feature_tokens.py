"""Feature tokens: numbers scale their vector, categories choose one."""

from collections.abc import Callable

import pytest
import torch

from netwright.core.errors import ShapeError
from netwright.core.seeding import seeded
from netwright.layers.features.feature_tokens import FeatureTokens
from netwright.testing.layer_contract import LAYER_CHECKS, Build
from tests.repetition import for_each


def test_a_number_scales_its_vector_and_a_category_is_looked_up() -> None:
    with seeded(0):
        layer = FeatureTokens((0, 1, 1, 1), 5)
    tokens = layer(torch.tensor([[2.0, 0, 1, 0], [-1, 0, 0, 1]]))
    assert tokens.shape == (2, 2, 5)
    torch.testing.assert_close(tokens[0, 0], 2 * layer.weight[0] + layer.bias[0])
    looked_up = torch.nn.functional.embedding(torch.tensor([1, 2]), layer.weight[1:])
    torch.testing.assert_close(tokens[:, 1], looked_up + layer.bias[1])


def test_an_unseen_category_leaves_the_bias_of_its_column() -> None:
    layer = FeatureTokens((0, 0, 1), 3)
    torch.testing.assert_close(layer(torch.tensor([[0.0, 0, 7]]))[0, 0], layer.bias[0])


def test_the_place_of_a_category_chooses_its_vector() -> None:
    with seeded(0):
        layer = FeatureTokens((0, 1, 2, 2), 5, (3, 0, 0, 0))
    assert layer.tables is not None
    x = torch.tensor([[1.0, -2, 0, 1], [2, 0.5, 1, 0]])
    tokens = layer(x)
    (table,) = layer.tables.parameters()
    torch.testing.assert_close(tokens[0, 0], table[1] + layer.bias[0])
    torch.testing.assert_close(tokens[1, 0], layer.bias[0])  # 2: not seen in training
    torch.testing.assert_close(tokens[:, 1:], FeatureTokens.forward(_plain(layer), x[:, 1:]))
    assert len(layer.weight) == 3, "a place has no vector that grows with it"


def _plain(layer: FeatureTokens) -> FeatureTokens:
    """The same layer without its first column."""
    plain = FeatureTokens((0, 1, 1), 5)
    plain.weight, plain.bias = layer.weight, torch.nn.Parameter(layer.bias[1:])
    return plain


def test_columns_do_not_see_each_other() -> None:
    layer, x = FeatureTokens((0, 1, 1, 2), 3), torch.randn(1, 4)
    changed = x.clone()
    changed[:, 3] += 1
    difference = (layer(x) != layer(changed)).any(dim=-1)
    assert difference.tolist() == [[False, False, True]]


def test_groups_are_not_saved_and_bad_ones_are_refused() -> None:
    assert set(FeatureTokens((0, 0), 2).state_dict()) == {"weight", "bias"}
    with pytest.raises(ShapeError, match="groups must number"):
        FeatureTokens((0, 2), 2)
    with pytest.raises(ShapeError, match=r"x must have shape \(B, 2\)"):
        FeatureTokens((0, 1), 2)(torch.zeros(1, 3))


@for_each("check", LAYER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_layer_contract(check: Callable[[Build], None]) -> None:
    check(lambda: (FeatureTokens((0, 1, 1), 4), torch.randn(3, 3)))


def test_bad_levels_are_refused() -> None:
    with pytest.raises(ShapeError, match="levels must give the categories of 2 features"):
        FeatureTokens((0, 1), 2, (3,))
