"""Masked tokens: the shares of 100,000 of them, what is never covered, and the way back."""

import pytest
import torch
from torch import Tensor

from netwright.data.spec import IGNORED
from netwright.data.text.pretraining.masking import mask_again, mask_tokens, unmask_tokens
from netwright.data.text.tokenizer import BOS, EOS, PAD

MASK = 5000


def texts(rows: int = 100, length: int = 1000) -> Tensor:
    drawn = torch.randint(4, MASK, (rows, length), generator=torch.Generator().manual_seed(0))
    drawn[:, 0], drawn[:, -1] = BOS, EOS
    return drawn


def random(seed: int = 1) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.covers("masked-language-model")
def test_of_100_000_tokens_15_per_cent_are_chosen_as_80_10_10() -> None:
    tokens = texts()
    inputs, targets = mask_tokens(tokens, MASK, random())
    chosen = targets != IGNORED
    count = int(chosen.sum())
    assert abs(count / (100 * 998) - 0.15) < 0.005
    assert torch.equal(targets[chosen], tokens[chosen])
    assert torch.equal(inputs[~chosen], tokens[~chosen])
    masked, same = inputs == MASK, chosen & (inputs == tokens)
    assert not bool((masked & ~chosen).any())
    shares = [float(part.sum()) / count for part in (masked, chosen & ~masked & ~same, same)]
    for share, wanted in zip(shares, (0.8, 0.1, 0.1), strict=True):
        assert abs(share - wanted) < 0.01
    others = inputs[chosen & ~masked & ~same]
    assert 4 <= int(others.min()) < int(others.max()) < MASK
    assert len(set(others.tolist())) > 0.8 * len(others)  # of all tokens, not of a few


def test_special_tokens_are_never_chosen() -> None:
    tokens = torch.tensor([[BOS, EOS, PAD, 1]]).repeat(500, 1)
    inputs, targets = mask_tokens(tokens, MASK, random())
    assert torch.equal(inputs, tokens)
    assert bool((targets == IGNORED).all())


def test_texts_come_back_and_masks_are_drawn_anew_by_their_generator_alone() -> None:
    tokens = texts(20, 50)
    inputs, targets = mask_tokens(tokens, MASK, random())
    assert torch.equal(unmask_tokens(inputs, targets), tokens)
    targets[:, 0] = torch.arange(20) % 2
    again, places = mask_again(inputs, targets, mask=MASK, random=random(2))
    assert torch.equal(places[:, 0], targets[:, 0])
    assert torch.equal(again[:, 0], tokens[:, 0])
    assert torch.equal(unmask_tokens(again[:, 1:], places[:, 1:]), tokens[:, 1:])
    assert not torch.equal(places[:, 1:], targets[:, 1:])
    for one, other in zip(
        mask_again(again, places, mask=MASK, random=random(3)),
        mask_again(inputs, targets, mask=MASK, random=random(3)),
        strict=True,
    ):
        assert torch.equal(one, other)
