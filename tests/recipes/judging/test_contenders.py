"""Contenders: labels that are unique, seeds that are shared, repeats with seeds of their own."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from netwright.core.config import Config
from netwright.core.errors import ConfigError
from netwright.data.dataset import Data
from netwright.models.linear.regression import RidgeConfig
from netwright.models.mlp import MLPConfig
from netwright.recipes.judging.contenders import Contender, build_contenders
from netwright.recipes.judging.entries import read_entry
from netwright.recipes.plan.sources import load_source

Source = tuple[str, Config | None, Data]


@pytest.fixture(scope="module")
def moons() -> Source:
    return load_source("moons", {"noise": 0.4})


def built(
    source: Source, *entries: Any, seeds: int = 3, seed: int = 0, **shared: Any
) -> Sequence[Contender]:
    return build_contenders(
        [read_entry(entry) for entry in entries], source, shared, seeds=seeds, seed=seed
    )


def test_different_recipes_share_their_seeds(moons: Source) -> None:
    first, second = built(moons, "mlp", "mlp:dropout=0", seed=7)
    assert first.seeds == second.seeds == (7, 8, 9)
    assert (first.label, second.label) == ("mlp", "mlp:dropout=0")
    assert (first.repeats, second.repeats) == ("", "")


def test_a_repeated_recipe_has_seeds_of_its_own(moons: Source) -> None:
    rows = built(moons, "mlp", "logistic", "mlp", "mlp")
    assert [row.label for row in rows] == ["mlp", "logistic", "mlp (again)", "mlp (again 2)"]
    assert [row.seeds for row in rows] == [(0, 1, 2), (0, 1, 2), (3, 4, 5), (6, 7, 8)]
    assert [row.repeats for row in rows] == ["", "", "mlp", "mlp"]


def test_the_same_recipe_in_other_words_is_a_repeat(moons: Source, tmp_path: Path) -> None:
    file = tmp_path / "plain.yaml"
    file.write_text("model: mlp\ndata: xor\nseed: 5\ntrain: {batch_size: 32}\n", encoding="utf-8")
    rows = built(moons, "mlp", "mlp:dropout=0.2", file, MLPConfig())
    assert [row.repeats for row in rows] == ["", "mlp", "mlp", "mlp"]
    assert rows[2].label == "mlp (again 2)"


def test_all_recipes_name_the_data_that_is_loaded(moons: Source, tmp_path: Path) -> None:
    file = tmp_path / "xor.yaml"
    file.write_text("model: logistic\ndata: xor\n", encoding="utf-8")
    for row in built(moons, "mlp", file):
        assert (row.recipe.data, row.recipe.data_settings) == moons[:2]


def test_a_label_that_is_taken_gets_a_number(moons: Source, tmp_path: Path) -> None:
    for place, rate in (("a", 0.1), ("b", 0.2), ("c", 0.3)):
        (tmp_path / place).mkdir()
        (tmp_path / place / "fast.yaml").write_text(f"train: {{lr: {rate}}}\n", encoding="utf-8")
    rows = built(moons, *(tmp_path / place / "fast.yaml" for place in "abc"))
    assert [row.label for row in rows] == ["fast", "fast (2)", "fast (3)"]


def test_a_config_is_called_by_what_it_changes(moons: Source) -> None:
    rows = built(moons, "logistic", MLPConfig(hidden=(8, 4), batch_norm=True), epochs=2)
    assert rows[1].label == "mlp:hidden=8,4:batch_norm=true"
    assert rows[1].recipe.train.epochs == 2


def test_a_refusal_says_which_entry_it_is_about(moons: Source) -> None:
    for entry, label in (("ridge", "ridge"), (RidgeConfig(), "entry 2")):
        sentence = f"{label}: ridge predicts real, got a target of kind 'class'"
        with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}; for a table of features"):
            built(moons, "mlp", entry)
    sentence = "mlp:drpout=0: unknown setting 'drpout'; did you mean 'dropout'?"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        built(moons, "mlp:drpout=0", "mlp")
