"""Linear regions of a run: of networks of ReLU units alone, as close as they can be seen."""

from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.inspection.inside.linear_regions import LinearRegions
from netwright.recipes.views.inside.linear_regions import LINEAR_REGIONS, _num_cells
from netwright.recipes.views.subject import Subject
from tests.inspection.untouched import untouched
from tests.repetition import for_each


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def shown(run: nw.Run, **settings: object) -> LinearRegions:
    with untouched(run.model):
        view = LINEAR_REGIONS.show(Subject(run, *run.data_at_hand()), settings)
    assert isinstance(view, LinearRegions)
    return view


def test_one_layer_has_no_more_regions_than_lines_can_make(moons_run: nw.Run) -> None:
    view = shown(moons_run, cells=80)
    assert view.num_units == 16
    assert 10 < view.num_regions <= 1 + 16 + 120
    assert (view.zoom, len(view.regions)) == (1, 80)
    assert view.frame.x_name == moons_run.spec.feature_names[0]


def test_a_small_network_is_seen_in_so_many_cells_that_borders_are_smooth() -> None:
    assert _num_cells(600) == 420
    assert 32 < _num_cells(10**5) < 180
    assert _num_cells(10**8) == 32


def test_crowded_regions_are_looked_at_more_closely(moons_run: nw.Run) -> None:
    assert shown(moons_run, cells=12).zoom > 1
    assert shown(moons_run, cells=12, zoom=2).zoom == 2


@for_each(
    ("model", "data", "settings", "sentence"),
    [
        (
            "mlp",
            "moons",
            {"activation": "tanh", "hidden": (2,), "epochs": 1},
            "linear regions need a network of ReLU units, mlp has none",
        ),
        (
            "mlp",
            "moons",
            {"layer_norm": True, "hidden": (2,), "epochs": 1},
            "linear regions need a network of ReLU units, mlp has layer_norm",
        ),
        (
            "least-squares",
            "line",
            {},
            "linear regions need at least two inputs for a plane, got one",
        ),
        (
            "elman",
            "parity",
            {"n": 40, "hidden": 2, "embedding": 2, "epochs": 1},
            "linear regions need numeric inputs, not tokens",
        ),
    ],
)
def test_other_models_are_refused(
    model: str, data: str, settings: dict[str, Any], sentence: str
) -> None:
    run = nw.fit(model, data, quiet=True, **settings)
    with pytest.raises(ConfigError, match=f"^{sentence}$"):
        shown(run)
