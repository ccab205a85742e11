"""BERT's masks: the shares of 100,000 tokens, and a mask of another kind that turns the verdict."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.attention import masking_shares
from netwright.theory.attention.masking_shares import MASKING_SHARES
from netwright.theory.claims import Claim


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check: Callable[[Claim], None]) -> None:
    check(MASKING_SHARES)


def test_shares_are_as_published_for_several_seeds() -> None:
    for seed in range(3):
        verdict = MASKING_SHARES.check(seed)
        assert verdict.holds
        assert verdict.findings[0].n == 100_000


def test_masks_of_another_kind_turn_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def always_covered(tokens: Tensor, mask: int, random: torch.Generator) -> tuple[Tensor, Tensor]:
        chosen = torch.rand(tokens.shape, generator=random) < 0.15
        return tokens.masked_fill(chosen, mask), tokens.masked_fill(~chosen, -100)

    monkeypatch.setattr(masking_shares, "mask_tokens", always_covered)
    verdict = MASKING_SHARES.check()
    assert not verdict.holds
    assert verdict.findings[0].holds  # as many are chosen, but none is exchanged
    assert not verdict.findings[2].holds
