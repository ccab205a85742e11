"""A run trained in memory leaves nothing, says what any run says, and may be saved afterwards."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.recipes.saved import write_run as written

SETTINGS: dict[str, Any] = {"epochs": 2, "n": 60, "quiet": True, "device": "cpu"}
CASES: dict[str, dict[str, Any]] = {
    "mlp": {"hidden": (4,)},
    "perceptron": {},
    "bagging": {"members": 2, "of": "logistic"},
}


def fit(model: str, **given: Any) -> nw.Run:
    return nw.fit(model, "moons", **{**SETTINGS, **CASES[model], **given})


def without_times(results: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in results.items() if not name.endswith("seconds")}


@pytest.fixture(scope="module", params=CASES)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[nw.Run, nw.Run, Path]:
    """The same run twice: in memory with the empty folder it was trained in, and with a folder."""
    with pytest.MonkeyPatch.context() as patch:
        place = tmp_path_factory.mktemp("memory")
        patch.chdir(place)
        in_memory = fit(request.param, save=False)
    folder = tmp_path_factory.mktemp("disk") / "run"
    return in_memory, fit(request.param, out=folder), place


def test_nothing_is_written_and_the_same_is_learned(pair: tuple[nw.Run, nw.Run, Path]) -> None:
    in_memory, on_disk, place = pair
    assert list(place.iterdir()) == []
    assert in_memory.folder is None
    assert in_memory.config == on_disk.config
    assert without_times(in_memory.results) == without_times(on_disk.results)
    for ours, theirs in zip(
        in_memory.model.state_dict().values(), on_disk.model.state_dict().values(), strict=True
    ):
        assert torch.equal(ours, theirs)


def test_a_run_in_memory_answers_and_shows(pair: tuple[nw.Run, nw.Run, Path]) -> None:
    in_memory, on_disk, _ = pair
    inputs = on_disk.data.train.inputs[:3].numpy()
    assert in_memory.evaluate() == on_disk.evaluate()
    assert in_memory.predict(inputs).tolist() == on_disk.predict(inputs).tolist()
    assert str(nw.inspect(in_memory, "confusion")) == str(nw.inspect(on_disk, "confusion"))
    assert list(nw.inspectable(in_memory)) == list(nw.inspectable(on_disk))


def test_a_saved_run_is_the_one_that_would_have_been_left(
    pair: tuple[nw.Run, nw.Run, Path], tmp_path: Path
) -> None:
    in_memory, on_disk, _ = pair
    assert on_disk.folder is not None
    try:
        folder = in_memory.save(tmp_path / "new" / "run")
        assert in_memory.folder == folder
        with pytest.raises(ConfigError, match=rf"^this run is already saved in {folder}: "):
            in_memory.save(tmp_path / "again")
    finally:
        in_memory.folder = None  # as the other tests know it
    for name in ("config.yaml", "model/model.safetensors", "model/config.json"):
        assert (folder / name).read_bytes() == (on_disk.folder / name).read_bytes()
    assert nw.verify(folder).holds
    opened = nw.open_run(folder)
    assert opened.results == in_memory.results
    assert opened.history.rows == in_memory.history.rows
    assert opened.layer_history.rows == in_memory.layer_history.rows
    assert opened.evaluate() == on_disk.evaluate()


def test_a_saved_run_that_is_resumed_begins_again_and_ends_the_same(tmp_path: Path) -> None:
    folder = fit("mlp", save=False).save(tmp_path / "run")
    before = (folder / "model" / "model.safetensors").read_bytes()
    shutil.rmtree(folder / "model")
    fit("mlp", resume=folder)
    assert (folder / "model" / "model.safetensors").read_bytes() == before


def test_a_folder_that_holds_something_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    run = fit("perceptron", save=False)
    with pytest.raises(ConfigError, match="already exists and is not empty; give another folder"):
        run.save(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("was_there", [False, True])
def test_a_save_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, was_there: bool
) -> None:
    def fail(*_given: object) -> None:
        raise OSError("no space left on device")

    folder, run = tmp_path / "run", fit("perceptron", save=False)
    if was_there:
        folder.mkdir()
    monkeypatch.setattr(written, "save_model", fail)
    with pytest.raises(OSError, match="no space left"):
        run.save(folder)
    assert run.folder is None
    assert folder.exists() == was_there
    assert not was_there or not list(folder.iterdir())
