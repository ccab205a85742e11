"""What ranks draw: each has its own dropout and noise on its rows; what moves weights is the same.

Two ranks that never hear of each other, with rows that are all alike: what they see differs by what
they draw, and by nothing else.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from netwright.data.dataset import Data
from netwright.train.callback import Callback
from netwright.train.ranks import ALONE, Ranks
from netwright.train.saving.checkpoint import load_checkpoint, save_checkpoint
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.tasks.catalog import task_for
from netwright.train.trainer import Trainer
from tests.repetition import for_each
from tests.train.toy_runs import toy_data, toy_net


class Unheard(Ranks):
    """One of two ranks that hears nothing of the other."""

    is_alone = True


def alike() -> Data:
    """Rows that are all the same."""
    data = toy_data(rows=16, val=0)
    train = data.train.take(torch.zeros(16, dtype=torch.long))
    return replace(data, train=train)


class Look(Callback):
    """Notes what a run draws in each batch, and what its model sees."""

    def __init__(self, model: nn.Sequential) -> None:
        self.seen: list[Tensor] = []
        self.model = model
        model[-2].register_forward_hook(self.note)  # the dropout

    def note(self, layer: nn.Module, inputs: Any, output: Tensor) -> None:
        if layer.training:
            self.seen.append(output.detach().clone())

    def on_batch_start(self, state: TrainState) -> None:
        assert state.batch is not None
        self.seen += [state.batch.inputs.clone(), state.batch.targets.clone()]

    def on_before_update(self, state: TrainState) -> None:
        self.seen += [grad.clone() for grad in state.whole_gradients()]


class Draw(Callback):
    """Notes a number of each generator at the start of each batch."""

    def __init__(self, model: nn.Module) -> None:
        self.seen: list[Tensor] = []

    def on_batch_start(self, state: TrainState) -> None:
        drawn = [random.random(), float(np.random.rand()), float(torch.rand(()))]
        self.seen.append(torch.tensor(drawn))


def trained(
    ranks: Ranks, look: Callable[[nn.Sequential], Look | Draw] = Look, **settings: Any
) -> list[Tensor]:
    """What one rank saw in the first batch and in all the others."""
    model = toy_net(dropout=settings.pop("dropout", 0.0))
    config = TrainConfig(epochs=1, batch_size=8, device="cpu", **settings)
    data, spy = alike(), look(model)
    trainer = Trainer(config, task_for(data), callbacks=[spy], seed=3, ranks=ranks)
    trainer.fit(trainer.start(model, data), data)
    return spy.seen


def differ(**settings: Any) -> bool:
    first, second = (trained(Unheard(rank, 2), **settings) for rank in (0, 1))
    assert len(first) == len(second) > 0
    return any(not torch.equal(one, other) for one, other in zip(first, second, strict=True))


def test_without_chance_two_ranks_with_the_same_rows_see_the_same() -> None:
    assert not differ()


@for_each("setting", ["dropout", "input_noise", "label_noise", "output_noise"])
def test_what_is_drawn_for_rows_is_drawn_by_each_rank_for_itself(setting: str) -> None:
    assert differ(**{setting: 0.5})


@pytest.mark.parametrize("setting", ["weight_noise", "gradient_noise"])
def test_what_moves_weights_is_the_same_on_each_rank(setting: str) -> None:
    assert not differ(**{setting: 0.5})
    noisy: dict[str, Any] = {setting: 0.5}
    first = trained(Unheard(0, 2), **noisy)
    plain = trained(Unheard(0, 2))
    assert any(not torch.equal(one, other) for one, other in zip(first, plain, strict=True))


def test_each_rank_has_its_own_generators_and_the_first_those_of_one_alone() -> None:
    streams = [torch.stack(trained(Unheard(rank, 3), Draw)) for rank in range(3)]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert bool((streams[one][0] != streams[other][0]).all())
    alone = trained(ALONE, Draw)[: len(streams[0])]
    assert torch.equal(streams[0], torch.stack(alone))


def test_each_rank_goes_on_with_its_own_stream(tmp_path: Path) -> None:
    heard: list[bytes] = []

    class Gathers(Unheard):
        def gather(self, content: bytes, work: str = "") -> list[bytes]:
            heard.append(content)
            return heard[::-1]

    class SaveAtEnd(Callback):
        def on_fit_end(self, state: TrainState) -> None:
            save_checkpoint(tmp_path / "saved", state)

    def begun(ranks: Ranks, *callbacks: Callback) -> tuple[Trainer, TrainState]:
        config = TrainConfig(epochs=1, batch_size=8, device="cpu")
        trainer = Trainer(config, task_for(alike()), callbacks=callbacks, seed=3, ranks=ranks)
        return trainer, trainer.start(toy_net(dropout=0.5), alike())

    for rank in (1, 0):  # the first writes, when it has heard of the other
        trainer, state = begun(Gathers(rank, 2), SaveAtEnd())
        trainer.fit(state, alike())
    restored = []
    for rank in (0, 1):
        _, state = begun(Unheard(rank, 2))
        load_checkpoint(tmp_path / "saved", state)
        assert state.random is not None
        restored.append(state.random["torch"])
    assert not torch.equal(*restored)
