"""Masks of training: other places every epoch, the same ones again after a resume."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch

from netwright.data.loading.loader import Batch
from netwright.data.spec import DataSpec
from netwright.data.text.pretraining.masking import mask_again, mask_tokens, unmask_tokens
from netwright.data.text.pretraining.span_corruption import (
    draw_spans,
    leave_out,
    put_back,
    spans_of,
)
from netwright.data.text.tokenizer import BOS
from netwright.train.callbacks.batches.mask_batches import MaskBatches
from netwright.train.regularization import regularizing_callbacks
from netwright.train.settings import TrainConfig

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
    MaskBatches(partial(mask_again, mask=MASK), seed).on_batch_start(state)
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
    MaskBatches(partial(mask_again, mask=MASK), 0).on_batch_start(state)
    assert state.batch is None


def test_training_draws_masks_and_spans_anew_where_the_data_have_them() -> None:
    masked_text = DataSpec(
        inputs="masked", input_shape=(8,), target="tokens", num_outputs=9, vocab_size=10
    )
    spans = spans_of(20)
    corrupted = DataSpec(
        inputs="pairs",
        input_shape=(spans.source_length + spans.target_length,),
        target="tokens",
        num_outputs=30 + spans.sentinels,
        vocab_size=30 + spans.sentinels,
        source_length=spans.source_length,
        sentinels=spans.sentinels,
    )
    kept = [
        regularizing_callbacks(TrainConfig(), 0, spec, torch.nn.Linear(1, 1)).first
        for spec in (masked_text, corrupted, replace(corrupted, sentinels=0))
    ]
    assert [[type(one) for one in callbacks] for callbacks in kept] == [
        [MaskBatches],
        [MaskBatches],
        [],
    ]
    texts = torch.randint(4, 30, (8, 20), generator=torch.Generator().manual_seed(0))
    is_out = draw_spans(8, spans, torch.Generator().manual_seed(0))
    inputs, targets = leave_out(texts, is_out, spans, 30)
    state: Any = SimpleNamespace(
        batch=Batch(inputs, targets, None, torch.arange(8)),
        epoch=0,
        position=0,
        ranks=SimpleNamespace(rank=0),
    )
    kept[1][0].on_batch_start(state)
    assert not torch.equal(state.batch.targets, targets)
    assert torch.equal(put_back(state.batch.inputs, state.batch.targets, spans, 30), texts)
