"""`find_lr`: from names to a suggestion, with nothing learned and nothing written."""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from netwright.core.errors import ConfigError
from netwright.inspection.training.learning_rate_range import LearningRateRange
from netwright.models.linear.regression import Ridge, RidgeConfig
from netwright.models.mlp import MLPConfig
from netwright.recipes.fitting.find_lr import find_lr, find_prepared_lr
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.training import train
from netwright.train.learning_rate_range import try_learning_rates


def test_names_settings_and_seed_are_those_of_fit() -> None:
    prepared = prepare("mlp", "moons", hidden=(8,), batch_size=16, optimizer="sgd", seed=3)
    by_hand = try_learning_rates(
        prepared.model, prepared.data, prepared.task, prepared.recipe.train, seed=3
    )
    settings: dict[str, Any] = {"batch_size": 16, "optimizer": "sgd", "seed": 3}
    assert find_lr("mlp", "moons", hidden=(8,), **settings) == by_hand
    assert find_lr(MLPConfig(hidden=(8,)), "moons", **settings) == by_hand


def test_a_module_of_ones_own_stays_as_it_is() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    assert isinstance(find_lr(model, "iris"), LearningRateRange)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert model.training


def test_an_optimizer_of_ones_own_need_not_take_a_rate() -> None:
    def found(optimizer: Any) -> LearningRateRange:
        return find_lr("softmax", "iris", optimizer=optimizer, device="cpu")

    assert found(lambda parameters: torch.optim.SGD(parameters, lr=0.1)) == found("sgd")


class Moved(nn.Linear):
    """Notes where it is sent, and stays on the CPU."""

    places: tuple[str, ...] = ()

    def to(self, device: Any) -> Any:  # type: ignore[override]
        self.places += (str(device),)
        return self


def test_a_module_of_ones_own_comes_back_from_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    model, before = Moved(4, 3), []
    monkeypatch.setattr("netwright.recipes.fitting.fit.pick_device", lambda _: torch.device("cuda"))
    monkeypatch.setattr(
        "netwright.recipes.fitting.find_lr.find_prepared_lr", lambda _: before.append(model.places)
    )
    find_lr(model, "iris")
    assert before[0][0] == "cuda"
    assert model.places == (*before[0], "cpu")


def test_what_was_tried_trains_as_if_it_never_was() -> None:
    def trained(tried: bool) -> dict[str, torch.Tensor]:
        prepared = prepare("mlp", "xor", hidden=(8,), epochs=2)
        if tried:
            find_prepared_lr(prepared)
        return train(prepared, quiet=True, keep_folder=False).model.state_dict()

    plain, after = trained(False), trained(True)
    assert all(torch.equal(plain[name], after[name]) for name in plain)


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    find_lr("softmax", "iris")
    assert not list(tmp_path.iterdir())


class NoNet(Ridge):
    """A learner that is in no catalog."""


@pytest.mark.parametrize("name", ["ridge", "least-squares"])
def test_a_model_with_a_rule_of_its_own_is_refused(name: str) -> None:
    sentence = f"{name} has its own learning rule and no learning rate to find"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        find_lr(name, "diabetes")


def test_a_learner_of_ones_own_is_refused_by_its_class() -> None:
    prepared = prepare("ridge", "diabetes")
    with pytest.raises(ConfigError, match=r"^NoNet has its own learning rule"):
        find_lr(NoNet(RidgeConfig(), prepared.data.spec), "diabetes")


@pytest.mark.slow
def test_a_training_with_the_suggestion_is_not_much_worse_than_with_the_default() -> None:
    settings: dict[str, Any] = {"hidden": (32,), "epochs": 5}

    def accuracy(lr: float | None) -> float:
        prepared = prepare("mlp", "digits", lr=lr, **settings)
        run = train(prepared, quiet=True, keep_folder=False)
        return float(run.results["metrics"]["accuracy"])

    lr = find_lr("mlp", "digits", **settings).suggestion
    assert lr is not None
    assert accuracy(lr) > accuracy(None) - 0.01
