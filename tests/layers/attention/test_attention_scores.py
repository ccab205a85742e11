"""Scores of attention: each by its formula, and how they are tied to each other."""

import math
import re

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError, UnknownNameError
from netwright.core.seeding import seeded
from netwright.layers.attention.attention_scores import (
    SCORES,
    AdditiveScore,
    BilinearScore,
    cosine_scores,
    dot_scores,
    kernel_scores,
    scaled_dot_scores,
)
from tests.repetition import for_each


def draw(*shape: int, seed: int = 0) -> Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=numbers, dtype=torch.float64)


@pytest.mark.covers("unscaled-dot-score")
def test_the_plain_dot_product_is_the_scaled_one_times_the_root_of_the_features() -> None:
    queries, keys = draw(2, 3, 5), draw(2, 4, 5, seed=1)
    torch.testing.assert_close(
        dot_scores(queries, keys), scaled_dot_scores(queries, keys) * math.sqrt(5)
    )
    assert float(dot_scores(queries, keys)[1, 2, 3]) == pytest.approx(
        float(sum(queries[1, 2] * keys[1, 3]))
    )


@pytest.mark.covers("cosine-score")
def test_a_cosine_does_not_know_lengths_and_lies_between_minus_one_and_one() -> None:
    queries, keys = draw(6, 3), draw(8, 3, seed=1)
    scores = cosine_scores(queries, keys)
    assert float(scores.abs().max()) <= 1 + 1e-12
    torch.testing.assert_close(cosine_scores(7 * queries, 0.1 * keys), scores)
    torch.testing.assert_close(cosine_scores(queries, queries).diagonal(), torch.ones(6).double())
    assert float(cosine_scores(torch.zeros(1, 3), torch.ones(1, 3))) == 0


@pytest.mark.covers("additive-attention")
def test_the_additive_score_is_a_hidden_layer_on_query_and_key_side_by_side() -> None:
    with seeded(0):
        score = AdditiveScore(3, 5, hidden=4).double()
    queries, keys = draw(2, 6, 3), draw(2, 7, 5, seed=1)
    joined = torch.cat([score.query.weight, score.key.weight], dim=1)  # (H, Q + K)
    both = torch.cat(
        [queries[:, :, None].expand(2, 6, 7, 3), keys[:, None].expand(2, 6, 7, 5)], dim=-1
    )
    wanted = ((both @ joined.T).tanh() @ score.out.weight.T).squeeze(-1)
    torch.testing.assert_close(score(queries, keys), wanted)
    inputs = (queries[:, :2].requires_grad_(), keys[:, :2].requires_grad_())
    assert torch.autograd.gradcheck(score, inputs)
    assert AdditiveScore(3, 5).query.out_features == 5


@pytest.mark.covers("bilinear-score")
def test_the_bilinear_score_with_the_unit_matrix_is_the_dot_product() -> None:
    score = BilinearScore(4, 4).double()
    nn.init.eye_(score.key.weight)
    queries, keys = draw(3, 4), draw(5, 4, seed=1)
    torch.testing.assert_close(score(queries, keys), dot_scores(queries, keys))
    other = BilinearScore(2, 3).double()
    query, key = draw(1, 2), draw(1, 3, seed=1)
    torch.testing.assert_close(other(query, key)[0, 0], query[0] @ other.key.weight @ key[0])
    assert torch.autograd.gradcheck(other, (query.requires_grad_(), key.requires_grad_()))


def test_a_kernel_scores_by_its_logarithm_in_widths() -> None:
    query, key = torch.zeros(1, 2).double(), torch.tensor([[3.0, 4.0]]).double()
    assert float(kernel_scores(query, key, width=2.0)) == pytest.approx(-(2.5**2) / 2)
    assert float(kernel_scores(query, key, "boxcar")) == -math.inf


@for_each("name", list(SCORES))
def test_every_score_of_the_table_gives_one_number_a_pair_and_has_a_card(name: str) -> None:
    kind = SCORES.load(name)
    assert kind(4, 4)(torch.ones(2, 3, 4), torch.ones(2, 5, 4)).shape == (2, 3, 5)
    assert kind.card.sentence.endswith(".")
    assert kind.card.symbols
    assert kind.card.source


@pytest.mark.parametrize("name", ["dot", "scaled-dot", "cosine"])
def test_dot_products_of_different_sizes_are_refused(name: str) -> None:
    sentence = "a score by the dot product needs queries and keys of one size, got 3 and 4"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        SCORES.load(name)(3, 4)


def test_an_unknown_score_is_refused_with_the_nearest() -> None:
    with pytest.raises(
        UnknownNameError, match=r"^unknown score 'adative'; did you mean 'additive'"
    ):
        SCORES.load("adative")
