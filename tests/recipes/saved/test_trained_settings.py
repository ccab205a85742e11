"""Settings that shapes do not show: refused, told, or of no matter; of runs and of files."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.core.errors import ConfigError
from netwright.recipes.fitting.fit import prepare
from netwright.recipes.saved.start_from import take_weights
from netwright.recipes.saved.trained_settings import check_settings, trained_settings

SMALL: dict[str, Any] = {"width": 8, "heads": 2, "layers": 1}
TOLD = "the weights of {} were trained with {}"
REFUSED = "the weights of {} do not fit this model: they were trained with {}"


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("books") / "book.txt"
    path.write_text("the quick fox\n" * 30)
    return path


@pytest.fixture(scope="module")
def old(book: Path) -> Path:
    settings = {**SMALL, "window": 6, "epochs": 1, "quiet": True}
    return nw.fit("gpt", str(book), out=book.parent / "old", **settings).folder or Path()


def model(book: Path, **settings: Any) -> nw.models.GPT:
    module = prepare("gpt", str(book), **{"window": 6, **SMALL, **settings}).model
    assert isinstance(module, nw.models.GPT)
    return module


def test_another_number_of_heads_of_the_same_width_is_refused(book: Path, old: Path) -> None:
    module = model(book, heads=4)
    before = module.state_dict()["wte.weight"].clone()
    sentence = REFUSED.format(old, "model.heads=2 (here 4)")
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        take_weights(module, old)
    assert module.state_dict()["wte.weight"].equal(before)
    with pytest.raises(ConfigError, match=r"trained with model.heads=2"):
        nw.fit(module, str(book), window=6, start_from=old, epochs=1, quiet=True, save=False)


def test_which_tokens_are_read_may_be_chosen_anew_and_is_told(book: Path, old: Path) -> None:
    told = "model.attention=full (here window) and model.attention_window=128 (here 2)"
    module = model(book, attention="window", attention_window=2)
    assert take_weights(module, old) == (TOLD.format(old, told),)


def test_what_only_matters_while_weights_are_drawn_and_learn_is_not_told(
    book: Path, old: Path
) -> None:
    assert take_weights(model(book, dropout=0.3, kv_heads=2, context=6), old) == ()


def test_a_run_that_has_not_finished_has_settings_too(
    book: Path, old: Path, tmp_path: Path
) -> None:
    shutil.copytree(old, tmp_path / "young", ignore=shutil.ignore_patterns("model"))
    assert trained_settings(tmp_path / "young")["heads"] == 2
    with pytest.raises(ConfigError, match=r"model.heads=2 \(here 4\)"):
        take_weights(model(book, heads=4), tmp_path / "young")


def test_a_file_of_a_run_is_known_by_what_lies_beside_it(book: Path, old: Path) -> None:
    file = old / "model" / "model.safetensors"
    assert take_weights(model(book), file) == ()
    with pytest.raises(ConfigError, match=r"model.heads=2 \(here 4\)"):
        take_weights(model(book, heads=4), file)


@pytest.mark.parametrize(
    ("beside", "there"),
    [
        ({"n_head": 2}, "heads=2 (here 4)"),
        ({"num_attention_heads": 2}, "heads=2 (here 4)"),
        ({"num_heads": 8, "vocab_size": 1}, "heads=8 (here 4)"),
        ({"num_heads": 4}, ""),
        ({"num_heads": None}, ""),
        ({"settings": {"heads": "x" * 99}}, f"heads={'x' * 40} (here 4)"),
        ({"settings": 3}, ""),
        ([1, 2], ""),
    ],
)
def test_what_a_config_of_transformers_says_counts(
    beside: Any, there: str, book: Path, tmp_path: Path
) -> None:
    file = tmp_path / "model.safetensors"
    (tmp_path / "config.json").write_text(json.dumps(beside))
    if not there:
        assert check_settings(model(book, heads=4), file) == ()
        return
    sentence = REFUSED.format(file, f"model.{there}")
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        check_settings(model(book, heads=4), file)


def test_where_nothing_is_known_nothing_is_said(book: Path, tmp_path: Path) -> None:
    assert trained_settings(tmp_path / "weights.safetensors") == {}
    assert trained_settings(tmp_path) == {}
    assert check_settings(model(book).wte, tmp_path) == ()
