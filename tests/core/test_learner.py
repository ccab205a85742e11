"""The learner protocol: what must be written, and that a generator is all it takes."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor, nn

from netwright.core.learner import Examples, Learner
from netwright.data.dataset import Split


class Mean(nn.Module, Learner):
    """Learns the mean of the targets, halving its distance with each step."""

    def __init__(self) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.zeros(1))

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        for _ in range(3):
            with torch.no_grad():
                self.value.lerp_(data.targets.mean(), 0.5)
                loss = (data.targets - self.value).square().mean()
            yield {"loss": float(loss)}


@dataclass(frozen=True)
class Plain:
    """Somebody's own examples: no class of ours."""

    inputs: Tensor
    targets: Tensor
    weights: Tensor | None = None


def test_fit_steps_must_be_written() -> None:
    class Lazy(nn.Module, Learner):
        pass

    with pytest.raises(TypeError, match="fit_steps"):
        Lazy()  # type: ignore[abstract]


def test_learner_moves_only_as_far_as_it_is_pulled() -> None:
    model = Mean()
    steps = model.fit_steps(Plain(torch.zeros(2, 1), torch.full((2, 1), 8.0)), seed=0)
    assert model.value.item() == 0.0
    assert next(steps) == {"loss": 16.0}
    assert model.value.item() == 4.0
    assert [step["loss"] for step in steps] == [4.0, 1.0]


def test_a_split_of_our_data_is_examples() -> None:
    split: Examples = Split(inputs=torch.zeros(2, 1), targets=torch.ones(2, 1))
    assert len(list(Mean().fit_steps(split, seed=0))) == 3
