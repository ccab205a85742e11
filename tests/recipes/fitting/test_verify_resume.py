"""The proof on a run of one's own: it holds where a run is exact, and else names what differs."""

import json
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.recipes.fitting import verify_resume as room
from netwright.recipes.fitting.verify_resume import Verification, verify_resume
from netwright.train.saving.checkpoint_store import newest_good
from tests.in_process import IN_PROCESS


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("verify") / "run"
    nw.fit("mlp", "moons", hidden=(4,), dropout=0.2, epochs=2, out=place, quiet=True)
    return place


@pytest.fixture(params=["here", pytest.param("in new processes", marks=pytest.mark.slow)])
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the copies go on."""
    if request.param == "here":
        monkeypatch.setattr(room, "subprocess", IN_PROCESS)


@pytest.mark.usefixtures("where")
def test_a_run_goes_on_exactly_and_its_folder_stays_as_it_was(run: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    found = verify_resume(run, steps=12, seed=1)
    assert found.holds, str(found)
    assert found.first < found.stopped < found.last == found.first + 12
    assert found.compared > 100
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == before
    assert str(found).endswith("tensors and values are the same, bit for bit")


@pytest.mark.usefixtures("where")
def test_a_run_whose_length_is_in_steps_goes_on_exactly(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"hidden": (4,), "schedule": "cosine", "eval_every": 2}
    nw.fit("mlp", "moons", max_steps=5, out=tmp_path / "run", quiet=True, **settings)
    found = verify_resume(tmp_path / "run", steps=6, seed=1)
    assert found.holds, str(found)
    assert (found.first, found.last) == (5, 11)


def test_one_bit_is_found(run: Path, tmp_path: Path) -> None:
    place, _ = newest_good(run)
    assert place is not None
    copy = tmp_path / "copy" / "checkpoints" / place.name
    copy.mkdir(parents=True)
    for file in place.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    whole = room._contents(tmp_path / "copy")
    state = json.loads((copy / "state.json").read_text())
    state["samples"] += 1
    assert room._plain(place)["samples"] + 1 == state["samples"]
    assert whole == room._contents(run)


def test_a_difference_is_named() -> None:
    found = Verification(
        run=Path("r"), first=1, stopped=2, last=3, compared=9, different=("model: 0.weight", "step")
    )
    assert not found.holds
    assert str(found) == (
        "from step 1 to 3, interrupted and resumed at step 2: "
        "2 of 9 tensors and values differ: model: 0.weight, step"
    )


def test_refusals(tmp_path: Path, run: Path) -> None:
    with pytest.raises(
        ConfigError, match="steps must be at least 2, to interrupt between them, got 1"
    ):
        verify_resume(run, steps=1)
    with pytest.raises(ConfigError, match="is not a run folder"):
        verify_resume(tmp_path)
