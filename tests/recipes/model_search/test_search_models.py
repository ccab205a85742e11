"""From a table to a run: what is chosen, what is written, what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.recipes.model_search.entrant import Entrant
from netwright.recipes.model_search.race import Race

QUICK: dict[str, Any] = {"models": ["ridge", "decision-tree"], "folds": 2, "quiet": True}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def line() -> pd.DataFrame:
    """A line, which a tree can only approximate."""
    numbers = np.random.default_rng(0)
    x = numbers.normal(size=(80, 2))
    return pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": 3 * x[:, 0] - x[:, 1] + 0.5})


def test_the_better_model_becomes_an_ordinary_run(line: pd.DataFrame, tmp_path: Path) -> None:
    found = nw.search_models(line, target="y", out=tmp_path / "run", **QUICK)
    assert found.chosen == "ridge"
    assert found.standings[0].name == "ridge"
    assert found.standings[0].score > 0.99
    opened = nw.open_run(tmp_path / "run")
    new = pd.DataFrame({"a": [1.0], "b": [0.0]})
    assert float(opened.predict(new)[0]) == pytest.approx(3.5, abs=0.1)
    written = json.loads((tmp_path / "run" / "leaderboard.json").read_text())
    assert [one["name"] for one in written["leaderboard"]] == [one.name for one in found.standings]
    page = (tmp_path / "run" / "leaderboard.html").read_text()
    assert "Leaderboard" in page
    assert "a 95 % interval that leaves out 0 is not enough" in page
    assert nw.verify(tmp_path / "run").holds


def test_a_model_without_epochs_learns_from_validation_rows_too(line: pd.DataFrame) -> None:
    found = nw.search_models(line, target="y", save=False, **QUICK)
    r2, rmse = (found.run.results["metrics"][name] for name in ("r2", "rmse"))
    assert found.sentence.endswith(f": test r2 {r2:.4g}, rmse {rmse:.4g}")
    assert found.run.results["split"] == "test"
    assert found.run.data.val is None
    assert len(found.run.data.train) == 64  # of 80, 16 are the test
    assert {standing.rows for standing in found.standings} == {64}  # nor were these searched on


def test_ctrl_c_ends_the_race_and_the_best_so_far_is_a_run(
    line: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit, fits = Race._fit, []

    def interrupted(self: Race, entrant: Entrant, number: int) -> None:
        fits.append(entrant.name)
        if len(fits) == stop:
            raise KeyboardInterrupt
        fit(self, entrant, number)

    monkeypatch.setattr(Race, "_fit", interrupted)
    stop = 2  # ridge has one fold left
    with pytest.raises(KeyboardInterrupt, match=r"no model has finished$"):
        nw.search_models(line, target="y", out=tmp_path / "none", **QUICK)
    assert not (tmp_path / "none").exists()
    stop = 2 + len(fits)
    with pytest.raises(KeyboardInterrupt, match="no model has finished, and nothing is saved"):
        nw.search_models(line, target="y", save=False, **QUICK)
    stop = 4 + len(fits)  # the tree has one
    with pytest.raises(KeyboardInterrupt, match=r"^nothing is saved"):
        nw.search_models(line, target="y", save=False, **QUICK)
    stop = 4 + len(fits)
    with pytest.raises(KeyboardInterrupt, match=r"the best so far is saved in .*run: ridge: t"):
        nw.search_models(line, target="y", out=tmp_path / "run", **QUICK)
    written = json.loads((tmp_path / "run" / "leaderboard.json").read_text())
    assert [(one["name"], one["rows"]) for one in written["leaderboard"]] == [
        ("ridge", 64),
        ("decision-tree", 32),
    ]
    assert nw.open_run(tmp_path / "run").results["finished"]


def test_a_search_that_was_killed_goes_on_as_if_nothing_had_happened(
    line: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = {**QUICK, "models": ["ridge", "mlp", "decision-tree"], "epochs": 3}
    whole = nw.search_models(line, target="y", save=False, **models)
    fit, fits = Race._fit, []

    def killed(self: Race, entrant: Entrant, number: int) -> None:
        fits.append((entrant.name, number))
        if len(fits) == 4:
            raise SystemExit(143)
        fit(self, entrant, number)

    monkeypatch.setattr(Race, "_fit", killed)
    with pytest.raises(SystemExit):
        nw.search_models(line, target="y", **models)
    kept = tmp_path / "searches/models-frame-001"
    with pytest.raises(ConfigError, match="another search: its data differs"):
        nw.search_models(line[:70], target="y", resume=kept, **models)
    found = nw.search_models(line, target="y", out=tmp_path / "run", resume=kept, **models)
    assert fits[3:] == [("mlp", 1), ("mlp", 1), ("decision-tree", 0), ("decision-tree", 1)]
    told = [(one.name, one.loss, one.verdict) for one in found.standings]
    assert told == [(one.name, one.loss, one.verdict) for one in whole.standings]
    assert found.run.results["metrics"] == whole.run.results["metrics"]
    assert not (tmp_path / "searches").exists()


def test_a_stack_is_trained_as_its_members_were(line: pd.DataFrame, tmp_path: Path) -> None:
    noise = np.random.default_rng(1).normal(size=80)
    wave = line.assign(y=line["a"] + 2 * (line["b"] > 0) + noise)
    models = {"models": ["mlp", "decision-tree"], "epochs": 30, "patience": 2}
    found = nw.search_models(wave, target="y", out=tmp_path / "run", **{**QUICK, **models})
    assert found.chosen == "stacking"
    assert "  patience: 2\n" in (tmp_path / "run" / "config.yaml").read_text()


def test_arrays_that_were_split_before_are_searched_as_they_are(line: pd.DataFrame) -> None:
    data = nw.fit("ridge", line, target="y", save=False, quiet=True).data
    found = nw.search_models(data, save=False, **{**QUICK, "models": ["ridge"]})
    assert found.chosen == "ridge"


def test_test_rows_have_no_part_in_the_choice(line: pd.DataFrame) -> None:
    marked = line.assign(split=["train"] * 60 + ["test"] * 20)
    spoiled = marked.copy()
    spoiled.loc[60:, "y"] = 1e6
    one, other = (
        nw.search_models(frame, target="y", save=False, **QUICK) for frame in (marked, spoiled)
    )
    assert [s.loss for s in one.standings] == [s.loss for s in other.standings]
    assert one.run.results["metrics"] != other.run.results["metrics"]


def test_models_with_errors_of_their_own_are_stacked() -> None:
    numbers = np.random.default_rng(0)
    x = numbers.normal(size=(150, 2))
    y = 3 * x[:, 0] + 3 * (x[:, 1] > 0) + 1.5 * numbers.normal(size=150)
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": y})
    found = nw.search_models(
        frame, target="y", models=["ridge", "decision-tree"], folds=2, save=False, quiet=True
    )
    assert found.chosen == "stacking"
    assert set(found.weights) == {"ridge", "decision-tree"}
    assert found.standings[0].name == "stacking"
    weights = found.run.model.get_buffer("weights").tolist()
    assert weights == pytest.approx(list(found.weights.values()))


def test_of_many_rows_a_part_is_held_out_which_a_note_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("netwright.recipes.model_search.race.ENOUGH", 80)
    numbers = np.random.default_rng(0)
    x = numbers.normal(size=(500, 2))
    y = 3 * x[:, 0] + 3 * (x[:, 1] > 0) + 1.5 * numbers.normal(size=500)
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": y})
    asked: dict[str, Any] = {"models": ["ridge", "decision-tree"], "save": False, "quiet": True}
    found = nw.search_models(frame, target="y", **asked)
    assert {one.rows for one in found.standings} == {80}  # of 400
    assert found.chosen == "stacking"
    assert found.notes == (
        "models learned 1 of 5 folds, whose 80 held-out rows are enough to compare them",
    )
    whole = nw.search_models(frame, target="y", folds=2, **asked)
    assert {one.rows for one in whole.standings} == {400}  # as was asked
    assert whole.notes == ()


def test_a_last_fit_that_the_time_ended_says_so(
    line: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit, cut = Race._fit, []

    def at_once(race: Race, entrant: Entrant, number: int) -> None:
        entrant.limit = 1e-9  # boosting ends after a stage
        fit(race, entrant, number)
        cut.append(entrant.was_cut)

    monkeypatch.setattr(Race, "_fit", at_once)
    asked = {**QUICK, "save": False, "max_time": 600, "models": ["gradient-boosting"]}
    found = nw.search_models(line, target="y", **asked)
    assert found.sentence.endswith("; its last fit was ended by the time limit of 2e-09 s")
    assert cut == [True, True]
    monkeypatch.setattr(Race, "_fit", fit)
    assert "last fit" not in nw.search_models(line, target="y", **asked).sentence


def test_refusals_say_what_to_do(line: pd.DataFrame) -> None:
    with pytest.raises(ConfigError, match="remove hidden"):
        nw.search_models(line, target="y", hidden=(4,))
    with pytest.raises(ConfigError, match="folds must be a whole number of at least 2"):
        nw.search_models(line, target="y", folds=1)
    with pytest.raises(ConfigError, match=r"^mlp stops early by .* has none: set val_size"):
        nw.search_models(line, target="y", models=["mlp"], val_size=0.0)
    with pytest.raises(ConfigError, match="max_time must be positive"):
        nw.search_models(line, target="y", max_time=-1)
    with pytest.raises(ConfigError, match="a search that is resumed is saved"):
        nw.search_models(line, target="y", resume="searches/x", save=False)


def test_a_folder_that_is_not_free_is_refused_before_anything_is_learned(
    line: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").touch()
    monkeypatch.setattr(Race, "run", lambda race: pytest.fail("the search has begun"))
    with pytest.raises(ConfigError, match="mine already exists and is not empty"):
        nw.search_models(line, target="y", out=tmp_path / "mine", **QUICK)
