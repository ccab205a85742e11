"""Tables with embedded categories, from the file to the answer: saved, resumed, exported, large."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError

SETTINGS: dict[str, Any] = {
    "target": "y",
    "categories": "embedded",
    "epochs": 2,
    "device": "cpu",
    "quiet": True,
}


def write_table(path: Path, *, levels: int, rows: int) -> Path:
    """Classes that hang on an effect of each category of `place`."""
    draws = np.random.default_rng(0)
    effect, place = draws.normal(size=levels), draws.integers(levels, size=rows)
    x = draws.normal(size=rows)
    y = np.where(effect[place] + 0.5 * x > 0, "yes", "no")
    names = np.array([f"place {number}" for number in range(levels)])[place]
    pd.DataFrame({"place": names, "x": x, "y": y}).to_csv(path, index=False)
    return path


NEW = pd.DataFrame({"place": ["place 1", "nowhere"], "x": [0.5, 0.5]})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> nw.Run:
    folder = tmp_path_factory.mktemp("embedded")
    table = write_table(folder / "t.csv", levels=60, rows=400)
    return nw.fit("mlp", table, out=folder / "run", hidden=(8,), **SETTINGS)


def test_a_row_has_one_number_of_each_column_and_unseen_categories_an_answer(run: nw.Run) -> None:
    assert (run.spec.input_shape, run.spec.feature_groups) == ((2,), ())
    assert run.spec.feature_levels[0] > 55
    assert run.spec.feature_levels[1] == 0
    answers = run.predictions(NEW)
    assert run.folder is not None
    again = nw.open_run(run.folder).predictions(NEW)
    assert torch.equal(answers, again)
    assert answers[0].tolist() != answers[1].tolist()


@pytest.mark.usefixtures("undrawn")
def test_views_that_move_numbers_refuse_and_others_name_categories(run: nw.Run) -> None:
    with pytest.raises(ConfigError, match="this run embeds categories"):
        nw.inspect(run, "saliency")
    (place,) = nw.inspect(run, "partial-dependence", columns=("place",)).columns  # type: ignore[attr-defined]
    assert len(place.categories) == 20, "the commonest"
    assert sum(name.startswith("place ") for name in place.categories) >= 19, "and 'other'"
    assert run.report().exists()


def test_a_network_without_hidden_layers_learns_vectors_and_is_no_convex_model(
    tmp_path: Path,
) -> None:
    table = tmp_path / "t.csv"
    places = [f"place {row % 8}" for row in range(320)]
    classes = ["yes" if row % 8 < 4 else "no" for row in range(320)]
    pd.DataFrame({"place": places, "y": classes}).to_csv(table, index=False)
    settings = SETTINGS | {"epochs": 40, "hidden": ()}
    run = nw.fit("mlp", table, out=tmp_path / "run", **settings)
    assert run.config["train"]["optimizer"] == "adam"
    assert run.evaluate()["accuracy"] > 0.9, "0.5 by the classes alone"


def test_noise_on_places_is_refused(tmp_path: Path) -> None:
    table = write_table(tmp_path / "t.csv", levels=6, rows=60)
    with pytest.raises(ConfigError, match="input_noise is for numbers"):
        nw.fit("mlp", table, out=tmp_path / "run", input_noise=0.1, **SETTINGS)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["mlp", "mlp-plr", "table-resnet", "ft-transformer"])
def test_each_network_learns_what_categories_say(model: str, tmp_path: Path) -> None:
    table = write_table(tmp_path / "t.csv", levels=200, rows=4000)
    small = (
        {"layers": 1, "heads": 2, "width": 16, "hidden": 16} if model == "ft-transformer" else {}
    )
    settings = SETTINGS | {"epochs": 12} | small
    accuracy = nw.fit(model, table, out=tmp_path / "run", **settings).evaluate()["accuracy"]
    others = nw.fit(model, table, out=tmp_path / "other", **settings | {"categories": "columns"})
    assert accuracy > others.evaluate()["accuracy"] + 0.05, "50 categories, and 'other'"
    assert accuracy > 0.85


LARGE = """
import json, sys
import torch
import netwright as nw
from netwright.core.peak_memory import peak_memory

table, folder = sys.argv[1:]
settings = dict(target="y", categories="embedded", epochs=2, device="cpu", quiet=True, seed=0)
whole = nw.fit("mlp", table, out=folder + "/whole", **settings)
nw.fit("mlp", table, out=folder + "/part", max_steps=1500, **settings)
nw.fit("mlp", table, resume=folder + "/part", **settings)
peak = peak_memory(torch.device("cpu")) / 1024
print(json.dumps({"peak": peak, "levels": whole.spec.feature_levels[0],
    "accuracy": whole.evaluate()["accuracy"]}))
"""


@pytest.mark.slow
def test_fifty_thousand_categories_in_bounded_memory(tmp_path: Path) -> None:
    """0-or-1 columns would take 200,000 x 50,000 x 4 bytes: 40 GB."""
    table = write_table(tmp_path / "t.csv", levels=50_000, rows=200_000)
    called = subprocess.run(
        [sys.executable, "-c", LARGE, table, tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert called.returncode == 0, called.stderr
    found = json.loads(called.stdout.splitlines()[-1])
    assert found["levels"] > 35_000, "those of two training rows"
    assert found["peak"] < 1.8  # GiB
    whole, resumed = (nw.open_run(tmp_path / name) for name in ("whole", "part"))
    for name, weight in whole.model.state_dict().items():
        assert torch.equal(weight, resumed.model.state_dict()[name]), name
    assert whole.predict(NEW.assign(place="never")).notna().all()
