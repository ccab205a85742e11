"""Metrics of groups: what a group is, and that each is measured on its rows alone."""

import itertools

import numpy as np
import pandas as pd
import pytest

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.recipes.judging import group_metrics
from netwright.recipes.judging.group_metrics import _groups


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    numbers = np.random.default_rng(0)
    a = numbers.normal(size=120)
    town = np.where(np.arange(120) % 3 == 0, "far", "near")
    # where it is far, y is noise
    y = np.where(town == "far", numbers.normal(size=120), 3 * a)
    return pd.DataFrame({"a": a, "kind": np.where(a > 0, "up", ""), "town": town, "y": y})


@pytest.fixture(scope="module")
def run(frame: pd.DataFrame) -> nw.Run:
    return nw.fit("ridge", frame.drop(columns="town"), target="y", save=False, quiet=True)


def test_a_group_is_measured_on_its_rows_alone(run: nw.Run, frame: pd.DataFrame) -> None:
    found = nw.evaluate_groups(run, "town", frame)
    assert found.rows == {"near": 80, "far": 40}
    for town in ("near", "far"):
        rows = frame[frame["town"] == town].drop(columns="town")
        assert found.metrics[town] == pytest.approx(run.evaluate(rows))
    assert found.metrics["far"]["rmse"] > found.metrics["near"]["rmse"]
    assert found.whole == run.evaluate(frame)
    assert [row["town"] for row in found.table_rows()] == ["all", "near", "far"]


def test_the_run_s_own_rows_are_divided_by_what_was_learned_from(run: nw.Run) -> None:
    found = nw.evaluate_groups(run, "kind")
    assert set(found.rows) == {"up", "missing"}
    assert sum(found.rows.values()) == run.results["rows"]
    assert found.whole == pytest.approx(run.results["metrics"])


def test_many_numbers_are_cut_at_quartiles_and_equal_ones_stay_together() -> None:
    names, ordered = _groups([str(place) for place in range(1, 101)] + [""])
    assert ordered == ["1 to 25", "25 to 50", "50 to 75", "75 to 100", "missing"]
    kept, counts = np.unique(names, return_counts=True)
    assert dict(zip(kept.tolist(), counts.tolist(), strict=True)) == {
        "1 to 25": 25,
        "25 to 50": 25,
        "50 to 75": 25,
        "75 to 100": 25,
        "missing": 1,
    }
    skewed, _ = _groups(["0"] * 80 + [str(place) for place in range(20)])
    assert len(set(skewed[:80].tolist())) == 1


def test_many_dates_are_cut_at_quartiles_and_told_in_their_order() -> None:
    days = [f"2024-{month:02}-{day:02}" for day in (1, 15) for month in range(1, 13)]
    names, ordered = _groups([*days, ""])
    bounds = ["2024-01-01", "2024-03-15", "2024-06-15", "2024-09-15", "2024-12-15"]
    quarters = [f"{low} to {high}" for low, high in itertools.pairwise(bounds)]
    assert ordered == [*quarters, "missing"]
    assert [int((names == name).sum()) for name in ordered] == [6, 6, 6, 6, 1]
    assert names[1] == quarters[0]
    other = [f"{day[8:]}.{day[5:7]}.{day[:4]}" for day in days]
    assert _groups(other)[1] == quarters
    unclear = [f"{one:02}/{two:02}/2024" for one in range(1, 13) for two in (1, 2)]
    assert "to" not in " ".join(_groups(unclear)[1])  # day/month or month/day
    assert _groups([*days[:12], "soon"])[1].count("soon") == 1


def test_rare_groups_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_metrics, "MOST_GROUPS", 3)
    names, ordered = _groups(list("bbbaacd"))
    assert names.tolist() == [*"bbbaa", "other", "other"]
    assert ordered == ["b", "a", "other"]


def test_refusals(run: nw.Run, frame: pd.DataFrame) -> None:
    with pytest.raises(ConfigError, match=r"'town' was not learned from.*one of a, kind"):
        nw.evaluate_groups(run, "town")
    with pytest.raises(DataError, match="has no column 'twon'; did you mean 'town'"):
        nw.evaluate_groups(run, "twon", frame)
    with pytest.raises(ConfigError, match="groups are by a column of a table"):
        nw.evaluate_groups(nw.fit("ridge", "diabetes", save=False, quiet=True), "age")
