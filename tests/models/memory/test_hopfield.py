"""The Hopfield classifier: its contracts, its rules, and real digits with a fifth flipped."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.data.files.idx import read_idx
from netwright.data.spec import DataSpec
from netwright.models.memory.hopfield import Hopfield, HopfieldConfig
from netwright.testing.learner_contract import LEARNER_CHECKS
from netwright.testing.model_contract import MODEL_CHECKS
from tests.repetition import for_each

SPEC = DataSpec(inputs="features", input_shape=(12,), target="class", num_outputs=3)


@for_each("check", MODEL_CHECKS + LEARNER_CHECKS, ids=lambda check: check.__name__)
@for_each("rule", ["hebbian", "pseudo-inverse"])
def test_keeps_the_contracts(rule: Any, check: Callable[[Any], None]) -> None:
    check(lambda: Hopfield.build(HopfieldConfig(rule=rule), SPEC))


def test_synchronous_and_asynchronous_recall_end_at_the_stored_pattern() -> None:
    pattern = 2.0 * torch.randint(2, (1, 12), generator=torch.Generator().manual_seed(0)) - 1
    for update in ("asynchronous", "synchronous"):
        model = Hopfield.build(HopfieldConfig(update=update), SPEC)
        model.patterns = pattern
        model.remember()
        start = pattern.clone()
        start[0, :3] *= -1
        assert torch.equal(model.recall(start), pattern)


def test_two_units_that_push_each_other_circle_only_if_they_move_together() -> None:
    start = torch.tensor([[1.0, 1.0]])
    spec = DataSpec(inputs="features", input_shape=(2,), target="class", num_outputs=2)
    ends = {}
    for update in ("asynchronous", "synchronous"):
        model = Hopfield.build(HopfieldConfig(update=update, rule="hebbian", sweeps=5), spec)
        model.patterns = torch.tensor([[1.0, -1.0]])
        model.remember()
        ends[update] = model.recall(start).tolist()
    assert ends == {"asynchronous": [[-1.0, 1.0]], "synchronous": [[-1.0, -1.0]]}


def test_too_many_inputs_are_refused() -> None:
    large = DataSpec(inputs="image", input_shape=(3, 64, 64), target="class", num_outputs=2)
    with pytest.raises(
        ConfigError,
        match=r"^hopfield has a weight for each pair of inputs: at most 10,000 inputs, got 12,288$",
    ):
        Hopfield.build(HopfieldConfig(), large)


def test_fifty_real_digits_come_back_from_a_fifth_flipped_and_hebb_loses_them(
    real_data: Callable[[str], Path],
) -> None:
    images = torch.from_numpy(read_idx(real_data("mnist/train-images-idx3-ubyte.gz")).copy())
    spec = DataSpec(inputs="image", input_shape=(1, 28, 28), target="class", num_outputs=10)
    numbers = torch.Generator().manual_seed(0)
    rows = torch.randperm(len(images), generator=numbers)[:50]
    recalled = {}
    for rule in ("pseudo-inverse", "hebbian"):
        model = Hopfield.build(HopfieldConfig(rule=rule), spec)
        model.patterns = model.encode(images[rows] / 255)
        model.remember()
        flips = torch.rand(50, 784, generator=torch.Generator().manual_seed(1)) < 0.2
        end = model.recall(torch.where(flips, -model.patterns, model.patterns))
        recalled[rule] = (end == model.patterns).all(dim=1).float().mean().item()
    assert recalled["pseudo-inverse"] >= 0.95
    assert recalled["hebbian"] == 0.0
