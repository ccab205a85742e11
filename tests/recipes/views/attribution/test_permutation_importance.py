"""The permutation importance of a run: which runs have it, and what it says of them."""

from pathlib import Path

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.recipes.views.attribution import permutation_importance


def test_the_column_that_decides_counts_most(tmp_path: Path) -> None:
    rows = [f"{i % 2},{i % 7},{'abc'[i % 3]},{'yes' if i % 2 else 'no'}" for i in range(120)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["tells,noise,letter,y", *rows]))
    run = nw.fit("mlp", path, target="y", hidden=(8,), epochs=20, out=tmp_path / "run", quiet=True)
    view = nw.inspect(run, "permutation-importance", repeats=3)
    assert view.names[0] == "tells"  # type: ignore[attr-defined]
    assert set(view.names) == {"tells", "noise", "letter"}  # type: ignore[attr-defined]


def test_rows_count_by_their_weights_as_in_the_results(tmp_path: Path) -> None:
    rows = [f"{i % 2},{i % 7},{1 + i % 5},{'yes' if i % 3 else 'no'}" for i in range(60)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,w,y", *rows]))
    run = nw.fit("mlp", path, target="y", weight_column="w", epochs=1, save=False, quiet=True)
    view = nw.inspect(run, "permutation-importance", repeats=1)
    assert view.loss == pytest.approx(run.results["metrics"]["log_loss"])  # type: ignore[attr-defined]


def test_a_table_of_very_many_columns_is_refused(
    moons_run: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permutation_importance, "MOST_COLUMNS", 1)
    with pytest.raises(ConfigError, match=r"is for at most 1 columns, there are 2$"):
        nw.inspect(moons_run, "permutation-importance")
    assert "permutation-importance" not in nw.inspectable(moons_run)


def test_settings_are_checked(moons_run: nw.Run) -> None:
    with pytest.raises(ConfigError, match="repeats"):
        nw.inspect(moons_run, "permutation-importance", repeats=0)
    with pytest.raises(ConfigError, match="repeats"):
        nw.inspect(moons_run, "permutation-importance", repeats=10**9)
