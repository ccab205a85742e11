"""Augmented batches in training: fresh, repeatable, and better where test images are shifted."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from netwright.core.seeding import derive_seed, seeded
from netwright.data.augment.pipeline import parse_augmentations
from netwright.data.catalog import load
from netwright.data.dataset import Data, Split
from netwright.data.loading.loader import Batch
from netwright.train.callback import Callback
from netwright.train.callbacks.batches.augment_batches import AugmentBatches
from netwright.train.saving.checkpoint import load_checkpoint, save_checkpoint
from netwright.train.state import TrainState
from netwright.train.trainer import Trainer
from tests.train.toy_runs import assert_same, copy_of, toy_start, toy_trainer


class Diary(Callback):
    """Notes what the model was shown, and saves after one of the batches."""

    def __init__(self, folder: Path | None = None, save_after: int = 0) -> None:
        self.folder, self.save_after = folder, save_after
        self.shown: list[Batch] = []

    def on_batch_end(self, state: TrainState) -> None:
        assert state.batch is not None
        inputs = state.batch.inputs.clone()  # the next batch is made in the same memory
        self.shown.append(state.batch._replace(inputs=inputs))
        if self.folder is not None and len(self.shown) == self.save_after:
            save_checkpoint(self.folder, state, [])


def digits(count: int) -> Data:
    data = load("digits")
    return replace(data, train=data.train.take(torch.arange(count)), val=None)


def net() -> nn.Module:
    with seeded(0):
        return nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def trainer_for(data: Data, specs: list[str], diary: Diary, epochs: int = 2) -> Trainer:
    augment = AugmentBatches(parse_augmentations(specs, data.spec), seed=0)
    calls = [augment, diary]
    return toy_trainer(data, callbacks=calls, batch_size=32, epochs=epochs, lr=0.01)


def images_in_order(batches: list[Batch]) -> tuple[Tensor, Tensor]:
    """What was shown in an epoch, by the row of the data that it is from."""
    order = torch.cat([batch.rows for batch in batches]).argsort()
    images = torch.cat([batch.inputs for batch in batches])[order]
    return images, torch.cat([batch.targets for batch in batches])[order]


def accuracy(model: nn.Module, split: Split) -> float:
    with torch.no_grad():
        return float((model(split.inputs).argmax(dim=1) == split.targets).double().mean())


def shifted_by_a_pixel(split: Split) -> Split:
    """Every image, one pixel up, down, left and right."""
    images = [split.inputs.roll(by, dim) for by in (-1, 1) for dim in (2, 3)]
    return Split(inputs=torch.cat(images), targets=split.targets.repeat(4))


@pytest.mark.covers("data-augmentation")
def test_each_epoch_is_fresh_labels_stay_and_shifted_images_are_known_better() -> None:
    data, diary = digits(300), Diary()
    assert data.test is not None
    plain, augmented = trainer_for(data, [], Diary(), 15), trainer_for(data, ["crop=1"], diary, 15)
    states = [trainer.start(net(), data) for trainer in (plain, augmented)]
    for trainer, state in zip((plain, augmented), states, strict=True):
        trainer.fit(state, data)
    (first, labels), (second, labels_again) = (
        images_in_order(diary.shown[start : start + 10]) for start in (0, 10)
    )
    assert not torch.equal(first, second)
    assert torch.equal(labels, data.train.targets)
    assert torch.equal(labels_again, data.train.targets)
    moved = shifted_by_a_pixel(data.test)
    without, with_crops = (accuracy(state.model, moved) for state in states)
    assert with_crops > without + 0.1  # 0.68 after 0.47


def test_a_run_that_goes_on_sees_what_it_would_have_seen(tmp_path: Path) -> None:
    data, specs = digits(96), ["crop=1", "rotation=10", "brightness", "noise"]
    whole, rest = Diary(tmp_path / "saved", save_after=2), Diary()
    trainer = trainer_for(data, specs, whole)
    state = trainer.start(net(), data)
    trainer.fit(state, data)
    again = trainer_for(data, specs, rest)
    resumed = again.start(net(), data)
    load_checkpoint(tmp_path / "saved", resumed, [])
    again.fit(resumed, data)
    assert len(rest.shown) == 4
    assert_same(list(map(tuple, rest.shown)), list(map(tuple, whole.shown[2:])))
    assert_same(copy_of(resumed.model), copy_of(state.model))


def test_the_batch_is_what_the_pipeline_gives_for_its_place_and_rank() -> None:
    data = digits(32)
    pipeline = parse_augmentations(["crop=1", "mixup"], data.spec)
    plain = Batch(data.train.inputs, data.train.targets, None, torch.arange(32))
    state = toy_start()
    state.epoch, state.position = 3, 5
    for rank in (0, 1):
        state.batch, state.ranks = plain, replace(state.ranks, rank=rank, world=2)
        AugmentBatches(pipeline, seed=7).on_batch_start(state)
        wanted = pipeline(plain, derive_seed(7, "rank", rank), 3, 5)
        assert_same(tuple(state.batch), tuple(wanted))
    assert not torch.equal(wanted.inputs, pipeline(plain, derive_seed(7, "rank", 0), 3, 5).inputs)
