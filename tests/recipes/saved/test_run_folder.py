"""Run folders: free names, what is inside, and what is refused as damaged or foreign."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError, DataError, RunError
from netwright.core.files import manifest
from netwright.core.files.manifest import read_folder
from netwright.core.files.storage import MANIFEST, as_json, new_folder
from netwright.recipes.saved.known_files import RUN
from netwright.recipes.saved.run_folder import (
    SavedModel,
    check_own,
    check_run_folder,
    claim_folder,
    create_run_folder,
    let_go_of,
)
from tests.odd_files import is_untouched, outside_of, plant, refusal


def test_the_next_free_name_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = (create_run_folder(None, "mlp", "My Data.csv") for _ in range(2))
    assert [first.name, second.name] == ["mlp-my-data-csv-001", "mlp-my-data-csv-002"]
    assert create_run_folder(None, "../..", "///").name == "run-run-001"


def test_a_folder_with_something_in_it_is_never_used(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(ConfigError, match="already exists and is not empty; give another folder"):
        create_run_folder(tmp_path, "mlp", "digits")
    assert create_run_folder(tmp_path / "new" / "deep", "mlp", "digits").is_dir()


def test_a_place_that_cannot_hold_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match=r"no folder can be created at .*file.*: Not a directory"):
        create_run_folder(tmp_path / "file" / "run", "mlp", "digits")


def test_a_run_holds_these_files(moons_run: nw.Run) -> None:
    folder = moons_run.folder
    assert folder is not None
    assert sorted(path.name for path in folder.iterdir()) == [
        ".lock",
        "best.json",
        "checkpoints",
        "config.yaml",
        "env.json",
        "last.json",
        "layers.jsonl",
        "metrics.jsonl",
        "model",
        "path.safetensors",
        "results.json",
    ]
    assert sorted(path.name for path in (folder / "model").iterdir()) == [
        "config.json",
        "manifest.json",
        "model.safetensors",
        "preprocessor.json",
    ]
    for pointer in ("best.json", "last.json"):
        name = json.loads((folder / pointer).read_text())["checkpoint"]
        assert (folder / "checkpoints" / name / "state.json").is_file()


def test_refuses_what_is_not_a_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a run folder: there is no such folder"):
        check_run_folder(tmp_path / "nothing")
    with pytest.raises(ConfigError, match=r"is not a run folder: it has no config.yaml"):
        check_run_folder(tmp_path)
    unfinished = tmp_path / "my run"
    unfinished.mkdir()
    (unfinished / "config.yaml").write_text("seed: 0\n")
    with pytest.raises(ConfigError, match=r"has no model; resume it .* --resume '/.*my run'`$"):
        check_run_folder(unfinished)


def test_damaged_weights_are_refused(moons_run: nw.Run, tmp_path: Path) -> None:
    assert moons_run.folder is not None
    for file in (moons_run.folder / "model").iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = tmp_path / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    with pytest.raises(DataError, match=r"model.safetensors is damaged: its sha256 differs"):
        SavedModel(tmp_path)


def test_a_taken_name_gets_a_number(tmp_path: Path) -> None:
    made = [claim_folder(tmp_path / "runs" / "net").name for _ in range(3)]
    assert made == ["net", "net-002", "net-003"]
    (tmp_path / "file").write_text("x")
    with pytest.raises(
        ConfigError,
        match=r"^no folder can be created at .*file/net: Not a "
        r"dir",
    ):
        claim_folder(tmp_path / "file" / "net")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"spec": [1, 2]}, "list"),
        ({"baseline": 7}, "a baseline that is not a list"),
        ({"baseline": [1.0]}, "a baseline of shape"),
    ],
)
def test_a_forged_model_is_refused_by_its_folder(
    moons_run: nw.Run, tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    assert moons_run.folder is not None
    forge(moons_run.folder / "model", tmp_path / "model", "config.json", change)
    with pytest.raises(DataError, match=f"model does not contain a valid saved model: .*{reason}"):
        SavedModel(tmp_path / "model")


def test_rows_are_as_wide_as_the_inputs_of_the_model(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [0.0, 1, 2, 3] * 5, "b": [1.0, 2] * 10, "y": ["n", "y"] * 10})
    nw.fit("logistic", frame, target="y", epochs=1, quiet=True, out=tmp_path / "run")
    saved = tmp_path / "run" / "model"
    features = json.loads((saved / "preprocessor.json").read_text())["features"]
    features[0]["scaling"]["std"] = 0.0  # it never varies, and is left out
    forge(saved, tmp_path / "model", "preprocessor.json", {"features": features})
    with pytest.raises(DataError, match=r"rows of 1 numbers for inputs \(2,\)"):
        SavedModel(tmp_path / "model")


def forge(saved: Path, copy: Path, name: str, change: dict[str, Any]) -> None:
    """A copy of a saved model with other values in a file, and sums that are right."""
    files = read_folder(saved)
    files[name] = as_json({**json.loads(files[name]), **change})
    with new_folder(copy) as staging:
        for file, content in files.items():
            staging.write(file, content)


def test_numbers_of_an_encoder_that_no_training_gives_are_refused(
    moons_run: nw.Run, tmp_path: Path
) -> None:
    assert moons_run.folder is not None
    forge(moons_run.folder / "model", tmp_path / "model", "preprocessor.json", {"factor": 0})
    with pytest.raises(DataError, match=r"^factor of a saved encoder must be positive, got 0$"):
        SavedModel(tmp_path / "model")


@pytest.mark.parametrize(
    ("rows", "files", "stays"),
    [
        ([], (), False),
        ([{"step": 10, "epoch": 0}], (), False),
        ([{"step": 11, "epoch": 0}], (), True),  # a curve that somebody may want to see
        ([{"step": 3, "epoch": 1}], (), True),
        ([{"step": "x"}], (), True),  # no row of ours
        ([], ("model",), True),
        ([], ("checkpoints",), True),
        ([], ("notes.txt",), True),
    ],
)
def test_only_what_came_nowhere_is_let_go_of(
    tmp_path: Path, rows: list[dict[str, Any]], files: tuple[str, ...], stays: bool
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("config.yaml", "env.json", ".lock", *files):
        (folder / name).touch()
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    let_go_of(folder, was_there=False)
    assert folder.exists() == stays


def test_a_run_that_fails_at_its_first_steps_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings: dict[str, Any] = {"lr": 1e30, "epochs": 2, "device": "cpu", "quiet": True}
    with pytest.raises(RunError, match="non-finite value at step 2"):
        nw.fit("mlp", "moons", **settings)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "mine").mkdir()
    with pytest.raises(RunError, match="non-finite value at step 2"):
        nw.fit("mlp", "moons", out=tmp_path / "mine", **settings)
    assert [*tmp_path.rglob("*")] == [tmp_path / "mine"]  # it was there before


@pytest.fixture
def mailed(moons_run: nw.Run, tmp_path: Path) -> Path:
    """A run folder that somebody else has had in hand."""
    assert moons_run.folder is not None
    shutil.copytree(moons_run.folder, tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize("name", ["config.json", "preprocessor.json", "model.safetensors"])
def test_a_file_that_the_manifest_does_not_list_is_not_taken(mailed: Path, name: str) -> None:
    manifest = mailed / "model" / MANIFEST
    values = json.loads(manifest.read_text())
    del values["sha256"][name]
    manifest.write_text(json.dumps(values))
    sentence = f"{mailed / 'model'} contains no complete model: its manifest lacks {name}"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        SavedModel(mailed / "model")


def test_what_is_used_are_the_files_that_were_checked(
    mailed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = manifest._check_sum
    before = SavedModel(mailed / "model")

    def swapped(file: Path, found: str, wanted: str) -> None:
        """Right after its check, another file takes the name."""
        checked(file, found, wanted)
        file.unlink()
        file.write_bytes(b"{}")

    monkeypatch.setattr(manifest, "_check_sum", swapped)
    after = SavedModel(mailed / "model")
    assert (mailed / "model" / "config.json").read_bytes() == b"{}"
    assert after.described == before.described
    assert all(torch.equal(after.weights[name], before.weights[name]) for name in before.weights)


@pytest.mark.parametrize("kind", ["link to a file", "link to a folder", "pipe", "socket"])
@pytest.mark.parametrize(
    "name",
    ["config.yaml", "results.json", "metrics.jsonl", "layers.jsonl", "model", "model/config.json"],
)
def test_a_run_is_not_opened_through_what_is_no_file_of_its_own(
    mailed: Path, name: str, kind: str
) -> None:
    outside = outside_of(mailed)
    place = mailed / name
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    plant(place, kind, outside)
    with pytest.raises(DataError, match=refusal(place, kind)):
        nw.open_run(mailed)
    assert is_untouched(outside)


@pytest.mark.parametrize("name", sorted({*RUN.files, *RUN.folders}))
def test_a_link_where_a_run_writes_is_told_before_it_begins(mailed: Path, name: str) -> None:
    check_own(mailed)
    outside = outside_of(mailed)
    place = mailed / name
    shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
    plant(place, "dangling link", outside)
    with pytest.raises(DataError, match=refusal(place, "link")):
        check_own(mailed)


def test_a_link_that_the_user_made_to_a_run_is_followed(mailed: Path) -> None:
    mailed.with_name("mine").symlink_to(mailed)
    assert nw.open_run(mailed.with_name("mine")).results == nw.open_run(mailed).results
