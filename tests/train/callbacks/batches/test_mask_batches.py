"""Masks of training: other places every epoch, the same ones again after a resume."""

from types import SimpleNamespace
from typing import Any

import torch

from netwright.data.loading.loader import Batch
from netwright.data.text.pretraining.masking import mask_tokens, unmask_tokens
from netwright.data.text.tokenizer import BOS
from netwright.train.callbacks.batches.mask_batches import MaskBatches

MASK = 30


def batch() -> Batch:
    random = torch.Generator().manual_seed(0)
    tokens = torch.randint(4, MASK, (8, 20), generator=random)
    tokens[:, 0] = BOS
    inputs, targets = mask_tokens(tokens, MASK, random)
    targets[:, 0] = 1
    return Batch(inputs, targets, None, torch.arange(8))


def masked(seed: int = 0, epoch: int = 0, position: int = 0, rank: int = 0) -> Batch:
    state: Any = SimpleNamespace(
        batch=batch(), epoch=epoch, position=position, ranks=SimpleNamespace(rank=rank)
    )
    MaskBatches(MASK, seed).on_batch_start(state)
    found: Batch = state.batch
    return found


def test_masks_follow_from_seed_epoch_position_and_rank_and_texts_stay() -> None:
    first, given = masked(), batch()
    assert torch.equal(masked().targets, first.targets)
    for other in (masked(seed=1), masked(epoch=1), masked(position=1), masked(rank=1)):
        assert not torch.equal(other.targets, first.targets)
        whole = unmask_tokens(other.inputs[:, 1:], other.targets[:, 1:])
        assert torch.equal(whole, unmask_tokens(given.inputs[:, 1:], given.targets[:, 1:]))
    assert torch.equal(first.targets[:, 0], given.targets[:, 0])


def test_without_a_batch_there_is_nothing_to_do() -> None:
    state: Any = SimpleNamespace(batch=None)
    MaskBatches(MASK, 0).on_batch_start(state)
    assert state.batch is None
