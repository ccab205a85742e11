"""A training step is tried on one batch: nothing moves, mistakes are told, runs without outputs."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import netwright as nw
from netwright.core.errors import ConfigError, ShapeError
from netwright.recipes.fitting.first_own_step import try_first_step, why_unmeasured
from netwright.train.own.optimizer_group import OptimizerGroup
from netwright.train.tasks.catalog import task_for
from tests.train.test_own_step import SHORT, TWO, Pair, by_turns, usual
from tests.train.toy_runs import assert_same, copy_of, toy_data, toy_net
from tests.undrawn import undrawn  # noqa: F401 - a fixture


def tried(step: Any, module: nn.Module) -> float:
    optimizer: torch.optim.Optimizer = torch.optim.SGD(module.parameters(), lr=1.0)
    if isinstance(module, Pair):
        members = {name: TWO[name](part.parameters()) for name, part in module.named_children()}
        optimizer = OptimizerGroup(members)
    return try_first_step(module, toy_data(), step, optimizer, 8).loss


@pytest.mark.parametrize(
    ("step", "module"), [(usual, toy_net(batch_norm=True)), (by_turns, Pair())], ids=["one", "two"]
)
def test_nothing_moves_and_nothing_is_drawn(step: Any, module: nn.Module) -> None:
    before, drawn = copy_of(module), torch.get_rng_state()
    assert tried(step, module) > 0
    assert_same(copy_of(module), before)
    assert torch.equal(torch.get_rng_state(), drawn)
    assert all(weight.grad is None for weight in module.parameters())


def paired_net() -> nn.Module:
    """As `Pair`, with one optimizer."""
    return nn.ModuleDict(dict(Pair().named_children()))


def test_mistakes_are_one_sentence() -> None:
    def fails(module: nn.Module, batch: Any) -> Tensor:
        raise ValueError("no such thing\nat all")

    def other(pair: Pair, batch: Any) -> Any:
        yield "second", pair.first(batch.inputs).mean()

    with pytest.raises(ShapeError, match=r"fails on the first batch: no such thing$"):
        tried(fails, toy_net())
    with pytest.raises(ConfigError, match="does not depend on any parameter of 'second'"):
        tried(other, Pair())
    with pytest.raises(ConfigError, match="give an optimizer for each"):
        tried(by_turns, paired_net())


def test_a_module_with_outputs_is_measured_and_a_pair_is_not() -> None:
    data = toy_data()
    assert why_unmeasured(toy_net(), data, task_for(data), 8) == ""
    assert "forward" in why_unmeasured(Pair(), data, task_for(data), 8)


@pytest.mark.usefixtures("undrawn")
def test_a_run_without_outputs_shows_its_losses_and_refuses_to_predict(tmp_path: Path) -> None:
    data = toy_data(rows=16)
    given: dict[str, Any] = {"training_step": by_turns, "optimizer": TWO, **SHORT}
    run = nw.fit(Pair(), data, out=tmp_path / "run", **given)
    assert list(run.results["metrics"]) == ["loss", "first", "second"]
    assert any("only the losses of training are measured" in note for note in run.results["notes"])
    assert len(run.history.series("train/second")) == 2
    page = run.report().read_text(encoding="utf-8")
    assert "The baseline is" not in page
    opened = nw.open_run(tmp_path / "run", Pair())
    for ask in (opened.evaluate, lambda: opened.predict(data.train.inputs)):
        with pytest.raises(ConfigError, match="this run makes no predictions: layer 'model' fails"):
            ask()
