"""The permutation importance of a run: which runs have it, and what it says of them."""

from pathlib import Path

import pytest
from torch import nn

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


def test_a_small_model_is_asked_about_more_rows_than_a_large_one(
    moons_run: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = (10, 1000, 10_000_000)
    models = [nn.Linear(1, size, bias=False, device="meta") for size in sizes]
    counts = [permutation_importance.affordable_predictions(model) for model in models]
    assert counts == [200_000, 200_000, 50_000]
    middle = nn.BatchNorm1d(100_000, device="meta", affine=False)  # buffers count as well
    assert permutation_importance.affordable_predictions(middle) == 2 * 10**10 // 200_001
    monkeypatch.setattr(permutation_importance, "affordable_predictions", lambda model: 2 * 5 * 60)
    assert nw.inspect(moons_run, "permutation-importance").num_rows == 60  # type: ignore[attr-defined]


def test_settings_are_checked(moons_run: nw.Run) -> None:
    with pytest.raises(ConfigError, match="repeats"):
        nw.inspect(moons_run, "permutation-importance", repeats=0)
    with pytest.raises(ConfigError, match="repeats"):
        nw.inspect(moons_run, "permutation-importance", repeats=10**9)
