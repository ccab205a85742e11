"""Attention: weights sum to 1, reads are mixtures of the values, masks leave no trace."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from netwright.layers.attention.attention import attend, masked_softmax
from netwright.layers.attention.attention_scores import dot_scores, kernel_scores, scaled_dot_scores
from netwright.layers.attention.kernels import kernel_pooling
from netwright.layers.attention.masks import causal_mask, length_mask
from tests.repetition import for_each


def draw(*shape: int, seed: int = 0) -> Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=numbers, dtype=torch.float64)


@pytest.mark.covers("attention-qkv")
def test_weights_sum_to_one_and_reads_lie_between_the_values() -> None:
    queries, keys, values = draw(5, 3), draw(7, 3, seed=1), draw(7, 2, seed=2)
    weights = masked_softmax(dot_scores(queries, keys))
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(5).double())
    assert bool((weights >= 0).all())
    # A point is in the hull if in no direction it lies beyond all values.
    read, directions = attend(dot_scores(queries, keys), values), draw(2, 100, seed=3)
    assert bool((read @ directions <= (values @ directions).amax(dim=0) + 1e-12).all())
    nearest = values[dot_scores(queries, keys).argmax(dim=-1)]
    torch.testing.assert_close(attend(1e4 * dot_scores(queries, keys), values), nearest)


@pytest.mark.covers("attention-special-cases")
def test_one_hot_weights_look_up_and_equal_keys_give_the_mean() -> None:
    values = draw(4, 3)
    one = torch.full((1, 4), -math.inf).double()
    one[0, 2] = 0.0
    assert torch.equal(masked_softmax(one), torch.tensor([[0.0, 0, 1, 0]]).double())
    assert torch.equal(attend(one, values), values[2:3])
    alike = draw(1, 3, seed=1).expand(4, 3)
    mean = attend(dot_scores(draw(1, 3, seed=2), alike), values)
    torch.testing.assert_close(mean, values.mean(dim=0, keepdim=True))
    # What is read is in the cone of the values: a sum of them with weights of 0 and more.
    weights = masked_softmax(draw(6, 4, seed=3))
    assert bool((weights >= 0).all())
    torch.testing.assert_close(attend(draw(6, 4, seed=3), values), weights @ values)


@pytest.mark.covers("attention-memory-view", "distributed-representations")
def test_a_memory_of_ten_facts_is_read_back_by_its_names() -> None:
    names, facts = torch.linalg.qr(draw(10, 10)).Q, draw(10, 4, seed=1)
    scores = 50 * dot_scores(names, names)  # the inverse temperature
    assert float(masked_softmax(scores).diagonal().min()) > 0.99
    assert float((attend(scores, facts) - facts).abs().max()) < 1e-6


@pytest.mark.covers("masked-softmax")
def test_weights_beyond_the_length_are_exactly_zero_and_the_rest_is_the_shorter_softmax() -> None:
    scores, lengths = draw(3, 2, 6), torch.tensor([4, 1, 6])
    weights = masked_softmax(scores, length_mask(lengths, 6))
    for row, length in enumerate(lengths.tolist()):
        assert bool((weights[row, :, length:] == 0).all())
        torch.testing.assert_close(weights[row, :, :length], scores[row, :, :length].softmax(-1))
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(3, 2).double())
    far = scores.masked_fill(~length_mask(lengths, 6), -1e6)  # as it is often written
    assert torch.equal(far.softmax(dim=-1), weights)


def test_a_query_without_keys_reads_zeros_and_gives_no_nan_back() -> None:
    scores = draw(2, 3, 4).requires_grad_()
    mask = length_mask(torch.tensor([0, 2]), 4)
    read = attend(scores, draw(2, 4, 5), mask)
    assert bool((read[0] == 0).all())
    (slope,) = torch.autograd.grad(read.sum(), scores)
    assert bool(slope.isfinite().all())
    assert bool((slope[0] == 0).all())


@for_each("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_weights_are_right_for_all_finite_scores(dtype: torch.dtype) -> None:
    low, high = torch.finfo(dtype).min, torch.finfo(dtype).max
    numbers = torch.Generator().manual_seed(0)
    edges = torch.tensor([low, low / 2, -1.0, 0.0, 1.0, high / 2, high], dtype=torch.float64)
    for _ in range(200):
        scores = edges[torch.randint(7, (2, 5), generator=numbers)].to(dtype)
        mask = torch.rand(2, 5, generator=numbers) < 0.6
        weights = masked_softmax(scores, mask)
        assert weights.dtype == dtype
        for row, allowed, found in zip(scores, mask, weights, strict=True):
            wanted = torch.zeros(5, dtype=torch.float64)
            wanted[allowed] = row[allowed].double().softmax(dim=0)
            torch.testing.assert_close(
                found.double(), wanted, rtol=2 * torch.finfo(dtype).eps, atol=0
            )
            assert bool((found[~allowed] == 0).all())


def test_lowest_scores_share_the_weight_among_those_that_are_allowed() -> None:
    scores = torch.full((1, 4), torch.finfo(torch.float32).min, requires_grad=True)
    weights = masked_softmax(scores, torch.tensor([True, True, False, False]))
    assert weights.tolist() == [[0.5, 0.5, 0.0, 0.0]]
    (slope,) = torch.autograd.grad(weights[0, 0], scores)
    assert slope.tolist() == [[0.25, -0.25, 0.0, 0.0]]


@pytest.mark.parametrize("mask", [(True, False, True), ((True, False, True),)])
def test_values_that_none_may_read_may_be_nan(mask: tuple[object, ...]) -> None:
    values = torch.tensor([[1.0], [math.nan], [3.0]], requires_grad=True)
    read = attend(torch.zeros(2, 3), values, torch.tensor(mask))
    assert read.tolist() == [[2.0], [2.0]]
    (slope,) = torch.autograd.grad(read.sum(), values)
    assert slope.tolist() == [[1.0], [0.0], [1.0]]


def test_a_score_that_is_no_number_is_not_hidden() -> None:
    assert masked_softmax(torch.tensor([[math.nan, 0.0]])).isnan().all()


def test_kernel_scores_pool_as_kernel_regression_does() -> None:
    queries, keys, values = draw(6, 2), draw(9, 2, seed=1), draw(9, 3, seed=2)
    for kernel in ("gaussian", "triangular", "epanechnikov", "boxcar"):
        read = attend(kernel_scores(queries, keys, kernel, width=4.0), values)
        torch.testing.assert_close(read, kernel_pooling(queries, keys, values, kernel, width=4.0))
    assert bool((attend(kernel_scores(queries + 100, keys, "boxcar"), values) == 0).all())


@pytest.mark.covers("scaled-dot-product")
def test_scaled_dot_product_attention_is_the_one_by_hand_by_loops_and_by_torch() -> None:
    eye = torch.eye(2).double()
    high = 1 / (1 + math.exp(-1 / math.sqrt(2)))  # softmax of (1, 0) / sqrt(2)
    by_hand = torch.tensor([[high, 1 - high], [1 - high, high]]).double()
    torch.testing.assert_close(attend(scaled_dot_scores(eye, eye), eye), by_hand)

    queries, keys, values = draw(3, 4), draw(5, 4, seed=1), draw(5, 2, seed=2)
    read = attend(scaled_dot_scores(queries, keys), values)
    assert read.shape == (3, 2)
    for query, row in zip(queries, read, strict=True):
        chances = [math.exp(float(query @ key) / math.sqrt(4)) for key in keys]
        by_loop = sum(chance * value for chance, value in zip(chances, values, strict=True))
        torch.testing.assert_close(row, torch.as_tensor(by_loop) / sum(chances))
    fused = functional.scaled_dot_product_attention(queries, keys, values)
    torch.testing.assert_close(read, fused)
    weights = masked_softmax(scaled_dot_scores(queries, keys))
    torch.testing.assert_close(weights.sum(dim=1), torch.ones(3).double())
    inputs = [part.requires_grad_() for part in (queries, keys, values)]
    assert torch.autograd.gradcheck(lambda q, k, v: attend(scaled_dot_scores(q, k), v), inputs)


@pytest.mark.covers("batch-matmul")
def test_a_batch_is_one_product_of_matrices_for_each_of_it() -> None:
    queries, keys = draw(3, 2, 4), draw(3, 5, 4, seed=1)
    scores = dot_scores(queries, keys)
    assert scores.shape == (3, 2, 5)
    torch.testing.assert_close(
        scores, torch.stack([q @ k.T for q, k in zip(queries, keys, strict=True)])
    )
    torch.testing.assert_close(scores, torch.einsum("nab,ncb->nac", queries, keys))


@pytest.mark.covers("cross-attention")
def test_reading_from_itself_is_self_attention_and_the_order_of_the_memory_does_not_matter() -> (
    None
):
    own, other = draw(4, 6), draw(7, 6, seed=1)
    to_query, to_key, to_value = draw(3, 6, 5, seed=2)

    def cross(a: Tensor, b: Tensor) -> Tensor:
        return attend(scaled_dot_scores(a @ to_query, b @ to_key), b @ to_value)

    assert cross(own, other).shape == (4, 5)
    itself = functional.scaled_dot_product_attention(own @ to_query, own @ to_key, own @ to_value)
    torch.testing.assert_close(cross(own, own), itself)
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    torch.testing.assert_close(cross(own, other[order]), cross(own, other))


@pytest.mark.covers("causal-mask")
def test_what_comes_later_changes_nothing_and_the_first_place_sees_only_itself() -> None:
    x, mask = draw(5, 4), causal_mask(5)
    read = attend(scaled_dot_scores(x, x), x, mask)
    for place in range(1, 5):
        changed = x.clone()
        changed[place] = draw(4, seed=9)
        again = attend(scaled_dot_scores(changed, changed), changed, mask)
        assert torch.equal(again[:place], read[:place])
        assert not torch.equal(again[place:], read[place:])
    first = masked_softmax(scaled_dot_scores(x, x), mask)[0]
    assert first.tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.covers("transformer-limitations")
def test_the_weights_of_eight_heads_on_4096_positions_take_537_megabytes() -> None:
    queries = torch.empty(1, 8, 4096, 64, device="meta")
    scores = scaled_dot_scores(queries, queries)
    assert scores.nbytes == 536_870_912  # 4 bytes for each of 8 x 4096 x 4096: quadratic in T
