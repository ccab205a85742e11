"""The dense memory as a classifier: its contracts, and digits that the square cannot hold."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.data.bundled import load_digits
from netwright.data.source import DataConfig
from netwright.data.spec import DataSpec
from netwright.models.memory.dense_memory import DenseMemory, DenseMemoryConfig
from netwright.testing.learner_contract import LEARNER_CHECKS
from netwright.testing.model_contract import MODEL_CHECKS
from tests.repetition import for_each

SPEC = DataSpec(inputs="features", input_shape=(10,), target="class", num_outputs=3)


@for_each("check", MODEL_CHECKS + LEARNER_CHECKS, ids=lambda check: check.__name__)
@for_each("form", ["power", "exponential"])
def test_keeps_the_contracts(form: Any, check: Callable[[Any], None]) -> None:
    check(lambda: DenseMemory.build(DenseMemoryConfig(form=form, patterns=30), SPEC))


@pytest.mark.slow
def test_digits_are_told_by_the_exponential_and_lost_by_the_square() -> None:
    data = load_digits(DataConfig())
    assert data.test is not None
    rows = torch.arange(100)
    right = {}
    for form in ("exponential", "power"):
        config = DenseMemoryConfig(form=form, power=2, patterns=100, sweeps=3)
        model = DenseMemory.build(config, data.spec)
        list(model.fit_steps(data.train, 0))
        answers = model(data.test.inputs[rows]).argmax(dim=1)
        right[form] = (answers == data.test.targets[rows]).float().mean().item()
    assert right["exponential"] > 0.8
    assert right["power"] < 0.5


def test_the_power_is_at_least_two() -> None:
    with pytest.raises(ConfigError, match=r"^power must be at least 2, got 1$"):
        DenseMemoryConfig(power=1)
