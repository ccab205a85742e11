"""The view `race`: from the run's own first weights, and the run stays as it is."""

from pathlib import Path
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError, UnknownNameError
from netwright.inspection.training.race_curves import RaceCurves
from netwright.recipes.views.cost import Cost
from netwright.recipes.views.subject import Subject
from netwright.recipes.views.training import race
from netwright.recipes.views.training.race import RACE, _affordable, _with_first_weights
from netwright.train.saving.kept_path import read_kept_path
from tests.repetition import for_each
from tests.train.toy_runs import assert_same, copy_of


def show(run: nw.Run, **settings: object) -> RaceCurves:
    view = RACE.show(Subject(run, *run.data_at_hand()), settings)
    assert isinstance(view, RaceCurves)
    return view


def test_begins_with_the_very_weights_that_the_run_began_with(moons_run: nw.Run) -> None:
    path = read_kept_path(moons_run.folder)
    assert path is not None
    first = dict(_with_first_weights(moons_run).named_parameters())
    for name, weight in path.snapshots[0].items():
        assert torch.equal(first[name].detach().cpu(), weight)


def test_the_usual_ones_race_and_the_run_stays_as_it_is(moons_run: nw.Run) -> None:
    before = copy_of(moons_run.model)
    view = show(moons_run, steps=3)
    assert sorted(racer.name for racer in view.racers) == ["adam", "momentum", "rmsprop", "sgd"]
    assert (view.steps, view.rows) == (3, 32)
    assert len({lap.losses[0] for racer in view.racers for lap in racer.laps}) == 1
    assert_same(copy_of(moons_run.model), before)
    assert show(moons_run, steps=3) == view


def test_a_runs_own_optimizer_races_with_its_settings(tmp_path: Path) -> None:
    options: dict[str, Any] = {"optimizer": "lion", "lr": 0.02, "weight_decay": 0.1}
    run = nw.fit("softmax", "iris", epochs=1, out=tmp_path / "run", quiet=True, **options)
    view = show(run, steps=2)
    assert len(view.racers) == 5
    lion = next(racer for racer in view.racers if racer.name == "lion")
    assert lion.laps[1].lr == pytest.approx(0.02) or lion.laps[2].lr == pytest.approx(0.02)
    other = nw.fit("softmax", "iris", epochs=1, out=tmp_path / "all", quiet=True, optimizer="lbfgs")
    assert len(show(other, steps=1).racers) == 4  # lbfgs looks several times at a batch


@for_each(
    ("cost", "length"),
    [
        (Cost(calls=0, flops=0, weights=0), (32, 30, False)),
        (Cost(calls=10, flops=10**5, weights=10**4), (32, 30, False)),
        (Cost(calls=50, flops=10**6, weights=10**4), (8, 30, False)),
        (Cost(calls=850, flops=10**5, weights=10**4), (8, 15, True)),
        (Cost(calls=100, flops=10**5, weights=8 * 10**6), (4, 5, True)),
        (Cost(calls=104, flops=94 * 10**6, weights=8 * 10**6), (2, 5, True)),
    ],
)
def test_a_costly_model_races_on_fewer_examples_at_fewer_rates_for_fewer_updates(
    cost: Cost, length: tuple[int, int, bool]
) -> None:
    assert _affordable(cost) == length


def test_who_would_wait_for_minutes_is_asked_to_say_so(
    moons_run: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Cost(calls=100, flops=10**9, weights=10**8)
    monkeypatch.setattr(race, "measure_cost", lambda *_: slow)
    sentence = (
        r"^a race of mlp would take 100 seconds with 2 examples and 5 updates: set rows or steps "
        r"to accept that$"
    )
    with pytest.raises(ConfigError, match=sentence):
        show(moons_run)
    view = show(moons_run, steps=2)
    assert (view.steps, view.rows, {len(racer.laps) for racer in view.racers}) == (2, 2, {2})


def test_a_run_that_began_with_other_weights_races_from_those(
    tmp_path: Path, moons_run: nw.Run
) -> None:
    settings: dict[str, Any] = {"hidden": (16,), "epochs": 1, "start_from": moons_run}
    run = nw.fit("mlp", "moons", out=tmp_path / "run", quiet=True, **settings)
    assert_same(copy_of(_with_first_weights(run)), copy_of(moons_run.model))


def test_no_one_has_weight_decay(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"hidden": (4,), "epochs": 1, "optimizer": "sgd", "lr": 0.1}
    plain, decayed = (
        nw.fit(
            "mlp", "moons", out=tmp_path / str(decay), quiet=True, **settings, weight_decay=decay
        )
        for decay in (0.0, 0.5)
    )
    assert show(plain, steps=3).racers == show(decayed, steps=3).racers


def test_refuses_a_run_with_frozen_parts(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"hidden": (4,), "epochs": 1, "freeze": "hidden"}
    run = nw.fit("mlp", "moons", out=tmp_path / "run", quiet=True, **settings)
    sentence = "^a race trains all weights, this run froze those up to 'hidden'$"
    with pytest.raises(ConfigError, match=sentence):
        show(run)


def test_refuses_who_cannot_race_and_what_has_no_gradients(
    tmp_path: Path, moons_run: nw.Run
) -> None:
    sentence = "newton cannot take part: its step needs more than one batch's loss"
    with pytest.raises(ConfigError, match=sentence):
        show(moons_run, optimizers=("adam", "newton"))
    with pytest.raises(UnknownNameError, match="adamm"):
        show(moons_run, optimizers=("adamm",))
    perceptron = nw.fit("perceptron", "moons", out=tmp_path / "p", quiet=True)
    with pytest.raises(ConfigError, match="perceptron has its own learning rule"):
        show(perceptron)
    config = {**moons_run.config, "model": {"name": ""}}
    own = Subject(moons_run, None)
    own.run = type("Own", (), {"model": moons_run.model, "config": config})()
    assert RACE.refusal(own).endswith("which are unknown for your own module")
