"""`netwright search`: alone, with another process at once, killed and gone on with."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from netwright.recipes.model_search.entrant import Entrant
from netwright.recipes.model_search.race import Race
from tests.apps.cli.conftest import Type

pytestmark = pytest.mark.usefixtures("undrawn")

SMALL = ("--set", "data.n=60", "--set", "model.hidden=4", "--epochs", 3)
LR = ("--space", "train.lr=log:1e-3..1e-1")
SLOW = ("--epochs", 40, "--pruner", "none")  # so that a signal comes within a trial
QUICK = ("search", "mlp", "moons", *SMALL, *LR)


def started(folder: Path, *words: object) -> "subprocess.Popen[str]":
    """The command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "netwright", *map(str, words)],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def trials_of(folder: Path) -> list[dict[str, Any]]:
    path = folder / "trials.json"
    found: list[dict[str, Any]] = json.loads(path.read_text())["trials"] if path.exists() else []
    return found


def wait_for(folder: Path, count: int, process: "subprocess.Popen[str]") -> None:
    until = time.monotonic() + 600
    while len(trials_of(folder)) < count:
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            raise RuntimeError(process.communicate()[1])
        time.sleep(0.02)


def test_prints_the_best_and_the_command_that_trains_it_again(
    type_in: Type, tmp_path: Path
) -> None:
    answer = type_in(*QUICK, "--trials", 3)
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert lines[0].split() == ["setting", "best", "searched"]
    assert lines[1].split()[::2] == ["train.lr", "log:0.001..0.1"]
    assert lines[2].startswith("3 complete and 0 pruned trials, best val/loss ")
    assert lines[3] == "report: searches/mlp-moons-001/report.html"
    assert (tmp_path / "searches/mlp-moons-001/report.html").is_file()
    again = lines[4].removeprefix("to train the best again: ")
    assert again == "netwright train -c searches/mlp-moons-001/best.yaml"
    trained = type_in(*again.split()[1:], "--no-report", "-q", "--out", "run")
    assert trained.code == 0
    measured = type_in("evaluate", "run", "--split", "val", "--json")
    best = min(trial["value"] for trial in trials_of(tmp_path / "searches/mlp-moons-001"))
    assert best in json.loads(measured.out)["metrics"].values()


def test_json_and_resume(type_in: Type, tmp_path: Path) -> None:
    first = json.loads(type_in(*QUICK, "--trials", 2, "--out", "s", "--json").out)
    assert (first["folder"], len(first["trials"])) == ("s", 2)
    more = json.loads(type_in("search", "--resume", "s", "--trials", 3, "--json").out)
    assert more["trials"][:2] == first["trials"]
    assert len(more["trials"]) == 3
    for words in (
        ("mlp",),
        ("--seed", 0),
        ("--epochs", 0),
        ("--metric", "val/loss"),
        ("--sampler", "tpe"),
        ("--pruner", "none"),
    ):
        refused = type_in("search", *words, "--resume", "s")
        assert (refused.code, refused.err) == (
            2,
            "error: s already defines the search: --resume can only be combined with --trials, "
            "--max-time and the --storage of a server\n",
        )
    assert type_in("search", "--resume", "nowhere").err == (
        "error: nowhere: there is no such folder; "
        "a search over models removes its own when it ends\n"
    )


def test_refusals_leave_nothing(type_in: Type, tmp_path: Path) -> None:
    answer = type_in("search", "mlp", "moons", "--space", "model.droput=0..0.5")
    assert (answer.code, answer.err) == (
        2,
        "error: unknown setting 'model.droput'; did you mean 'model.dropout'?\n",
    )
    assert type_in("search", "mlp", "moons", "--sampler", "tp").code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_two_processes_at_once_share_one_study(type_in: Type, tmp_path: Path) -> None:
    words = (*QUICK, "--epochs", 20, "--trials", 16, "--out", "s", "--json")
    other = started(tmp_path, *words)
    wait_for(tmp_path / "s", 1, other)
    here = type_in(*words)
    _, err = other.communicate(timeout=600)
    assert (here.code, other.returncode) == (0, 0), here.err + err
    trials = trials_of(tmp_path / "s")
    assert [trial["number"] for trial in trials] == list(range(16))
    assert {trial["state"] for trial in trials} <= {"complete", "pruned"}
    made = Counter(int(trial["process"].partition("-")[0]) for trial in trials)
    assert set(made) == {os.getpid(), other.pid}
    assert len({trial["settings"]["train.lr"] for trial in trials}) == 16


@pytest.mark.slow
def test_killed_in_the_middle_it_goes_on_and_loses_nothing(type_in: Type, tmp_path: Path) -> None:
    victim = started(tmp_path, *QUICK, *SLOW, "--trials", 5, "--out", "s")
    wait_for(tmp_path / "s", 2, victim)
    victim.kill()
    victim.communicate()
    done = [trial for trial in trials_of(tmp_path / "s") if trial["state"] == "complete"]
    assert 2 <= len(done) < 5
    trials = json.loads(type_in("search", "--resume", "s", "--json").out)["trials"]
    assert trials[: len(done)] == done
    states = Counter(trial["state"] for trial in trials)
    assert states["complete"] == 5
    assert set(states) <= {"complete", "interrupted"}
    begun = [trial for trial in trials if trial["settings"]]  # one may die before it has any
    for lost in (trial for trial in begun if trial["state"] == "interrupted"):
        again = [trial for trial in trials if trial["settings"] == lost["settings"]]
        assert [trial["state"] for trial in again] == ["interrupted", "complete"]


@pytest.mark.slow
def test_ctrl_c_keeps_the_study_and_says_how_to_go_on(type_in: Type, tmp_path: Path) -> None:
    process = started(tmp_path, *QUICK, *SLOW, "--out", "s")
    wait_for(tmp_path / "s", 1, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130
    assert err.splitlines()[-1] == (
        "the study is saved, and the current trial is queued again; resume with: netwright search "
        "--resume s"
    )
    assert type_in("search", "--resume", "s", "--trials", 1, "-q").code == 0


@pytest.mark.slow
def test_a_table_alone_is_searched_over_models(type_in: Type, tmp_path: Path) -> None:
    type_in("sample-data")
    words = ("--target", "species", "--models", "softmax,decision-tree", "--folds", 2, "-q")
    answer = type_in("search", "flowers.csv", *words, "--out", "best")
    assert answer.code == 0, answer.err
    assert answer.out.split()[:2] == ["model", "loss"]
    assert "to predict: netwright predict best new.csv" in answer.out
    assert (tmp_path / "best" / "leaderboard.html").exists()
    said = type_in("predict", "best", "new.csv")
    assert said.code == 0, said.err
    as_json = json.loads(type_in("search", "flowers.csv", *words, "--json").out)
    assert {one["name"] for one in as_json["leaderboard"]} >= {"softmax", "decision-tree"}
    count = len((tmp_path / "flowers.csv").read_text().splitlines()) - 1
    searched = {one["rows"] for one in as_json["leaderboard"]}
    assert searched == {count - count // 5}  # a fifth is the test, which is not searched on


def test_ctrl_c_in_a_search_over_models_says_what_is_saved(
    type_in: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(race: Race) -> None:
        raise KeyboardInterrupt("no model has finished, and nothing is saved")

    monkeypatch.setattr(Race, "run", interrupted)
    typed = type_in("search", "iris", "--models", "softmax")
    assert typed.code == 130
    assert typed.err.split("\n")[0] == ("interrupted; no model has finished, and nothing is saved")


def test_a_search_over_models_that_was_stopped_is_resumed(
    type_in: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Race, "_fit", stopped_after(Race._fit, 3))
        typed = type_in("search", "iris", "--models", "softmax,decision-tree", "--folds", 2)
    assert typed.code == 143
    folder = "searches/models-iris-001"
    assert typed.err.splitlines()[-1] == (
        f"to go on with the search: netwright search --resume {folder}"
    )
    refused = type_in("search", "--resume", folder, "--trials", 3)
    assert f"--trials is for the settings of a model: {folder} searches models" in refused.err
    refused = type_in("search", "--resume", folder, "--models", "mlp")
    assert f"{folder} already defines the search" in refused.err
    assert type_in("verify", folder).code == 0
    fits: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr(Race, "_fit", stopped_after(Race._fit, 9, fits))
        answer = type_in("search", "--resume", folder, "--json", "--max-time", "9m")
    assert answer.code == 0, answer.err
    assert fits == ["decision-tree"]
    board = json.loads(answer.out)["leaderboard"]
    assert {one["name"] for one in board} >= {"softmax", "decision-tree"}
    assert not (tmp_path / folder).exists()


def stopped_after(fit: Any, count: int, fits: list[str] | None = None) -> Any:
    """The same as `fit`, and SIGTERM's end in the place of one that comes after so many."""
    made = [] if fits is None else fits

    def fit_or_stop(race: Race, entrant: Entrant, number: int) -> None:
        if len(made) == count:
            raise SystemExit(143)
        made.append(entrant.name)
        fit(race, entrant, number)

    return fit_or_stop


@pytest.mark.slow
def test_a_search_over_models_that_is_killed_is_resumed(type_in: Type, tmp_path: Path) -> None:
    process = started(tmp_path, "search", "iris", "--models", "softmax,random-forest")
    until = time.monotonic() + 600
    while not (tmp_path / "searches/models-iris-001/softmax-2").exists():
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            raise RuntimeError(process.communicate()[1])
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=600)
    answer = type_in("search", "--resume", "searches/models-iris-001", "-q")
    assert answer.code == 0, answer.err
    assert "to predict: netwright predict runs/" in answer.out


def test_options_of_one_kind_of_search_are_refused_in_the_other(type_in: Type) -> None:
    type_in("sample-data")
    assert "--trials is for the settings" in type_in("search", "flowers.csv", "--trials", 3).err
    refused = type_in("search", "mlp", "moons", "--folds", 3)
    assert "--folds is for a search over models" in refused.err


@pytest.mark.parametrize("name", ["squad", "wikitext-2"])
def test_models_are_not_searched_for_texts(type_in: Type, name: str) -> None:
    refused = type_in("search", name)
    assert (refused.code, refused.err) == (
        2,
        f"error: a search over models is for tables, not for {name}\n",
    )
