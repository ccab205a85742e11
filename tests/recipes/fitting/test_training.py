"""Training a prepared recipe in a folder: going on, limits, one owner, and what is left there."""

import copy
import json
import re
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import netwright as nw
from netwright.core.errors import ConfigError, DataError, RunError
from netwright.core.files.folder_lock import FolderLock
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.fitting.training import train
from netwright.train.callback import Callback
from netwright.train.state import TrainState
from netwright.train.watching.history import without_clock
from tests.odd_files import is_untouched, outside_of, plant, refusal

SETTINGS: dict[str, Any] = {
    "hidden": (6,),
    "dropout": 0.3,
    "epochs": 4,
    "schedule": "cosine",
    "device": "cpu",
    "log_every": 4,
}


def fit(out: Path, *, data: Any = "moons", **settings: Any) -> nw.Run:
    return nw.fit("mlp", data, out=out, quiet=True, **{**SETTINGS, **settings})


def told(run: nw.Run) -> list[dict[str, Any]]:
    return [without_clock(asdict(row)) for row in run.history]


def same_model(first: nw.Run, second: nw.Run) -> bool:
    ours, theirs = first.model.state_dict(), second.model.state_dict()
    return all(torch.equal(ours[name], theirs[name]) for name in theirs)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> nw.Run:
    return fit(tmp_path_factory.mktemp("whole") / "run")


def test_what_is_frozen_as_it_was_drawn_is_told(
    whole: nw.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told_of(model: Any, name: str, **given: Any) -> str:
        nw.fit(model, "moons", out=tmp_path / name, max_steps=1, **given)
        return " ".join(capsys.readouterr().err.split())

    note = "note: hidden is frozen at its random initialisation: --from gives it trained weights"
    small: dict[str, Any] = {"hidden": (6,), "freeze": "hidden"}
    assert note in told_of("mlp", "drawn", **small)
    assert "note:" not in told_of("mlp", "learned", start_from=whole, **small)
    own = copy.deepcopy(whole.model)  # it may have learned
    assert "note:" not in told_of(own, "own", freeze="hidden")


@pytest.mark.parametrize("steps", [1, 9, 10, 27])
def test_a_run_that_was_cut_short_and_gone_on_with_is_the_run_that_was_not(
    whole: nw.Run, tmp_path: Path, steps: int
) -> None:
    place = tmp_path / "run"
    cut = fit(place, max_steps=steps)
    assert not cut.results["finished"]
    assert cut.results["status"] == f"the step limit of {steps}"
    again = fit(place, resume="auto")
    assert (again.results["finished"], again.results["status"]) == (True, "done")
    assert same_model(again, whole)
    assert told(again) == told(whole)
    assert again.results["metrics"] == whole.results["metrics"]
    assert nw.open_run(place).evaluate() == again.results["metrics"]


def test_going_on_with_a_finished_run_changes_nothing(whole: nw.Run, tmp_path: Path) -> None:
    first = fit(tmp_path / "run")
    again = fit(tmp_path / "run", resume=tmp_path / "run")
    assert same_model(first, again)
    assert told(first) == told(again) == told(whole)


def test_from_a_checkpoint_of_ones_choice(whole: nw.Run, tmp_path: Path) -> None:
    fit(tmp_path / "run", save_steps=10, keep=9)
    place = tmp_path / "run" / "checkpoints" / "step-000030"
    again = fit(tmp_path / "run", resume=place)
    assert same_model(again, whole)
    assert (tmp_path / "run" / "checkpoints" / "step-000036-2").is_dir()  # beside, not over
    assert json.loads((tmp_path / "run" / "last.json").read_text())["checkpoint"] == "step-000036-2"


def test_a_damaged_checkpoint_is_said_and_the_one_before_is_taken(
    whole: nw.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "run"
    fit(place, max_steps=30, save_steps=10, save_every=99)
    newest = place / "checkpoints" / "step-000030" / "model.safetensors"
    content = bytearray(newest.read_bytes())
    content[-1] ^= 1
    newest.write_bytes(content)
    again = nw.fit("mlp", "moons", out=place, resume="auto", **SETTINGS)
    said = capsys.readouterr().err
    assert f"{newest} is damaged: its sha256 differs from the manifest; falling back" in said
    assert "resuming from" in said
    assert "step-000020: epoch 3, step 20" in " ".join(said.split())
    assert same_model(again, whole)


def test_a_run_without_a_good_checkpoint_is_refused_not_begun_again(tmp_path: Path) -> None:
    place = tmp_path / "run"
    fit(place, max_steps=5)
    (place / "checkpoints" / "step-000005" / "manifest.json").unlink()
    with pytest.raises(DataError, match=r"run has no intact checkpoint: .*manifest\.json"):
        fit(place, resume="auto")


def test_a_run_that_was_killed_before_its_first_checkpoint_begins_again(
    whole: nw.Run, tmp_path: Path
) -> None:
    place = tmp_path / "run"
    fit(place, max_steps=1)
    step = place / "checkpoints" / "step-000001"
    for file in step.iterdir():
        file.unlink()
    step.rmdir()
    for pointer in ("last.json", "best.json"):
        (place / pointer).unlink(missing_ok=True)
    assert same_model(fit(place, resume="auto"), whole)


def test_other_settings_are_refused_and_the_run_stays_as_it_was(tmp_path: Path) -> None:
    place = tmp_path / "run"
    fit(place, max_steps=5)
    before = (place / "config.yaml").read_text()
    with pytest.raises(ConfigError, match=r"batch_size was 32, is 16; .*allow batch_size"):
        fit(place, resume="auto", batch_size=16)
    assert (place / "config.yaml").read_text() == before
    fit(place, resume="auto", batch_size=16, allow=["batch_size"])
    assert "batch_size: 16" in (place / "config.yaml").read_text()


def test_names_that_are_allowed_may_be_one_text(tmp_path: Path) -> None:
    fit(tmp_path / "run", max_steps=5)
    again = fit(tmp_path / "run", resume="auto", batch_size=16, lr=0.5, allow="batch_size, lr")
    assert again.results["finished"]


def test_a_run_of_another_model_is_not_written_over(tmp_path: Path) -> None:
    first = fit(tmp_path / "run")
    with pytest.raises(ConfigError, match="contains a run of another recipe"):
        nw.fit("ridge", "line", out=tmp_path / "run", resume="auto", quiet=True)
    assert nw.open_run(tmp_path / "run").evaluate() == first.results["metrics"]


class InterruptAt(Callback):
    """Ctrl-C where nobody has asked to be told of it; in step 0 before the first."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_fit_start(self, state: TrainState) -> None:
        self.on_step_end(state)

    def on_step_end(self, state: TrainState) -> None:
        if state.step == self.step:
            raise KeyboardInterrupt


@pytest.mark.parametrize("was_there", [False, True])
def test_ctrl_c_before_anything_is_learned_leaves_no_folder(
    tmp_path: Path, was_there: bool
) -> None:
    out = tmp_path / "run"
    if was_there:
        out.mkdir()
    with pytest.raises(KeyboardInterrupt):
        fit(out, callbacks=[InterruptAt(0)])
    assert list(tmp_path.rglob("*")) == ([out] if was_there else [])


def test_ctrl_c_later_leaves_what_can_be_gone_on_from(tmp_path: Path, whole: nw.Run) -> None:
    with pytest.raises(KeyboardInterrupt):
        fit(tmp_path / "run", callbacks=[InterruptAt(3)], save_steps=1)
    gone_on = fit(tmp_path / "run", resume="auto", save_steps=1)
    assert same_model(gone_on, whole)


def test_one_owner_at_a_time(tmp_path: Path) -> None:
    place = tmp_path / "run"
    fit(place, max_steps=5)
    with (
        FolderLock(place),
        pytest.raises(RunError, match=rf"^{re.escape(str(place))} is in use by process \d+ on "),
    ):
        fit(place, resume="auto")


def test_a_model_that_learns_in_one_go_says_that_it_starts_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = nw.fit("ridge", "line", out=tmp_path / "run", quiet=True)
    again = nw.fit("ridge", "line", out=tmp_path / "run", resume="auto")
    assert "note: ridge is trained in one step: it starts over" in capsys.readouterr().err
    assert same_model(first, again)
    assert told(first) == told(again)


def test_batches_that_were_left_out_are_among_the_notes(tmp_path: Path) -> None:
    prepared = prepare("mlp", "moons", **SETTINGS, on_non_finite="skip")
    prepared.data.train.inputs[17, 0] = torch.inf  # behind the back of what checks the data
    run = train(prepared, out=tmp_path / "run", quiet=True)
    (note,) = run.results["notes"]
    assert note.startswith("batches skipped because of non-finite values: 4, the first is ")
    assert all(bool(weight.isfinite().all()) for weight in run.model.parameters())


def test_what_is_left_tells_that_it_is_not_finished(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nw.fit("mlp", "moons", out=tmp_path / "run", max_steps=3, **SETTINGS)
    assert "resume with: netwright train --resume" in capsys.readouterr().err
    assert json.loads((tmp_path / "run" / "results.json").read_text())["finished"] is False


@pytest.mark.parametrize(
    "name",
    [
        ".lock",
        ".netwright-x.part",
        "checkpoints",
        "checkpoints/.netwright-x.part",
        "members",
        "metrics.jsonl",
        "results.json",
        "report.html",
    ],
)
def test_a_run_that_holds_a_link_is_not_gone_on_with(
    whole: nw.Run, tmp_path: Path, name: str
) -> None:
    assert whole.folder is not None
    run = tmp_path / "run"
    shutil.copytree(whole.folder, run)
    outside = outside_of(run)
    place = run / name
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    plant(place, "link to a folder" if place.suffix in {"", ".part"} else "link to a file", outside)
    with pytest.raises(DataError, match=refusal(place, "link")):
        fit(run, epochs=5, resume=run, allow="epochs")
    assert is_untouched(outside)


def test_a_new_run_does_not_begin_where_the_lock_is_a_link(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    outside = outside_of(run)
    (run / ".lock").symlink_to(outside / "file")
    with pytest.raises(DataError, match=refusal(run / ".lock", "link")):
        fit(run)
    assert is_untouched(outside)


def test_a_run_with_own_objects_says_the_call_that_resumes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given: dict[str, Any] = {"loss": nn.CrossEntropyLoss(), "batch_size": 32, "device": "cpu"}
    nw.fit(nn.Linear(2, 2), "moons", out=tmp_path / "run", epochs=2, max_steps=3, **given)
    said = capsys.readouterr().err
    assert "resume with: nw.fit(model, 'moons', loss=loss, epochs=2" in said
    assert f"resume={str(tmp_path / 'run')!r})" in said
