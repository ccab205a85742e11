"""Choosing a token: what top-k and top-p keep, what temperature does, and that draws are fair."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.decoding.sampling import DecodingConfig, choose, top_k, top_p
from tests.repetition import for_each

PROPERTY = settings(derandomize=True, deadline=None, max_examples=50)
SEEDS = st.integers(0, 2**32)
KINDS = st.integers(1, 12)


def logits_of(seed: int, kinds: int) -> Tensor:
    """Three rows; whole numbers among them, so that some are tied."""
    logits = 2 * torch.randn(3, kinds, generator=generator(seed), dtype=torch.float64)
    logits[1] = logits[1].round()
    return logits


@PROPERTY
@given(SEEDS, KINDS, st.integers(1, 15))
def test_top_k_keeps_k_tokens_and_none_is_likelier_than_a_kept_one(
    seed: int, kinds: int, k: int
) -> None:
    logits = logits_of(seed, kinds)
    kept = top_k(logits, k)
    is_kept = kept > -torch.inf
    assert (is_kept.sum(dim=1) == min(k, kinds)).all()
    assert torch.equal(kept[is_kept], logits[is_kept])
    least = kept.masked_fill(~is_kept, torch.inf).amin(dim=1, keepdim=True)
    assert (logits.masked_fill(is_kept, -torch.inf) <= least).all()


@PROPERTY
@given(SEEDS, KINDS, st.floats(0.01, 1))
def test_top_p_keeps_the_fewest_tokens_that_reach_p(seed: int, kinds: int, p: float) -> None:
    logits = logits_of(seed, kinds)
    chances = logits.softmax(dim=1)
    is_kept = top_p(logits, p) > -torch.inf
    for row, kept in zip(chances, is_kept, strict=True):
        mass, count = float(row[kept].sum()), int(kept.sum())
        assert count >= 1
        assert mass >= p - 1e-12
        assert mass == pytest.approx(float(row.sort(descending=True).values[:count].sum()))
        assert mass - float(row[kept].min()) < p + 1e-12  # without the last it is not reached


def test_nucleus_by_hand() -> None:
    logits = torch.tensor([[0.1, 0.5, 0.1, 0.3]]).log()
    kept = {p: top_p(logits, p).isfinite().nonzero()[:, 1].tolist() for p in (0.4, 0.5, 0.6, 1.0)}
    assert kept == {0.4: [1], 0.5: [1], 0.6: [1, 3], 1.0: [0, 1, 2, 3]}


@PROPERTY
@given(SEEDS, KINDS)
def test_the_likeliest_is_taken_at_temperature_0_and_of_one_kept_token(
    seed: int, kinds: int
) -> None:
    logits = torch.randn(3, kinds, generator=generator(seed))
    likeliest = logits.argmax(dim=1)
    for settings_ in ({"temperature": 0.0}, {"top_k": 1}, {"top_p": 1e-9}, {"temperature": 1e-6}):
        assert torch.equal(choose(logits, DecodingConfig(**settings_), generator(0)), likeliest)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_tokens_come_as_often_as_their_probabilities_say(temperature: float) -> None:
    draws = 20_000
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0, -3.0])
    config = DecodingConfig(temperature=temperature, top_k=4)
    drawn = choose(logits.expand(draws, 5), config, generator(0))
    shares = torch.bincount(drawn, minlength=5).double() / draws
    wanted = (logits[:4].double() / temperature).softmax(dim=0)
    assert shares[4] == 0
    assert (shares[:4] - wanted).abs().max() < 4 * math.sqrt(0.25 / draws)


def test_the_same_seed_draws_the_same_and_half_formats_will_do() -> None:
    logits = torch.randn(8, 50, generator=generator(0)).bfloat16()
    config = DecodingConfig(top_p=0.9)
    first, again, other = (choose(logits, config, generator(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@for_each(
    ("given_", "sentence"),
    [
        ({"temperature": -0.1}, "temperature must be at least 0.0, got -0.1"),
        ({"top_k": 0}, "top_k must be greater than 0, got 0"),
        ({"top_p": 0.0}, "top_p must be greater than 0.0, got 0.0"),
        ({"top_p": 1.5}, "top_p must be at most 1.0, got 1.5"),
        ({"max_tokens": 0}, "max_tokens must be greater than 0, got 0"),
    ],
)
def test_settings_without_a_meaning_are_refused(given_: dict[str, float], sentence: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        DecodingConfig(**given_)  # type: ignore[arg-type]
    assert str(refusal.value) == sentence


@for_each("temperature", [5e-324, 1e-310, 1e-250, 1e-100])
def test_the_smallest_temperatures_draw_the_likeliest(temperature: float) -> None:
    logits = torch.tensor([[-3e38, 1.0, 0.5], [2.0, -torch.inf, 3e38]])
    drawn = choose(logits, DecodingConfig(temperature=temperature), generator(0))
    assert drawn.tolist() == [1, 2]


def test_of_equals_the_smallest_temperature_still_draws() -> None:
    config = DecodingConfig(temperature=5e-324)
    logits, source = torch.tensor([[1.0, 1.0, 0.0]]), generator(0)
    assert {int(choose(logits, config, source)) for _ in range(40)} == {0, 1}
