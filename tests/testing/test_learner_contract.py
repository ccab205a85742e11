"""The learner contract: a sound rule passes, and each check catches a rule that breaks it."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import pytest
import torch
from torch import Tensor, nn

from netwright.core.card import Card
from netwright.core.config import Config
from netwright.core.learner import Examples, Learner
from netwright.data.spec import DataSpec, InputKind, TargetKind
from netwright.models.linear.regression import LinearRegression, LinearRegressionConfig
from netwright.models.model import Model
from netwright.testing import learner_contract as contract
from netwright.testing.learner_contract import LEARNER_CHECKS, sample_examples
from tests.repetition import for_each


def spec(target: TargetKind, outputs: int) -> DataSpec:
    return DataSpec(inputs="features", input_shape=(4,), target=target, num_outputs=outputs)


class Sound(Model, Learner):
    """A linear map that walks down its squared error, in an order drawn from the seed."""

    settings: ClassVar[type[Config]] = Config
    inputs: ClassVar[frozenset[InputKind]] = frozenset({"features"})
    targets: ClassVar[frozenset[TargetKind]] = frozenset({"class", "labels", "real"})
    card: ClassVar[Card] = Card(sentence="It walks.", formula="W x", source="here")

    def __init__(self, config: Config, spec: DataSpec) -> None:
        super().__init__(config, spec)
        self.scores = nn.Linear(spec.num_features, max(1, spec.num_outputs))

    @classmethod
    def build(cls, config: Any, spec: DataSpec) -> Self:
        return cls(config, spec)

    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.scores(x)
        return scores

    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        targets = data.targets
        if self.spec.target == "class":
            targets = nn.functional.one_hot(targets, self.spec.num_outputs).float()
        targets = targets - 0.5 if self.spec.target in {"class", "labels"} else targets
        numbers = torch.Generator().manual_seed(seed)
        for _ in range(40):
            rows = torch.randperm(len(targets), generator=numbers)[:30]
            loss = (self(data.inputs[rows]) - targets[rows]).square().mean()
            grads = torch.autograd.grad(loss, tuple(self.parameters()))
            with torch.no_grad():
                for parameter, grad in zip(self.parameters(), grads, strict=True):
                    parameter.sub_(0.3 * grad)
            yield {"loss": loss.item()}


class Idle(Sound):
    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        return iter(())


class MeasuresNothing(Sound):
    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        yield {}


class GivesTensors(Sound):
    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        yield {"loss": torch.zeros(())}  # type: ignore[dict-item]


class GivesNan(Sound):
    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        yield {"loss": float("nan")}


class LearnsNothing(Sound):
    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        yield {"loss": 1.0}


class GetsWorse(Sound):
    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        yield {"loss": 1.0}
        yield {"loss": 2.0}


class IgnoresTheSeed(Sound):
    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        nn.init.constant_(self.scores.bias, torch.rand(()).item())
        yield {"loss": 1.0}


class MeasuresByChance(Sound):
    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        yield {"loss": torch.rand(()).item()}


class BrokenInBetween(Sound):
    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        nn.init.constant_(self.scores.bias, float("nan"))
        yield {"loss": 1.0}
        nn.init.zeros_(self.scores.bias)
        yield {"loss": 0.5}


class WritesIntoInputs(Sound):
    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        data.inputs.mul_(2)
        yield {"loss": 1.0}


class WritesIntoTargets(Sound):
    def fit_steps(self, data: Examples, seed: int) -> Iterator[dict[str, float]]:
        data.targets.sub_(data.targets.mean())
        yield {"loss": 1.0}


Check = Callable[[Callable[[], Any]], None]


@for_each("check", LEARNER_CHECKS, ids=lambda check: check.__name__)
@for_each(
    ("target", "outputs"), [("real", 1), ("real", 2), ("class", 3), ("labels", 2), ("none", 0)]
)
def test_sound_learner_passes(target: TargetKind, outputs: int, check: Check) -> None:
    check(lambda: Sound.build(Config(), spec(target, outputs)))


@for_each(
    ("check", "kind", "message"),
    [
        (contract.check_steps_are_finite_numbers, Idle, "not one step was made"),
        (contract.check_steps_are_finite_numbers, MeasuresNothing, "step 1 measured nothing"),
        (contract.check_steps_are_finite_numbers, GivesTensors, "must give text and floats"),
        (contract.check_steps_are_finite_numbers, GivesNan, "loss is nan at step 1"),
        (contract.check_learns, LearnsNothing, "the error was"),
        (contract.check_same_seed_same_result, IgnoresTheSeed, "scores.bias differs"),
        (contract.check_same_seed_same_result, MeasuresByChance, "measured different numbers"),
        (contract.check_usable_between_steps, BrokenInBetween, "not finite after step 1"),
        (contract.check_leaves_its_data_alone, WritesIntoInputs, "changed the inputs"),
        (contract.check_leaves_its_data_alone, WritesIntoTargets, "changed the targets"),
    ],
)
def test_broken_learner_is_caught(check: Check, kind: type[Sound], message: str) -> None:
    assert check in LEARNER_CHECKS
    with pytest.raises(AssertionError, match=message):
        check(lambda: kind.build(Config(), spec("real", 1)))


@pytest.mark.parametrize(("target", "outputs"), [("class", 3), ("labels", 2)])
def test_one_that_learns_nothing_is_caught_on_every_kind_of_target(
    target: TargetKind, outputs: int
) -> None:
    with pytest.raises(AssertionError, match="the error was"):
        contract.check_learns(lambda: LearnsNothing.build(Config(), spec(target, outputs)))


def test_without_targets_the_loss_must_not_rise() -> None:
    with pytest.raises(AssertionError, match=r"the loss rose from 1\.0 to 2\.0"):
        contract.check_learns(lambda: GetsWorse.build(Config(), spec("none", 0)))


def test_a_model_without_a_rule_of_its_own_is_refused() -> None:
    with pytest.raises(AssertionError, match="LinearRegression must be a Learner"):
        contract.check_learns(
            lambda: LinearRegression.build(LinearRegressionConfig(), spec("real", 1))
        )
    with pytest.raises(AssertionError, match="build must give a Model, got Linear"):
        contract.check_learns(lambda: nn.Linear(1, 1))


@pytest.mark.parametrize(
    ("target", "shape", "dtype"),
    [
        ("class", (60,), torch.int64),
        ("labels", (60, 3), torch.float32),
        ("real", (60, 3), torch.float32),
    ],
)
def test_sample_examples_fit_the_data(
    target: TargetKind, shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    examples = sample_examples(Sound.build(Config(), spec(target, 3)))
    assert examples.inputs.shape == (60, 4)
    assert examples.targets.shape == shape
    assert examples.targets.dtype == dtype
    if target == "class":
        assert set(examples.targets.tolist()) == {0, 1, 2}
    if target == "labels":
        assert set(examples.targets.flatten().tolist()) == {0.0, 1.0}
