"""Runs with a loss or metrics of one's own: they learn, go on exactly, and say what they need."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from sklearn.metrics import f1_score
from torch import Tensor, nn
from torch.nn import functional

import netwright as nw
from netwright.core.errors import ConfigError, NetwrightError
from netwright.recipes.fitting.own_task import own_task
from netwright.recipes.fitting.squashed_outputs import find_squashed_outputs
from netwright.recipes.plan.convex_training import has_optimum
from netwright.recipes.plan.named_recipe import name_recipe
from netwright.recipes.plan.recipe import parse_recipe
from netwright.recipes.plan.reproduce import as_command, as_python
from netwright.recipes.saved.resume import check_named
from netwright.train.own.parts import OwnParts
from tests.train.toy_runs import FEATURES, OUTPUTS, assert_same, copy_of, toy_data, toy_net

SHORT: dict[str, Any] = {"epochs": 2, "batch_size": 8, "device": "cpu", "quiet": True}


def twice(output: Tensor, targets: Tensor) -> Tensor:
    return 2 * functional.cross_entropy(output, targets, reduction="none")


def test_the_same_loss_gives_the_same_run_whether_it_has_a_name_or_not() -> None:
    named, own = toy_net(dropout=0.2), toy_net(dropout=0.2)
    data = toy_data(rows=40)
    by_name = nw.fit(named, data, loss="cross-entropy", save=False, **SHORT)
    by_hand = nw.fit(own, data, loss=nn.CrossEntropyLoss(), save=False, **SHORT)
    for name, tensor in copy_of(named).items():
        assert torch.equal(own.state_dict()[name], tensor)
    assert by_name.results["metrics"] == by_hand.results["metrics"]


def test_real_targets_are_as_they_were_given() -> None:
    """Standardised counts would be no counts: half of them are below 0."""
    seen: list[Tensor] = []

    def poisson(output: Tensor, targets: Tensor) -> Tensor:
        seen.append(targets)
        return functional.poisson_nll_loss(output, targets)

    counts = torch.arange(40) % 7
    nw.fit(
        "linear-regression", (torch.randn(40, 2), counts.float()), loss=poisson, save=False, **SHORT
    )
    assert {float(count) for part in seen for count in part} <= set(map(float, range(7)))


def test_a_run_with_it_goes_on_exactly_and_is_opened_with_it(tmp_path: Path) -> None:
    data = toy_data(rows=40, test=8)
    whole = nw.fit("mlp", data, loss=twice, out=tmp_path / "whole", **SHORT)
    nw.fit("mlp", data, loss=twice, out=tmp_path / "parts", max_steps=3, **SHORT)
    again = nw.fit("mlp", data, loss=twice, out=tmp_path / "parts", resume="auto", **SHORT)
    assert again.results["metrics"] == whole.results["metrics"]
    opened = nw.open_run(tmp_path / "whole", loss=twice)
    assert opened.evaluate(data.split("test"))["loss"] == whole.results["metrics"]["loss"]
    assert "loss='twice'" in repr(opened.task)
    bare = nw.open_run(tmp_path / "whole")
    assert torch.equal(bare.predictions(data.train.inputs), whole.predictions(data.train.inputs))
    with pytest.raises(ConfigError, match=r"a loss of your own, twice: pass it as open_run"):
        bare.evaluate(data.split("test"))


def test_where_it_is_missing_the_run_says_so(tmp_path: Path) -> None:
    place = tmp_path / "run"
    run = nw.fit("mlp", "digits", loss=twice, out=place, max_steps=2, hidden=(4,), **SHORT)
    assert run.config["own"] == {"loss": "twice"}
    assert as_command(run.config) == ""
    assert "nw.fit('mlp', 'digits', loss=loss, " in as_python(run.config)
    with pytest.raises(ConfigError, match=r"own_loss was twice, is not set"):
        nw.fit("mlp", "digits", resume=place, max_steps=3, hidden=(4,), **SHORT)
    with pytest.raises(ConfigError, match=r"a loss \(twice\) of your own: resume it in Python"):
        check_named(place)
    with pytest.raises(ConfigError, match=r"a loss of your own, twice: give it again in Python"):
        nw.load_recipe(place)
    with pytest.raises(ConfigError, match="own must be a mapping of names, got 3"):
        parse_recipe({**run.config, "own": 3})


def test_a_run_that_has_a_named_loss_takes_no_other(tmp_path: Path) -> None:
    nw.fit("mlp", toy_data(), out=tmp_path / "run", **SHORT)
    with pytest.raises(ConfigError, match="trained with a loss that has a name: remove loss"):
        nw.open_run(tmp_path / "run", loss=twice)


def surest(predictions: Tensor, targets: Tensor) -> Tensor:
    return predictions.max(dim=1).values.mean()


def test_metrics_stand_in_results_history_and_report(tmp_path: Path) -> None:
    data = toy_data(rows=40, test=8)
    macro = partial(f1_score, average="macro")
    run = nw.fit("mlp", data, metrics=[surest, macro], out=tmp_path / "run", **SHORT)
    assert run.results["metrics"]["f1_score"] == pytest.approx(run.results["metrics"]["f1"])
    assert "surest" in run.results["baseline"]
    assert len(run.history.series("val/surest")) == 2
    opened = nw.open_run(tmp_path / "run", metrics=[surest])
    found = opened.evaluate(data.split("test"))
    assert found["surest"] == run.results["metrics"]["surest"]
    assert "surest" not in nw.open_run(tmp_path / "run").evaluate(data.split("test"))
    with pytest.raises(ConfigError, match="the metric 'f1_score' fails"):
        nw.fit("mlp", data, metrics=f1_score, save=False, **SHORT)  # of two classes only


def test_the_best_weights_are_those_of_the_metric_that_is_watched() -> None:
    values = iter([0.2, 0.9, 0.1, 0.5, 0.5])  # of three epochs, then of the results

    def odd(predictions: Tensor, targets: Tensor) -> float:
        return next(values)

    run = nw.fit(
        "mlp",
        toy_data(rows=40),
        metrics=odd,
        monitor="val/odd",
        save=False,
        **{**SHORT, "epochs": 3},
    )
    assert run.results["best_epoch"] == 2
    with pytest.raises(ConfigError, match="monitor 'val/off' is not measured"):
        nw.fit("mlp", toy_data(), metrics=odd, monitor="val/off", save=False, **SHORT)


def test_metrics_change_nothing_of_what_is_learned() -> None:
    data = toy_data(rows=40)
    with_it, without = toy_net(), toy_net()
    nw.fit(with_it, data, metrics=surest, save=False, **SHORT)
    nw.fit(without, data, save=False, **SHORT)
    assert_same(copy_of(with_it), copy_of(without))


class Coder(nn.Module):
    """An autoencoder with a term of its code in its loss."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.up = nn.Linear(FEATURES, 2), nn.Linear(2, FEATURES)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        code = self.down(x)
        return {"pred": self.up(code), "code": code}


def coded(output: dict[str, Tensor], targets: Tensor) -> Tensor:
    return functional.mse_loss(output["pred"], targets) + output["code"].square().mean()


def test_it_sees_all_that_the_module_returns_or_the_part_that_is_named(tmp_path: Path) -> None:
    data = toy_data("real", rows=40, test=8)
    run = nw.fit(Coder(), data, loss=coded, out=tmp_path / "run", **SHORT)
    opened = nw.open_run(tmp_path / "run", Coder(), loss=coded)
    assert opened.evaluate(data.split("test")) == run.results["metrics"]
    assert nw.fit(Coder(), data, loss=nn.MSELoss(), output="pred", save=False, **SHORT)
    with pytest.raises(NetwrightError, match=r"all that the model returns, a dict: name the part"):
        nw.fit(Coder(), data, loss=nn.MSELoss(), save=False, **SHORT)


def test_the_loss_is_neither_convex_nor_squashed_by_itself() -> None:
    data = toy_data(rows=40)
    recipe, _ = name_recipe("softmax", data)
    module = nn.Sequential(nn.Linear(FEATURES, OUTPUTS), nn.Softmax(dim=1))
    task = own_task(recipe, data, module, OwnParts(loss=twice))
    assert find_squashed_outputs(module, data.train.inputs, task) is None
    net = nw.models.SoftmaxRegression.build(nw.models.SoftmaxRegressionConfig(), data.spec)
    assert not has_optimum(net, task, data)


def test_a_rule_of_its_own_does_not_use_it() -> None:
    with pytest.raises(ConfigError, match="lda has its own learning rule and does not use loss"):
        nw.fit("lda", toy_data(rows=40), loss=twice, save=False, device="cpu", quiet=True)


def test_members_of_an_ensemble_are_averaged_in_the_units_of_the_target() -> None:
    with pytest.raises(ConfigError, match="target_transform is not for ensembles"):
        nw.fit("bagging", toy_data("real"), target_transform="asinh", save=False, quiet=True)
