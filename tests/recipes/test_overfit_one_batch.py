"""A few rows learned by heart: by every healthy model, and not by a broken one."""

import copy
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import netwright as nw
from netwright.recipes import overfit_one_batch as module
from netwright.recipes.fit import prepare
from netwright.recipes.overfit_one_batch import overfit_one_batch


class Broken(nn.Module):
    """A network whose hidden layer hears nothing of the loss, or whose input is lost."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.hidden, self.head = nn.Linear(4, 8), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        logits: Tensor = self.head(torch.relu(self.hidden(x * (self.how != "deaf"))))
        return logits.detach() if self.how == "detached" else logits


@pytest.mark.parametrize(
    ("model", "data", "settings"),
    [
        ("mlp", "digits", {"dropout": 0.5, "label_smoothing": 0.2}),
        ("mlp", "diabetes", {}),
        ("mlp", "moons", {}),
        ("softmax", "iris", {}),
        ("linear-regression", "diabetes", {}),
        ("cnn", "digits", {}),
        ("lstm", "parity", {"hidden": 16}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_healthy_models_learn_a_few_rows(model: str, data: str, settings: dict[str, Any]) -> None:
    tried = overfit_one_batch(prepare(model, data, **settings))
    assert tried.is_learned
    assert tried.finding() is None
    assert tried.untouched == ()


def test_a_part_that_no_gradient_reaches_is_named() -> None:
    found = overfit_one_batch(prepare(Broken("detached"), "iris")).finding()
    assert found is not None
    assert found.sentence.startswith("5 rows cannot be learned by heart: in 300 steps their loss ")
    assert found.sentence.endswith(
        "; no gradient reaches 'hidden.weight', 'hidden.bias', 'head.weight', 'head.bias'"
    )


def test_a_model_that_does_not_hear_its_input_is_found() -> None:
    found = overfit_one_batch(prepare(Broken("deaf"), "iris")).finding()
    assert found is not None
    assert found.sentence.endswith("; no gradient reaches 'hidden.weight'")


def test_equal_rows_of_different_classes_cannot_be_learned() -> None:
    data = nw.data.load("moons", val_size=0.0, test_size=0.0)
    same = data.train.inputs[:1].expand(len(data.train), -1).clone()
    contradictory = nw.Data(
        name="same",
        spec=data.spec,
        train=type(data.train)(inputs=same, targets=data.train.targets),
        preprocessor=data.preprocessor,
    )
    found = overfit_one_batch(prepare("mlp", contradictory)).finding()
    assert found is not None
    assert found.sentence.endswith("; equal rows among them have different targets")
    assert found.fix == "Mend the targets of equal rows"


def test_the_rows_are_of_as_many_classes_as_can_be() -> None:
    data = nw.data.load("digits")
    batch = module._few_rows(data, torch.device("cpu"))
    assert batch.targets.unique().numel() == len(batch.rows) == 8  # type: ignore[no-untyped-call]


def test_when_time_is_up_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SECONDS", 0.0)
    tried = overfit_one_batch(prepare(Broken("deaf"), "iris"))
    assert not tried.is_finished
    assert tried.finding() is None


def test_the_model_and_the_callers_chance_stay_as_they_were() -> None:
    prepared = prepare("mlp", "digits")
    before = copy.deepcopy(prepared.model.state_dict())
    chance = torch.get_rng_state()
    overfit_one_batch(prepared)
    after = prepared.model.state_dict()
    assert all(torch.equal(before[name], tensor) for name, tensor in after.items())
    assert all(one.grad is None for one in prepared.model.parameters())
    assert torch.equal(chance, torch.get_rng_state())
    assert prepared.model.training
