"""Looking inside a run by the name of a view."""

from pathlib import Path

import numpy as np
import pytest

import netwright as nw
from netwright.core.errors import ConfigError, UnknownNameError


def test_a_run_and_its_folder_show_the_same(moons_run: nw.Run) -> None:
    folder = moons_run.folder
    assert folder is not None
    assert nw.inspect(folder, "confusion") == nw.inspect(moons_run, "confusion")


def test_a_run_tells_what_can_be_seen_of_it(moons_run: nw.Run) -> None:
    shown = nw.inspectable(moons_run)
    assert shown["confusion"] == "Which classes are taken for which."
    assert "residuals" not in shown
    assert "feature-maps" not in shown


def test_the_views_that_a_model_has_of_its_own_are_among_them(tmp_path: Path) -> None:
    run = nw.fit("decision-tree", "iris", out=tmp_path / "tree", quiet=True)
    sentence = "How much each feature took part in the splits of trees."
    assert nw.inspectable(run)["feature-importance"] == sentence
    assert nw.inspect(run, "feature-importance").caption
    with pytest.raises(ConfigError, match=r"unknown setting 'view.example'"):
        nw.inspect(run, "feature-importance", example=1)


def test_an_unknown_view_is_refused_with_the_nearest(moons_run: nw.Run) -> None:
    with pytest.raises(
        UnknownNameError, match=r"unknown view 'confusoin'; did you mean 'confusion'"
    ):
        nw.inspect(moons_run, "confusoin")


def test_other_data_can_be_looked_at(moons_run: nw.Run) -> None:
    inputs, targets = moons_run.data.train.inputs[:9], moons_run.data.train.targets[:9]
    seen = nw.inspect(moons_run, "confusion", data=(inputs.numpy(), targets.numpy()))
    assert sum(map(sum, seen.to_json()["counts"])) == 9


def test_a_run_on_arrays_is_looked_into_with_the_arrays(tmp_path: Path) -> None:
    inputs, targets = np.eye(6), np.arange(6) % 2
    nw.fit("mlp", (inputs, targets), hidden=(3,), epochs=1, out=tmp_path / "run", quiet=True)
    run = nw.open_run(tmp_path / "run")
    assert set(nw.inspectable(run)) == {"curves", "summary", "weight-spectra"}
    reason = "this run was trained on arrays that are not saved with it; give data="
    with pytest.raises(ConfigError, match=f"^this view needs the run's data: {reason}$"):
        nw.inspect(run, "saliency")
    assert nw.inspect(run, "saliency", data=(inputs, targets), example=2).caption


def test_an_own_input_is_looked_at_without_the_data_where_that_is_not_read(tmp_path: Path) -> None:
    rows = "".join(f"{n},{n % 7},{'ab'[n > 20]}\n" for n in range(40))
    (tmp_path / "things.csv").write_text("size,rest,kind\n" + rows)
    out = tmp_path / "run"
    nw.fit("mlp", tmp_path / "things.csv", target="kind", epochs=1, out=out, quiet=True)
    row = {"size": 3, "rest": 1}
    with_data = nw.open_run(out)
    seen = nw.inspect(with_data, "saliency", of=row)
    assert with_data.known_data is None
    (tmp_path / "things.csv").unlink()
    assert nw.inspect(out, "saliency", of=row) == seen
    for view, settings in (("saliency", {"method": "integrated"}), ("occlusion", {})):
        with pytest.raises(ConfigError, match=r"^this view needs the run's data: .*things\.csv"):
            nw.inspect(out, view, of=row, **settings)
    with pytest.raises(ConfigError, match="not of a single input"):
        nw.inspect(out, "confusion", of=row)


def test_what_needs_no_data_does_not_load_any(
    moons_run: nw.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nw.Run, "data_at_hand", lambda _: pytest.fail("data was loaded"))
    assert nw.inspect(moons_run, "curves").caption
    assert nw.inspect(moons_run, "weight-spectra").caption
