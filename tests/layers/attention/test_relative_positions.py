"""Positions as a bias: slopes and buckets by hand, and attention that only knows distances."""

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.layers.attention.multihead_attention import MultiHeadAttention
from netwright.layers.attention.relative_positions import (
    AlibiBias,
    RelativePositionBias,
    alibi_bias,
    alibi_slopes,
    relative_bucket,
)


def test_slopes_halve_from_head_to_head_also_where_their_number_is_no_power_of_2() -> None:
    assert alibi_slopes(8).tolist() == [2.0**-power for power in range(1, 9)]
    assert alibi_slopes(1).tolist() == [2.0**-8]
    assert alibi_slopes(6).tolist() == pytest.approx([2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3])


def test_the_bias_falls_with_the_distance_and_new_queries_are_the_last() -> None:
    bias = alibi_bias(2, 3)
    assert bias[0].tolist() == [[-abs(t - s) / 16 for s in range(3)] for t in range(3)]
    assert torch.equal(alibi_bias(2, 1, 3), bias[:, 2:])


def test_buckets_are_exact_near_by_and_logarithmic_far_away() -> None:
    behind = -torch.tensor([0, 1, 15, 16, 17, 31, 64, 127, 128, 5000])
    assert relative_bucket(behind, is_causal=True).tolist() == [
        *(0, 1, 15, 16, 16, 21, 26, 31, 31, 31)
    ]
    assert relative_bucket(-behind, is_causal=True).tolist() == [0] * 10
    both = torch.tensor([0, -1, -7, -8, -64, -500, 1, 7, 8, 500])
    assert relative_bucket(both, is_causal=False).tolist() == [
        *(0, 1, 7, 8, 14, 15, 17, 23, 24, 31)
    ]


def test_every_bucket_of_both_sides_occurs_in_order() -> None:
    far = relative_bucket(-torch.arange(200), is_causal=True)
    assert sorted(far.tolist()) == far.tolist()
    assert set(far.tolist()) == set(range(32))


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention_with_either_bias_knows_distances_only_and_reads_on_from_a_cache(
    is_causal: bool,
) -> None:
    with seeded(0):
        attn = MultiHeadAttention(8, 2, causal=is_causal).double().eval()
        learned = RelativePositionBias(2, is_causal=is_causal).double()
        x = torch.randn(1, 6, 8).double()
    for bias in (learned(6), alibi_bias(2, 6).double()):
        assert bias.shape == (2, 6, 6)
        assert torch.equal(bias[:, 1:, 1:], bias[:, :-1, :-1])
        if is_causal:
            cache, outs = attn.start(1, 6), []
            for stop in range(1, 7):
                here = bias[:, stop - 1 : stop, :stop]
                out, cache = attn.extend(x[:, stop - 1 : stop], cache, here)
                outs.append(out)
            torch.testing.assert_close(torch.cat(outs, dim=1), attn(x, None, bias))
    assert torch.equal(learned(2, 6), learned(6)[:, 4:])


def test_buckets_that_cannot_be_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^buckets must be even and at least 4, got 5$"):
        RelativePositionBias(2, is_causal=True, buckets=5)
    with pytest.raises(ConfigError, match=r"^farthest must be more than 32, the buckets, got 8$"):
        RelativePositionBias(2, is_causal=True, farthest=8)


@pytest.mark.parametrize("kind", ["alibi", "t5", "t5-causal"])
def test_a_row_of_all_distances_says_what_is_said_of_each_pair(kind: str) -> None:
    with seeded(0):
        part = (
            AlibiBias(3)
            if kind == "alibi"
            else RelativePositionBias(3, is_causal=kind == "t5-causal")
        )
    row, pairs = part.by_distance(20), part(4, 20)
    assert row.shape == (3, 39)
    for query in range(16, 20):
        assert torch.equal(pairs[:, query - 16], row[:, 19 - query : 39 - query])
    if kind == "alibi":
        assert torch.equal(pairs, alibi_bias(3, 4, 20))
        assert not part.state_dict()
