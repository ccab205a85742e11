"""A plan in the browser is the plan of the command, and starts as a process of its own."""

import re
import shlex
import time
from pathlib import Path
from typing import Any

import pytest

from netwright.core.errors import ConfigError
from netwright.recipes.plan.recipe_file import read_yaml
from netwright.recipes.saved.run_list import list_runs
from tests.apps.studio.conftest import Open

SMALL = {"model.hidden": "4", "train.epochs": "1", "data.n": "60"}
MOONS: dict[str, Any] = {"data": "moons", "model": "mlp", "settings": SMALL, "seed": 2}


def test_a_plan_is_said_as_command_yaml_and_python(studio: Open) -> None:
    told = studio().post("/api/plan", MOONS).json
    assert told["error"] == "" and told["model"] == "mlp" and "logistic" in told["models"]
    words = shlex.split(told["command"])
    assert words[:4] == ["netwright", "train", "mlp", "moons"] and "--epochs" in words
    assert read_yaml(told["yaml"], "plan")["model"]["hidden"] == [4]
    assert "nw.fit('mlp', 'moons'" in told["python"]
    names = {field["name"] for field in told["fields"]["train"]}
    assert {"epochs", "lr", "optimizer"} <= names


def test_a_file_is_named_as_seen_from_the_folder(studio: Open) -> None:
    visitor = studio()
    (visitor.folder / "a.csv").write_text("x,kind\n" + "1,a\n2,b\n" * 20)
    plan = {"data": "a.csv", "model": "mlp", "settings": {"data.target": "kind"}}
    told = visitor.post("/api/plan", plan).json
    assert told["command"] == "netwright train mlp a.csv --target kind"
    assert told["columns"] == ["x", "kind"] and str(visitor.folder) not in told["yaml"]


def test_spaces_and_slashes_in_the_folder_and_in_columns_are_no_paths(tmp_path: Path) -> None:
    from netwright.apps.studio.new_run import NewRun

    folder = tmp_path / "My Folder"
    folder.mkdir()
    (folder / "my flats.csv").write_text("size,price / m2\n" + "1,2.5\n2,3.5\n" * 20)
    settings = {"data.target": "price / m2", "data.missing": "n / a"}
    asked = {"data": "my flats.csv", "model": "mlp", "settings": settings}
    told = NewRun(folder, asked).plan()
    assert told["error"] == "" and str(folder) not in told["command"]
    words = shlex.split(told["command"])
    assert {"my flats.csv", "price / m2"} <= set(words)
    for setting in ("data.path", "model.target"):
        with pytest.raises(ConfigError):
            NewRun(folder, {**asked, "settings": {setting: "a /etc/passwd"}}).recipe()


def test_a_mistake_is_told_beside_the_form(studio: Open) -> None:
    wrong = {**MOONS, "settings": {"train.lr": "-1"}}
    told = studio().post("/api/plan", wrong).json
    assert "lr must be greater than 0" in told["error"] and told["fields"]["train"]


def test_a_model_that_does_not_fit_gives_way_to_one_that_does(studio: Open) -> None:
    assert (
        studio().post("/api/plan", {**MOONS, "model": "gpt", "settings": {}}).json["model"] != "gpt"
    )


def test_what_is_no_plan_is_refused(studio: Open) -> None:
    visitor = studio()
    wrong: list[dict[str, Any]] = [
        {"data": "../x.csv"},
        {"data": 3},
        {"settings": []},
        {"settings": {"a": 1}},
        {"seed": -1},
        {"seed": "x"},
        {"settings": {"data.vocabulary": "/etc"}},
    ]
    for more in wrong:
        for path in ("/api/plan", "/api/train"):
            assert visitor.post(path, {**MOONS, **more}).status == 400
    assert not (visitor.folder / ".studio").exists()


def test_the_recipe_that_is_trained_is_the_one_that_was_shown(
    studio: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []

    class Started:
        pid = 7

        def __init__(self, words: list[str], **settings: object) -> None:
            started.append(words)

        def poll(self) -> None:
            return None

    visitor = studio()
    shown = visitor.post("/api/plan", MOONS).json
    monkeypatch.setattr("subprocess.Popen", Started)
    assert shown["command"] in visitor.post("/api/train", MOONS).json["said"]
    assert started[0][4:6] == ["train", "-c"]
    written = (visitor.folder / started[0][6]).read_text()
    assert read_yaml(written, "recipe") == read_yaml(shown["yaml"], "plan")


def test_the_doctor_looks_first(studio: Open) -> None:
    told = studio().post("/api/doctor", MOONS).json
    assert re.search(r"checked: ", told["said"]) and told["command"].startswith("netwright doctor")


@pytest.mark.slow
def test_training_is_a_run_of_the_folder(studio: Open) -> None:
    visitor = studio()
    visitor.post("/api/train", MOONS)
    deadline, code = time.monotonic() + 600, None
    while code is None and time.monotonic() < deadline:  # until the process itself has ended
        time.sleep(0.2)
        code = visitor.get("/api/runs").json["jobs"][0]["code"]
    assert code == 0
    states = {run.name: run.state for run in list_runs(visitor.folder)}
    assert states["runs/mlp-moons-001"] == "finished"
