"""Ensembles as ordinary runs: members as in runs of their own, kept, stopped and gone on with."""

import os
import re
import signal
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

import netwright as nw
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.core.seeding import derive_seed
from netwright.models.ensembles.ensemble import Ensemble, Member
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.training import _check_together
from netwright.train.callback import Callback
from netwright.train.ranks import Ranks
from netwright.train.state import TrainState
from tests.models.ensembles.test_stacking import complementary
from tests.repetition import slow_but

SMALL: dict[str, Any] = {
    "of": "mlp",
    "settings": {"hidden": [4]},
    "members": 3,
    "epochs": 2,
    "quiet": True,
}


class KilledError(RuntimeError):
    """Stands for a kill."""


class CountFits(Callback):
    """Counts the members that learn."""

    def __init__(self) -> None:
        self.fits = 0

    def on_fit_start(self, state: TrainState) -> None:
        self.fits += 1


class StopInFit(Callback):
    """Ends everything in the fit of this number, by an error or by Ctrl-C."""

    def __init__(self, number: int, *, by_signal: bool = False) -> None:
        self.left, self.by_signal = number, by_signal

    def on_fit_start(self, state: TrainState) -> None:
        self.left -= 1
        if self.left == 0 and not self.by_signal:
            raise KilledError

    def on_batch_end(self, state: TrainState) -> None:
        if self.left == 0 and self.by_signal:
            self.left -= 1
            os.kill(os.getpid(), signal.SIGINT)


def weights_of(run: Path) -> dict[str, Tensor]:
    return load_file(run / "model" / "model.safetensors")


def assert_same(first: Path, second: Path) -> None:
    one, other = weights_of(first), weights_of(second)
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("data", slow_but(["diabetes"], ["iris", "diabetes"]))
def test_a_member_is_what_a_run_of_its_own_would_give(data: str, tmp_path: Path) -> None:
    run = nw.fit("restarts", data, seed=5, out=tmp_path / "run", **SMALL)
    alone = nw.fit(
        "mlp",
        data,
        seed=derive_seed(5, "member", 1),
        hidden=(4,),
        epochs=2,
        out=tmp_path / "alone",
        quiet=True,
    )
    member = cast(Member, cast(Ensemble, run.model).members[1])
    for name, value in alone.model.state_dict().items():
        assert torch.equal(member.model.state_dict()[name], value), name
    inputs = run.data.split("test").inputs.to(device_of(run.model))
    wanted = alone.task.predictions(alone.model(inputs))
    told = member(inputs) if data == "diabetes" else member(inputs).softmax(dim=1)
    torch.testing.assert_close(told, wanted)


@pytest.mark.usefixtures("undrawn")
def test_it_leaves_an_ordinary_run(tmp_path: Path) -> None:
    run = nw.fit("bagging", "iris", out=tmp_path / "run", **SMALL)
    again = nw.open_run(tmp_path / "run")
    assert again.evaluate() == run.evaluate() == run.results["metrics"]
    assert run.results["epochs"] == 3
    assert run.results["notes"][-1].startswith("out of bag: accuracy ")
    assert len(run.history.series("val/member_loss")) == 3
    assert len(run.history.series("val/loss")) == 1
    assert again.history.rows == run.history.rows
    assert "ensemble-members" in run.views()
    x = [[5.1, 3.5, 1.4, 0.2], [6.7, 3.0, 5.2, 2.3]]
    assert list(run.predict(x)) == list(again.predict(x))
    assert "Ensemble and its members" in run.report().read_text(encoding="utf-8")


def test_the_same_seed_gives_the_same_ensemble_and_another_one_another(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        nw.fit("bagging", "iris", seed=seed, out=tmp_path / name, **SMALL)
    assert_same(tmp_path / "a", tmp_path / "b")
    one, other = weights_of(tmp_path / "a"), weights_of(tmp_path / "c")
    assert not torch.equal(one["members.0.model.head.weight"], other["members.0.model.head.weight"])


@pytest.mark.parametrize(
    ("name", "data", "settings", "killed_in", "left"),
    [
        pytest.param("bagging", "diabetes", SMALL, 3, 1, marks=pytest.mark.slow),
        pytest.param(
            "boosting",
            "iris",
            {**SMALL, "epochs": 5, "lr": 0.05},
            2,
            2,
            marks=pytest.mark.slow,
        ),
        ("boosting", "diabetes", SMALL, 3, 1),
        (
            "stacking",
            "diabetes",
            {"of": ("mlp", "least-squares"), "epochs": 1, "folds": 2, "quiet": True},
            3,
            1,
        ),
    ],
    ids=["bagging", "votes", "residuals", "stacking"],
)
def test_a_killed_run_goes_on_to_the_same_ensemble_bit_for_bit(
    name: str, data: str, settings: dict[str, Any], killed_in: int, left: int, tmp_path: Path
) -> None:
    whole, parted = tmp_path / "whole", tmp_path / "parted"
    nw.fit(name, data, out=whole, **settings)
    with pytest.raises(KilledError):
        nw.fit(name, data, out=parted, callbacks=[StopInFit(killed_in)], **settings)
    assert list((parted / "members").glob("0*"))
    learned = CountFits()
    run = nw.fit(name, data, resume=parted, callbacks=[learned], **settings)
    assert run.results["finished"]
    assert learned.fits == left
    assert_same(whole, parted)
    kept = {row.name: row.value for row in run.history}
    assert kept == {row.name: row.value for row in nw.open_run(whole).history}


@pytest.mark.parametrize(
    ("stopped_in", "members"), [pytest.param(1, 1, marks=pytest.mark.slow), (3, 2)]
)
def test_ctrl_c_saves_the_members_that_have_learned(
    stopped_in: int, members: int, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    stop = StopInFit(stopped_in, by_signal=True)
    with pytest.raises(KeyboardInterrupt, match=re.escape(f"the run is saved in {out}")):
        nw.fit("bagging", "iris", out=out, callbacks=[stop], **SMALL)
    run = nw.open_run(out)
    assert run.results["status"] == "interrupted by SIGINT"
    assert not run.results["finished"]
    assert len(cast(Ensemble, run.model).members) == members
    nw.fit("bagging", "iris", resume=out, **SMALL)
    nw.fit("bagging", "iris", out=tmp_path / "whole", **SMALL)
    assert_same(out, tmp_path / "whole")


def test_the_time_limit_is_that_of_all_members_together(tmp_path: Path) -> None:
    run = nw.fit("bagging", "iris", out=tmp_path / "run", max_time=1e-6, **SMALL)
    assert run.results["status"] == "the time limit of 1e-06 s"
    assert len(cast(Ensemble, run.model).members) == 1
    whole = nw.fit("bagging", "iris", out=tmp_path / "run", resume="auto", **SMALL)
    assert whole.results["finished"]


def test_steps_are_limited_for_each_member(tmp_path: Path) -> None:
    run = nw.fit("restarts", "iris", out=tmp_path / "run", max_steps=2, **SMALL)
    assert (run.results["finished"], run.results["epochs"]) == (True, 3)


def test_a_refused_change_leaves_the_recipe_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(KilledError):
        nw.fit("bagging", "iris", out=out, max_steps=2, callbacks=[StopInFit(3)], **SMALL)
    before = (out / "config.yaml").read_text(encoding="utf-8")
    sentence = (
        f"{out} cannot be resumed exactly: max_steps was 2, is 5; to resume anyway, allow max_steps"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        nw.fit("bagging", "iris", resume=out, max_steps=5, **SMALL)
    assert (out / "config.yaml").read_text(encoding="utf-8") == before
    nw.fit("bagging", "iris", resume=out, max_steps=5, allow="max_steps", **SMALL)
    assert "max_steps: 5" in (out / "config.yaml").read_text(encoding="utf-8")


def test_a_finished_run_keeps_its_weights_once_and_ends_the_same_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out, settings = tmp_path / "run", {**SMALL, "quiet": False}
    first = nw.fit("bagging", "iris", out=out, **settings)
    assert [path.name for path in (out / "members").iterdir()] == ["conditions.json"]
    before, learned = weights_of(out), CountFits()
    capsys.readouterr()
    again = nw.fit("bagging", "iris", resume=out, callbacks=[learned], **settings)
    said = " ".join(capsys.readouterr().err.split())
    assert f"resuming from {out}: all of its members are trained" in said
    assert learned.fits == 0
    assert all(torch.equal(before[name], value) for name, value in weights_of(out).items())
    reading = {"load_seconds": 0.0}  # the data was read twice
    assert again.results | reading == first.results | reading
    assert again.history.rows == first.history.rows


def test_stacked_members_that_count_nothing_are_kept(tmp_path: Path) -> None:
    rows = complementary(60)
    run = nw.fit(
        "stacking",
        (rows.inputs.numpy(), rows.targets.numpy()),
        kind="real",
        of=("least-squares", "ridge"),
        folds=2,
        out=tmp_path / "run",
        quiet=True,
    )
    model = cast(Ensemble, run.model)
    assert (float(model.weights[1]), len(model.members)) == (0, 2)
    assert len(cast(Ensemble, nw.open_run(tmp_path / "run").model).members) == 2
    assert "ridge 0.00" in run.views()["ensemble-members"].caption


def test_settings_that_no_member_heeds_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mixed: dict[str, Any] = {
        "of": ("mlp", "least-squares"),
        "folds": 2,
        "settings": {"mlp": {"hidden": [2]}},
    }
    nw.fit("bagging", "iris", of="decision-tree", members=2, epochs=4, out=tmp_path / "a")
    said = capsys.readouterr().err
    assert "note: decision-tree has its own learning rule and does not use epochs: bagging " in said
    assert "\nmember 2/2: val loss " in said
    assert "\ntogether: val loss " in said
    nw.fit("stacking", "diabetes", epochs=1, out=tmp_path / "b", **mixed)
    said = capsys.readouterr().err
    assert "without" not in said
    assert "fold 2/2, least-squares: val loss " in said


def test_what_no_member_can_do_is_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    out = tmp_path / "run"
    too_many = "batch_size 100 is more than the 10 training rows of iris; use 10 or fewer"
    with pytest.raises(ConfigError, match=f"^{re.escape(too_many)}$"):
        nw.fit("bagging", "iris", out=out, sample=0.1, batch_size=100, quiet=True)
    with pytest.raises(ConfigError, match=r"^monitor 'val/acuracy' is not measured"):
        nw.fit("restarts", "iris", out=out, monitor="val/acuracy", quiet=True)
    sentence = "bagging initialises its members itself: remove `from`"
    with pytest.raises(ConfigError, match=f"^{sentence}$"):
        nw.fit("bagging", "iris", out=out, start_from=tmp_path, quiet=True)
    assert not out.exists()


def test_several_processes_are_refused() -> None:
    prepared = prepare("bagging", "iris", members=2)
    with pytest.raises(ConfigError, match=r"^bagging trains in one process, member by member$"):
        _check_together(prepared, Ranks(rank=0, world=2))


def test_another_recipe_does_not_go_on_in_the_folder(tmp_path: Path) -> None:
    nw.fit("bagging", "iris", out=tmp_path / "run", **SMALL)
    other = {**SMALL, "members": 4}
    with pytest.raises(ConfigError, match="contains a run of another recipe"):
        nw.fit("bagging", "iris", resume=tmp_path / "run", **other)
