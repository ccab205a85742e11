"""A few rows learned by heart: by every healthy model, and not by a broken one."""

import copy
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.core.finding import Finding
from netwright.data.checkup.examination import Undecided
from netwright.recipes.doctor import overfit_one_batch as module
from netwright.recipes.doctor.overfit_one_batch import overfit_one_batch
from netwright.recipes.fitting.fit import prepare
from netwright.train.tasks.catalog import task_for


class Broken(nn.Module):
    """A network whose hidden layer hears nothing of the loss, or whose input is lost."""

    def __init__(self, how: str, inputs: int = 4, outputs: int = 3) -> None:
        super().__init__()
        self.how = how
        self.hidden, self.head = nn.Linear(inputs, 32), nn.Linear(32, outputs)

    def forward(self, x: Tensor) -> Tensor:
        hidden = torch.relu(self.hidden(x * (self.how != "deaf")))
        logits: Tensor = self.head(hidden.detach() if self.how == "random" else hidden)
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
        pytest.param("lstm", "parity", {"hidden": 16}, marks=pytest.mark.slow),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_healthy_models_learn_a_few_rows(model: str, data: str, settings: dict[str, Any]) -> None:
    tried = overfit_one_batch(prepare(model, data, **settings))
    assert tried.is_learned
    assert tried.answer() is None
    assert tried.untouched == ()


def test_a_model_that_no_gradient_reaches_is_refused_at_the_door() -> None:
    with pytest.raises(ConfigError, match=r"^the loss does not depend on any parameter"):
        prepare(Broken("detached"), "iris")


def test_a_model_that_does_not_hear_its_input_is_found() -> None:
    found = overfit_one_batch(prepare(Broken("deaf"), "iris")).answer()
    assert isinstance(found, Finding)
    assert found.sentence.endswith("; no gradient reaches 'hidden.weight'")


def test_a_body_that_no_gradient_reaches_is_found_also_where_its_head_learns_the_rows() -> None:
    tried = overfit_one_batch(prepare(Broken("random"), "iris"))
    assert not tried.is_stuck
    found = tried.answer()
    assert isinstance(found, Finding)
    assert found.illness == "frozen-part"
    assert found.sentence.startswith("no gradient reaches 'hidden.weight', 'hidden.bias': ")
    frozen = Broken("whole")
    frozen.hidden.requires_grad_(requires_grad=False)  # somebody meant it
    assert overfit_one_batch(prepare(frozen, "iris")).untouched == ()


def test_rows_that_are_known_from_the_start_need_no_gradient() -> None:
    tried = overfit_one_batch(prepare(Broken("random"), "iris"))
    assert replace(tried, first=0.0, last=0.0).answer() is None


def test_a_head_that_starts_at_zero_is_no_wall() -> None:
    model = Broken("whole")
    nn.init.zeros_(model.head.weight)
    assert overfit_one_batch(prepare(model, "iris")).answer() is None


@pytest.mark.slow
def test_a_regression_that_does_not_hear_its_input_is_found() -> None:
    torch.manual_seed(0)
    tried = overfit_one_batch(prepare(Broken("deaf", 10, 1), "diabetes"))
    assert tried.last == pytest.approx(tried.blind, rel=0.05)
    assert tried.is_stuck


def test_one_answer_to_all_rows_has_the_entropy_of_the_classes() -> None:
    prepared = prepare("mlp", "iris", device="cpu")
    batch = module._few_rows(prepared.data, torch.device("cpu"))
    shares = batch.targets.bincount() / len(batch.targets)
    blind = module._blind_loss(
        prepared.model, batch, task_for(prepared.data, prepared.recipe.train)
    )
    assert blind == pytest.approx(float(-(shares * shares.log()).sum()), rel=1e-3)


@pytest.mark.slow
def test_equal_rows_of_different_classes_cannot_be_learned() -> None:
    data = nw.data.load("moons", val_size=0.0, test_size=0.0)
    same = data.train.inputs[:1].expand(len(data.train), -1).clone()
    contradictory = nw.Data(
        name="same",
        spec=data.spec,
        train=type(data.train)(inputs=same, targets=data.train.targets),
        preprocessor=data.preprocessor,
    )
    found = overfit_one_batch(prepare("mlp", contradictory)).answer()
    assert isinstance(found, Finding)
    assert found.sentence.endswith("; equal rows among them have different targets")
    assert found.fix == "Fix the targets of equal rows"


def test_the_rows_are_of_as_many_classes_as_can_be() -> None:
    data = nw.data.load("digits")
    batch = module._few_rows(data, torch.device("cpu"))
    assert batch.targets.unique().numel() == len(batch.rows) == 8


def test_when_time_is_up_nothing_is_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_SECONDS", 0.0)
    tried = overfit_one_batch(prepare(Broken("deaf"), "iris"))
    assert not tried.is_finished
    assert tried.answer() == Undecided(
        f"time was up after 0 steps, the loss went from {tried.first:.3g} to {tried.first:.3g}"
    )


def test_rows_that_are_learned_in_part_are_said_to_be_so() -> None:
    tried = overfit_one_batch(prepare("softmax", "iris"))
    half = replace(tried, last=0.3 * tried.first, blind=0.8 * tried.first)
    answer = half.answer()
    assert isinstance(answer, Undecided)
    assert answer.why.startswith("they were partly learned, the loss went from ")


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
