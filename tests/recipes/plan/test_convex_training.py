"""Convex models: which go to their optimum by default, that they come there, and what is kept."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from sklearn.linear_model import LinearRegression, LogisticRegression
from torch import nn

import netwright as nw
from netwright.core.files.storage import read_json
from netwright.data.catalog import load
from netwright.data.dataset import Data
from netwright.recipes.fitting.fit import prepare, put_together
from netwright.recipes.plan import convex_training
from netwright.recipes.plan.convex_training import has_optimum
from netwright.recipes.plan.recipe import parse_recipe
from netwright.recipes.plan.recipe_file import read_recipe_file
from tests.repetition import for_each

CPU: dict[str, Any] = {"device": "cpu"}


def chosen(model: str = "logistic", data: Any = "moons", **settings: Any) -> tuple[Any, ...]:
    config = prepare(model, data, **CPU, **settings).recipe.train
    return config.optimizer, config.lr, config.restore_best


@pytest.mark.parametrize(
    ("model", "data"),
    [("logistic", "moons"), ("softmax", "iris"), ("linear-regression", "diabetes")],
)
def test_without_optimizer_and_rate_a_convex_model_goes_to_its_optimum(
    model: str, data: str
) -> None:
    assert chosen(model, data) == ("lbfgs", None, False)
    prepared = prepare(model, data, **CPU)
    assert prepared.recipe.train.batch_size == len(prepared.data.train)
    assert all(not weight.any() for weight in prepared.model.parameters())


def test_a_network_without_hidden_layers_is_a_convex_model() -> None:
    assert chosen("mlp", "moons", hidden=())[0] == "lbfgs"
    assert chosen("mlp", "moons", hidden=(4,)) == ("adam", None, None)


@for_each(
    ("given", "optimizer", "lr"),
    [
        ({"optimizer": "adam"}, "adam", None),
        ({"lr": 0.1}, "adam", 0.1),
        ({"optimizer": "sgd", "lr": 0.5}, "sgd", 0.5),
        ({"batch_size": 16}, "adam", 0.01),
        ({"l1": 0.01}, "adam", 0.01),
        ({"weight_decay": 0.01}, "adam", 0.01),
        ({"input_noise": 0.1}, "adam", 0.01),
        ({"clip_norm": 1.0}, "adam", 0.01),
        ({"schedule": "cosine"}, "adam", 0.01),
        ({"precision": "bf16-mixed"}, "adam", 0.01),
        ({"loss": "hinge"}, "adam", None),
        ({"l2": 0.01}, "lbfgs", None),
        ({"class_weight": "balanced"}, "lbfgs", None),
        ({"label_smoothing": 0.1}, "lbfgs", None),
        ({"epochs": 3}, "lbfgs", None),
    ],
)
def test_what_a_user_gives_stays_and_what_a_search_cannot_do_is_left_to_adam(
    given: dict[str, Any], optimizer: str, lr: float | None
) -> None:
    assert chosen(**given)[:2] == (optimizer, lr)


def test_the_best_weights_are_put_back_where_patience_asks_for_them() -> None:
    assert chosen(patience=3) == ("lbfgs", None, None)
    assert chosen(restore_best=True)[2] is True
    assert chosen(optimizer="adam", restore_best=False)[2] is False


def test_several_processes_and_rows_beyond_memory_are_left_to_adam(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(convex_training, "count_processes", lambda: 2)
    assert chosen()[0] == "adam"
    monkeypatch.setattr(convex_training, "count_processes", lambda: 1)
    monkeypatch.setattr(convex_training, "MOST_NUMBERS", 100)
    assert chosen()[0] == "adam"


def wide(rows: int, features: int) -> tuple[torch.Tensor, torch.Tensor]:
    rng = torch.Generator().manual_seed(0)
    return torch.randn(rows, features, generator=rng), torch.arange(rows) % 2


def test_rows_that_any_labels_would_separate_have_no_optimum_worth_going_to() -> None:
    assert chosen("logistic", wide(300, 20))[0] == "lbfgs"
    assert chosen("logistic", wide(30, 40)) == ("adam", None, None)
    reals = (wide(30, 40)[0], torch.randn(30))
    assert chosen("linear-regression", reals)[0] == "lbfgs"
    own = prepare(nn.Linear(20, 2), wide(300, 20), **CPU)
    assert not has_optimum(own.model, own.task, own.data)
    assert own.recipe.train.optimizer == "adam"


@pytest.fixture(scope="module")
def cancer() -> Data:
    return load("breast-cancer", val_size=0)


def test_logistic_regression_ends_where_that_of_scikit_learn_does(
    cancer: Data, tmp_path: Path
) -> None:
    l2 = 1e-2
    run = nw.fit(
        "logistic", cancer, l2=l2, penalize="weights", out=tmp_path / "a", quiet=True, **CPU
    )
    assert run.results["status"] == "converged"
    train, test = cancer.train, cancer.split("test")
    theirs = LogisticRegression(C=1 / (l2 * len(train)), tol=1e-8, max_iter=5000)
    theirs.fit(train.inputs.numpy(), train.targets.numpy())
    ours = dict(run.model.named_parameters())
    assert torch.allclose(
        ours["log_odds.weight"].cpu(), torch.tensor(theirs.coef_).float(), atol=5e-3
    )
    wanted = theirs.score(test.inputs.numpy(), test.targets.numpy())
    assert run.results["metrics"]["accuracy"] == pytest.approx(wanted)


def test_linear_regression_ends_where_that_of_scikit_learn_does(tmp_path: Path) -> None:
    data = load("diabetes", val_size=0)
    run = nw.fit("linear-regression", data, out=tmp_path / "a", quiet=True, **CPU)
    theirs = LinearRegression().fit(data.train.inputs.numpy(), data.train.targets.numpy())
    test = data.split("test")
    error = theirs.predict(test.inputs.numpy()) - test.targets.numpy()
    assert run.results["metrics"]["rmse"] == pytest.approx(
        float((error**2).mean() ** 0.5), rel=1e-3
    )


def test_twenty_epochs_are_plenty_for_the_moons(tmp_path: Path) -> None:
    run = nw.fit("logistic", "moons", epochs=20, out=tmp_path / "a", quiet=True, **CPU)
    newton = nw.fit("logistic-newton", "moons", l2=1e-9, out=tmp_path / "b", quiet=True, **CPU)
    assert run.results["status"] == "converged"
    assert run.results["metrics"]["accuracy"] == newton.results["metrics"]["accuracy"]
    assert run.results["metrics"]["log_loss"] == pytest.approx(
        newton.results["metrics"]["log_loss"], rel=1e-3
    )
    written = read_recipe_file(tmp_path / "a" / "config.yaml")["train"]
    assert (written["optimizer"], written["restore_best"]) == ("lbfgs", False)


def test_the_seed_has_no_part_in_an_optimum() -> None:
    first, second = (nw.fit("softmax", "iris", seed=seed, quiet=True, **CPU) for seed in (0, 7))
    assert first.results["metrics"] == second.results["metrics"]
    assert first.results["best_epoch"] == first.results["epochs"]


def test_what_was_resolved_leads_to_the_same_weights(tmp_path: Path) -> None:
    """As from `train -c RUN/config.yaml`."""
    run = nw.fit("softmax", "iris", out=tmp_path / "a", quiet=True, **CPU)
    recipe = parse_recipe(read_recipe_file(tmp_path / "a" / "config.yaml"))
    again = put_together(recipe, load("iris"))
    assert again.recipe.train == replace(recipe.train)
    told = nw.fit("softmax", "iris", quiet=True, **_given(recipe.train))
    for name, weight in run.model.named_parameters():
        assert torch.equal(weight, told.model.get_parameter(name)), name


def _given(config: Any) -> dict[str, Any]:
    names = ("optimizer", "batch_size", "epochs", "restore_best", "device")
    return {name: getattr(config, name) for name in names}


def test_classes_that_can_be_separated_stop_in_time_and_say_so(tmp_path: Path) -> None:
    x = torch.cat([torch.randn(40, 2) - 5, torch.randn(40, 2) + 5])
    y = torch.arange(80) // 40
    run = nw.fit("logistic", (x, y), out=tmp_path / "a", quiet=True, **CPU)
    assert run.results["status"] == "converged"
    assert all(weight.isfinite().all() for weight in run.model.parameters())
    illnesses = [found["illness"] for found in run.results["findings"]]
    assert "separable-classes" in illnesses
    assert not {"rate-too-high", "rate-too-low", "not-converged"} & set(illnesses)


def test_a_run_that_ends_early_says_that_it_has_not_converged(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"optimizer": "adam", "epochs": 20, "quiet": True, **CPU}
    run = nw.fit("logistic", "moons", out=tmp_path / "a", **settings)
    (found,) = (
        one
        for one in read_json(run.folder / "results.json")["findings"]  # type: ignore[operator]
        if one["illness"] == "not-converged"
    )
    assert "of the gradient remains after 20 epochs" in found["sentence"]
    unwatched = nw.fit("logistic", "moons", out=tmp_path / "b", doctor=False, **settings)
    assert "findings" not in unwatched.results


def test_parts_of_the_rows_are_not_led_to_their_own_optimum() -> None:
    x, y = wide(64, 3)
    learner = nw.NetClassifier("softmax", random_state=0, device="cpu")
    learner.partial_fit(x.numpy(), y.numpy(), classes=[0, 1])
    assert learner._prepared.recipe.train.optimizer == "adam"
    assert learner.fit(x.numpy(), y.numpy())._prepared.recipe.train.optimizer == "lbfgs"


def test_a_search_that_was_stopped_goes_on_to_the_same_weights(
    cancer: Data, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"l2": 1e-4, "epochs": 50, "quiet": True, **CPU}
    whole = nw.fit("logistic", cancer, out=tmp_path / "whole", **settings)
    assert whole.results["epochs"] > 1
    first = nw.fit("logistic", cancer, out=tmp_path / "parts", max_steps=1, **settings)
    assert not first.results["finished"]
    again = nw.fit("logistic", cancer, resume=tmp_path / "parts", **settings)
    assert again.results["status"] == "converged"
    for name, weight in whole.model.named_parameters():
        assert torch.equal(weight, again.model.get_parameter(name)), name
