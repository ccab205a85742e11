"""A model that learns while it is watched: as any run does, step by step, and live changes."""

import threading
from collections.abc import Mapping
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError, NetwrightError
from netwright.recipes.plan.run_plan import PlannedRun, fitting_models
from netwright.recipes.playground.picture import Picture
from netwright.recipes.playground.plans import prepare_plan
from netwright.recipes.playground.playground import Plan, Playground

SMALL = {"model.hidden": "3", "model.dropout": "0", "train.lr": "0.1", "data.n": "60"}


def plan_of(model: str = "mlp", data: str = "moons", **settings: str) -> Plan:
    typed = {**SMALL, **settings} if model == "mlp" else settings
    return lambda: prepare_plan(PlannedRun(data=data, model=model, settings=typed).recipe())


def changed(**settings: Any) -> dict[str, str]:
    return {name.replace("_", ".", 1): str(value) for name, value in settings.items()}


class Watcher:
    """Takes the pictures, and lets a test wait for one."""

    def __init__(self) -> None:
        self.pictures: list[Picture] = []
        self.new = threading.Condition()

    def __call__(self, picture: Picture) -> None:
        with self.new:
            self.pictures.append(picture)
            self.new.notify_all()

    def wait(self, *, step: int, kind: str = "picture") -> Mapping[str, Any]:
        """The numbers of the newest picture, once it is of this step or a later one."""

        def found() -> Picture | None:
            fitting = [p for p in self.pictures if p.numbers["kind"] == kind]
            return next((p for p in reversed(fitting) if p.numbers["step"] >= step), None)

        with self.new:
            assert self.new.wait_for(lambda: found() is not None, timeout=60)
            picture = found()
        assert picture is not None
        return picture.numbers


def weights_of(playground: Playground) -> dict[str, torch.Tensor]:
    def copied() -> dict[str, torch.Tensor]:
        found = playground._prepared.model.state_dict()
        return {name: weight.clone() for name, weight in found.items()}

    return playground.pace.ask(copied).result()


def test_its_steps_are_those_of_a_run() -> None:
    watcher = Watcher()
    with Playground(plan_of(), watcher) as playground:
        for step in range(1, 8):
            playground.pace.step()
            watcher.wait(step=step)
        found = weights_of(playground)
    settings: dict[str, Any] = {"hidden": (3,), "dropout": 0.0, "lr": 0.1, "n": 60, "max_steps": 7}
    run = nw.fit(
        "mlp", "moons", save=False, quiet=True, device="cpu", restore_best=False, **settings
    )
    for name, weight in run.model.state_dict().items():
        assert torch.equal(found[name], weight)


def test_the_first_picture_comes_before_the_first_step() -> None:
    watcher = Watcher()
    with Playground(plan_of(), watcher):
        numbers = watcher.wait(step=0)
    opening = watcher.pictures[0].numbers
    assert opening["kind"] == "opening" and opening["classes"] == ["0", "1"]
    assert len(opening["points"]["train"]) == 42
    assert numbers["train"]["loss"] > 0 and "accuracy" in numbers["val"]


def test_who_watches_is_told_that_it_waits() -> None:
    watcher = Watcher()
    with Playground(plan_of(), watcher) as playground:
        playground.pace.play()
        assert watcher.wait(step=5)["playing"]
        playground.pace.pause()
        with watcher.new:
            assert watcher.new.wait_for(lambda: not watcher.pictures[-1].numbers["playing"], 60)


def test_a_change_keeps_the_weights_and_what_the_optimizer_remembers() -> None:
    watcher = Watcher()
    with Playground(plan_of(), watcher) as playground:
        for step in (1, 2, 3):
            playground.pace.step()
            watcher.wait(step=step)
        before = weights_of(playground)
        playground.change(plan_of(**changed(train_lr=1e-9, model_activation="relu")))
        playground.pace.step()
        assert watcher.wait(step=4)["step"] == 4
        after = weights_of(playground)
        remembered = playground.pace.ask(lambda: playground._optimizer).result()
    assert all(torch.allclose(before[name], after[name], atol=1e-6) for name in before)
    assert remembered is not None
    assert {int(kept["step"]) for kept in remembered.state.values()} == {4}


def test_a_change_of_shapes_or_a_restart_begins_anew() -> None:
    watcher = Watcher()
    with Playground(plan_of(), watcher) as playground:
        first = weights_of(playground)
        playground.pace.step()
        watcher.wait(step=1)
        playground.change(plan_of(), keeps_weights=False)
        assert all(torch.equal(first[name], w) for name, w in weights_of(playground).items())
        playground.change(plan_of(**changed(model_hidden=5)))
        assert weights_of(playground)["head.weight"].shape == (2, 5)
        assert playground.steps == 0


def test_a_plan_that_is_refused_changes_nothing() -> None:
    watcher = Watcher()
    with Playground(plan_of(), watcher) as playground:
        with pytest.raises(NetwrightError, match="two features"):
            playground.change(plan_of("mlp", "line"))
        playground.pace.step()
        watcher.wait(step=1)
    with pytest.raises(ConfigError, match="two features"):
        Playground(plan_of("mlp", "line"), watcher)


def test_numbers_that_explode_are_told_and_another_plan_goes_on() -> None:
    watcher = Watcher()
    with Playground(plan_of(**changed(train_lr=1e30)), watcher) as playground:
        playground.pace.play()
        told = watcher.wait(step=1, kind="end")
        assert "finite" in told["said"] and not playground.pace.is_playing
        playground.change(plan_of(), keeps_weights=False)
        playground.pace.step()
        assert watcher.wait(step=1)["train"]["loss"] < 10


def test_a_failure_of_its_thread_is_told_and_nothing_more_is_promised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(playground: Playground) -> None:
        raise OverflowError("a fault")

    monkeypatch.setattr(Playground, "after_step", fails)
    watcher = Watcher()
    with Playground(plan_of(), watcher) as playground:
        playground.pace.play()
        assert "a fault" in watcher.wait(step=0, kind="end")["said"]
        playground._thread.join(60)
        assert playground.pace.has_ended
        with pytest.raises(ConfigError, match="has ended"):
            playground.change(plan_of())


def check_shown(model: str) -> None:
    watcher = Watcher()
    with Playground(plan_of(model, **{"data.n": "60"}), watcher) as playground:
        playground.pace.step()
        watcher.wait(step=1)
    assert watcher.pictures[-1].arrays["answers"].shape[0] == 2, model


def test_a_model_with_a_rule_of_its_own_is_shown() -> None:
    for model in ("perceptron", "lda"):
        check_shown(model)


@pytest.mark.slow
def test_every_model_that_takes_two_features_is_shown() -> None:
    names = list(fitting_models("moons", {}))
    assert len(names) > 20
    for model in names:
        check_shown(model)
