"""Sizes of the transformer: the numbers of 2017, torch's own, and other widths."""

from collections.abc import Callable

import pytest
import torch
from torch import nn

from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.counting.transformer_sizes import TRANSFORMER_SIZES, block_sizes
from tests.repetition import for_each


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check: Callable[[Claim], None]) -> None:
    check(TRANSFORMER_SIZES)


def test_the_base_model_has_the_known_sizes() -> None:
    findings = TRANSFORMER_SIZES.check().findings
    wanted = [3_152_384, 4_204_032, 44_140_544]
    assert [finding.measured for finding in findings] == wanted
    assert [finding.predicted for finding in findings] == wanted


@pytest.mark.covers("transformer-scaling-knobs")
@for_each(("layers", "heads", "width"), [(1, 2, 4), (2, 4, 16), (6, 16, 1024)])
def test_any_size_is_torchs_and_about_12_squares_a_block(
    layers: int, heads: int, width: int
) -> None:
    found = TRANSFORMER_SIZES.check(layers=layers, heads=heads, width=width)
    assert found.holds
    with torch.device("meta"):
        theirs = nn.Transformer(width, heads, layers, layers, 4 * width, batch_first=True)
    assert found.findings[-1].measured == sum(part.numel() for part in theirs.parameters())
    encoder, _ = block_sizes(width)
    assert 12 * width**2 < encoder <= (12 + 13 / width) * width**2
