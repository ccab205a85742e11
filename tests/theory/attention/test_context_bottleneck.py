"""The bottleneck of a fixed context: what linear maps tell of random tokens, and of a state."""

import pytest
import torch
from torch.nn.functional import one_hot

from netwright.core.seeding import generator
from netwright.data.catalog import load
from netwright.theory.attention.context_bottleneck import (
    BOTTLENECK,
    TOKENS,
    TRAINING,
    encode,
    look_back,
    percent_reversed,
    percent_told,
    source_lengths,
)
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(BOTTLENECK)


def test_what_is_told_falls_with_the_length_and_does_not_with_attention() -> None:
    _, fixed, attending = BOTTLENECK.check().chart.series
    assert list(fixed.y) == sorted(fixed.y, reverse=True)
    assert min(attending.y) > 99


def test_tokens_are_told_from_themselves_and_guessed_from_nothing() -> None:
    tokens = torch.randint(TOKENS, (4000, 3), generator=generator(0, "test"))
    assert percent_told(one_hot(tokens, TOKENS).float(), tokens) == 100
    assert percent_told(torch.zeros(4000, 3, 2), tokens) == pytest.approx(25, abs=2)


def test_attention_reads_each_place() -> None:
    states = torch.randn(2, 24, 5, generator=generator(0, "test"))
    torch.testing.assert_close(look_back(states), states, rtol=0, atol=0.02)


def test_the_state_does_not_know_later_tokens() -> None:
    tokens = torch.randint(TOKENS, (1, 6), generator=generator(0, "test"))
    changed = tokens.clone()
    changed[0, 4] = (tokens[0, 4] + 1) % TOKENS
    before, after = (encode(row, 8, generator(1, "test")) for row in (tokens, changed))
    torch.testing.assert_close(before[:, :4], after[:, :4])
    assert (before[:, 4] - after[:, 4]).abs().max() > 1e-2


def test_strings_are_counted_by_length_and_an_untrained_network_reverses_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(TRAINING, "max_steps", 1)
    data = load("reverse", length=6, min_length=4, n=200, val_size=0, test_size=0.5)
    lengths = source_lengths(data)
    assert len(lengths) == 100
    assert set(lengths.tolist()) == {4, 5, 6}
    assert percent_reversed(data, "luong-general", 0) == {4: 0, 6: 0}


def test_attention_to_all_places_alike_turns_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.theory.attention.context_bottleneck.SHARP", 0.0)
    assert not BOTTLENECK.check().holds
