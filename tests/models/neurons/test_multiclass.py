"""Many classes from two: how many members there are, what they vote, and what they may be."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError, DataError, UnknownNameError
from netwright.core.seeding import seeded
from netwright.data.catalog import load
from netwright.data.dataset import Split
from netwright.data.spec import DataSpec
from netwright.models.neurons.multiclass import MulticlassConfig, OneVsOne, OneVsRest
from netwright.testing.learner_contract import LEARNER_CHECKS
from netwright.testing.model_contract import MODEL_CHECKS
from tests.repetition import for_each


def spec(classes: int, width: int = 2) -> DataSpec:
    return DataSpec(
        inputs="features",
        input_shape=(width,),
        target="class",
        num_outputs=classes,
        class_names=tuple("abcdefghij"[:classes]),
    )


def blobs(classes: int, count: int = 300) -> Split:
    return load("blobs", n=count, centres=classes, features=5, separation=10, seed=3).train


def fitted(kind: Any, data: Split, classes: int, **settings: Any) -> Any:
    with seeded(0):
        model = kind.build(kind.settings(**settings), spec(classes, data.inputs.shape[1]))
    steps = list(model.fit_steps(data, seed=0))
    assert len(steps) == len(model.members)
    return model.eval()


def accuracy(model: Any, data: Split) -> float:
    with torch.no_grad():
        return float((model(data.inputs).argmax(dim=1) == data.targets).double().mean())


@pytest.mark.parametrize("kind", [OneVsRest, OneVsOne])
@pytest.mark.parametrize("base", ["perceptron", "mlp"])
@pytest.mark.parametrize("check", MODEL_CHECKS + LEARNER_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_contracts(kind: Any, base: str, check: Callable[[Any], None]) -> None:
    settings = {"hidden": [8]} if base == "mlp" else {"epochs": 10}
    config = kind.settings(base=base, base_settings=settings, epochs=10)
    check(lambda: kind.build(config, spec(3, 4)))


@pytest.mark.covers("one-vs-all")
def test_three_perceptrons_tell_three_blobs() -> None:
    model = fitted(OneVsRest, blobs(3), 3)
    assert len(model.members) == 3
    assert accuracy(model, blobs(3)) >= 0.95


@pytest.mark.covers("one-vs-one")
def test_four_classes_have_six_members_that_do_as_well() -> None:
    rest, pairs = fitted(OneVsRest, blobs(4), 4), fitted(OneVsOne, blobs(4), 4)
    assert len(pairs.members) == 6
    assert abs(accuracy(pairs, blobs(4)) - accuracy(rest, blobs(4))) <= 0.02


@for_each("base", ["logistic", "mlp", "averaged-perceptron", "delta-rule"])
def test_base_may_be_any_model_of_two_classes(base: str) -> None:
    small = {"hidden": [16]} if base == "mlp" else {}
    model = fitted(OneVsOne, blobs(3), 3, base=base, base_settings=small, epochs=20)
    assert accuracy(model, blobs(3)) >= 0.95


def test_most_votes_win_and_scores_break_ties(monkeypatch: pytest.MonkeyPatch) -> None:
    model = OneVsOne.build(MulticlassConfig(), spec(3))
    assert model.problems() == [(0, 1), (0, 2), (1, 2)]

    def scores(self: OneVsOne, x: Tensor) -> Tensor:
        return x

    monkeypatch.setattr(OneVsOne, "member_scores", scores)
    # 1 beats 0, 2 beats 0, 1 beats 2: two votes for class 1, though class 2 has a huge score.
    votes = model(torch.tensor([[1.0, 900.0, -1.0]]))
    assert votes.argmax().item() == 1
    # Each class beats one other: the largest sum decides.
    circle = model(torch.tensor([[1.0, -1.0, 5.0]]))
    assert circle.argmax().item() == 2
    assert circle.round().tolist() == [[1, 1, 1]]


def test_members_learn_their_two_classes_alone() -> None:
    data = Split(
        inputs=torch.tensor([[0.0, 1.0], [1.0, 0.0], [50.0, 50.0]]), targets=torch.tensor([0, 1, 2])
    )
    model = fitted(OneVsOne, data, 3)
    changed = Split(inputs=data.inputs * torch.tensor([[1.0], [1.0], [7.0]]), targets=data.targets)
    other = fitted(OneVsOne, changed, 3)
    assert torch.equal(model.members[0].scores.weight, other.members[0].scores.weight)
    assert not torch.equal(model.members[1].scores.weight, other.members[1].scores.weight)


def test_weights_reach_the_members() -> None:
    data = Split(
        inputs=torch.eye(2), targets=torch.tensor([0, 1]), weights=torch.tensor([1.0, 3.0])
    )
    model = fitted(OneVsOne, data, 2, base_settings={"epochs": 1})
    assert 3.0 in model.members[0].scores.weight.abs().flatten().tolist()


def test_unfit_bases_are_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"^unknown model 'preceptron'; did you mean"):
        MulticlassConfig(base="preceptron")
    sentence = "ridge predicts real, got a target of kind 'class'"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        OneVsRest.build(MulticlassConfig(base="ridge"), spec(3))
    with pytest.raises(ConfigError, match=r"^unknown setting 'base_settings.epoch'; did you"):
        OneVsRest.build(MulticlassConfig(base_settings={"epoch": 3}), spec(3))


def test_class_without_examples_is_refused() -> None:
    data = Split(inputs=torch.eye(2), targets=torch.tensor([0, 2]))
    model = OneVsOne.build(MulticlassConfig(), spec(3))
    with pytest.raises(DataError, match=r"^every class needs examples, got none of b$"):
        next(model.fit_steps(data, seed=0))
