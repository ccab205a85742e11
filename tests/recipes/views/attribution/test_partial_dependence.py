"""The partial dependence of a run: which runs have it, and what it says of them."""

from pathlib import Path

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.recipes.views.attribution import partial_dependence


def test_the_column_that_decides_moves_the_answer_most(tmp_path: Path) -> None:
    rows = [f"{i % 2},{i % 7},{'abc'[i % 3]},{'yes' if i % 2 else 'no'}" for i in range(120)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["tells,noise,letter,y", *rows]))
    run = nw.fit("mlp", path, target="y", hidden=(8,), epochs=30, lr=0.05, save=False, quiet=True)
    view = nw.inspect(run, "partial-dependence")
    assert view.columns[0].name == "tells"  # type: ignore[attr-defined]
    assert view.outputs == ("yes",)  # type: ignore[attr-defined]
    (letter,) = nw.inspect(run, "partial-dependence", columns=("letter",)).columns  # type: ignore[attr-defined]
    assert letter.categories == ("a", "b", "c")


def test_reals_are_called_as_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["x,high,low", *(f"{i},{i * 2},{-i}" for i in range(60))]))
    run = nw.fit("ridge", path, target=["high", "low"], save=False, quiet=True)
    view = nw.inspect(run, "partial-dependence")
    assert view.outputs == ("high", "low")  # type: ignore[attr-defined]


def test_a_table_of_very_many_columns_is_refused(
    moons_run: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partial_dependence, "MOST_COLUMNS", 1)
    with pytest.raises(ConfigError, match=r"is for at most 1 columns, there are 2$"):
        nw.inspect(moons_run, "partial-dependence")
