"""Whatever a caller calls data comes out as data."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from torch.utils.data import TensorDataset

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.data.arrays import ArraysConfig
from netwright.data.catalog import SOURCES
from netwright.data.dataset import Data
from netwright.data.given.given import Given
from netwright.data.npy import NpyConfig
from netwright.data.tables.table import TableConfig
from netwright.data.text.text_table import TextTableConfig
from netwright.recipes.plan.recipe import parse_recipe, reader_of, words_for
from netwright.recipes.plan.sources import (
    load_configured,
    load_source,
    settings_type,
    text_settings,
)


def test_names_paths_arrays_frames_and_data(table_file: Path) -> None:
    name, config, moons = load_source("moons", {"noise": 0.3})
    assert (name, len(moons.train)) == ("moons", len(load_source("moons", {})[2].train))
    assert load_source(moons, {})[2] is moons
    assert config is not None
    name, _, table = load_source(table_file, {"target": "kind"})
    assert (name, table.spec.class_names) == ("table", ("big", "small"))
    _, _, framed = load_source(pd.read_csv(table_file), {"target": "kind"})
    assert framed.spec == replace(table.spec, class_type="text")  # a file has no types
    assert framed.train.inputs.equal(table.train.inputs)
    rng = np.random.default_rng(0)
    pair = (rng.normal(size=(40, 3)), np.arange(40) % 2)
    assert load_source(pair, {"val_size": 0.25})[2].spec.num_outputs == 2


def test_the_settings_a_source_takes() -> None:
    assert settings_type("moons") is SOURCES.load("moons").config
    assert settings_type("a.csv") is TableConfig
    assert settings_type(pd.DataFrame()) is TableConfig
    assert settings_type((1, 2)) is ArraysConfig
    assert settings_type("a.tsv", {"text": "x"}) is TextTableConfig
    assert settings_type(pd.DataFrame(), {"text": "x"}) is TextTableConfig
    assert settings_type("a.txt", {"target": "x"}) is TableConfig


def test_a_table_or_a_frame_with_a_text_column_is_read_as_text(reviews_file: Path) -> None:
    frame, given = pd.read_csv(reviews_file), {"text": "text", "target": "label"}
    name, config, data = load_source(reviews_file, given)
    assert (name, data.spec.inputs) == ("text-table", "tokens")
    assert isinstance(config, TextTableConfig)
    framed = load_source(frame, given)[2]
    assert framed.spec == replace(data.spec, class_type="int")
    assert framed.train.inputs.equal(data.train.inputs)
    with pytest.raises(DataError, match=r"^frame has no column 'txt'; did you mean 'text'\?$"):
        load_source(frame, {**given, "text": "txt"})


def test_a_folder_of_arrays_is_loaded_with_the_settings_of_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "inputs.npy", np.random.default_rng(0).normal(size=(40, 3)))
    np.save(tmp_path / "targets.npy", np.arange(40) % 4)
    assert settings_type(tmp_path) is NpyConfig
    name, config, data = load_source(str(tmp_path), {"val_size": 0.5, "kind": "real"})
    assert (name, data.spec.target, len(data.split("val"))) == ("npy", "real", 20)
    assert isinstance(config, NpyConfig)
    assert config.path == str(tmp_path)


def test_a_recipe_names_its_data() -> None:
    recipe = parse_recipe({"model": "mlp", "data": {"name": "xor", "n": 80}})
    assert sum(len(split) for _, split in load_configured(recipe).splits()) == 80


def test_refuses_what_is_no_data() -> None:
    with pytest.raises(ConfigError, match=r"data must be a name, a path, .* got int$"):
        load_source(3, {})
    with pytest.raises(DataError, match=r"^arrays has 3 inputs but 2 targets$"):
        load_source((np.zeros((3, 2)), np.zeros(2)), {})


def test_rows_beside_data_that_has_splits_of_its_own_are_refused(tmp_path: Path) -> None:
    pair = (np.zeros((3, 2)), np.zeros(3))
    with pytest.raises(ConfigError, match=r"which Data has: give dataclasses\.replace"):
        load_source(Given(data=load_source("moons", {})[2], test=pair), {})
    with pytest.raises(ConfigError, match="cannot be given beside moons"):
        load_source(Given(data="moons", validation=pair), {})
    folder = tmp_path / "cat"
    folder.mkdir()
    with pytest.raises(ConfigError, match="a folder by folders named train, val and test"):
        load_source(Given(data=tmp_path, validation=pair), {})


def test_a_table_in_a_file_may_have_rows_beside_it(table_file: Path) -> None:
    frame = pd.read_csv(table_file)
    given = Given(data=table_file, validation=frame[:9], test=table_file)
    assert settings_type(given, {}) is TableConfig
    name, config, data = load_source(given, {"target": "kind"})
    assert (name, config) == ("", None)  # a recipe cannot name the rows of Python
    assert [len(split) for _, split in data.splits()] == [60, 9, 60]


def group_counts(data: Data, groups: list[int], inputs: NDArray[Any]) -> list[int]:
    """In how many splits each group is; rows are told by their first number."""
    places = {float(row[0]): group for row, group in zip(inputs, groups, strict=True)}
    offset, scale = data.preprocessor.units()
    found = [
        {places[round(float(row[0] * scale[0] + offset[0]))] for row in split.inputs.double()}
        for _, split in data.splits()
    ]
    return [sum(group in held for held in found) for group in sorted(set(groups))]


def test_rows_of_one_group_are_in_one_split_in_every_form() -> None:
    inputs = np.stack([np.arange(60.0), np.arange(60) % 7], axis=1)
    labels, groups = np.arange(60) % 2, [row // 4 for row in range(60)]
    frame = pd.DataFrame({"x": inputs[:, 0], "colour": ["red", "blue"] * 30, "g": groups})
    gaps = inputs.copy()
    gaps[5, 1] = np.nan
    whole = frame.assign(kind=labels)
    for data, beside, settings in (
        ((inputs, labels), groups, {}),
        ((gaps, labels), groups, {"missing": "drop"}),
        ((frame, labels), "g", {}),
        ((frame, labels), np.array(groups), {"drop": ("g",)}),
        (whole, "g", {"target": "kind"}),
        (whole, None, {"target": "kind", "group_column": "g"}),
        (TensorDataset(torch.from_numpy(inputs), torch.from_numpy(labels)), groups, {}),
    ):
        loaded = load_source(Given(data=data, groups=beside), settings)[2]
        assert len(dict(loaded.splits())) == 3
        assert set(group_counts(loaded, groups, inputs)) == {1}, type(data)


def test_groups_of_texts_pictures_and_several_inputs() -> None:
    groups = [row // 4 for row in range(40)]
    labels = [row // 2 % 2 for row in range(40)]
    texts = [f"word{row // 4} film" for row in range(40)]
    data = load_source(Given(data=(texts, labels), groups=groups), {"min_count": 1})[2]
    held = [{int(row[0]) for row in split.inputs} - {1} for _, split in data.splits()]
    assert sum(map(len, held)) == len(set.union(*held))
    pixels = [Image.new("L", (4, 4), 5 * (row // 4)) for row in range(40)]
    data = load_source(Given(data=(pixels, labels), groups=groups), {})[2]
    shades = [set(split.inputs.flatten(1)[:, 0].tolist()) for _, split in data.splits()]
    assert sum(map(len, shades)) == len(set.union(*shades)) == 10
    assert any("by group" in note for note in data.notes)
    parts = {"g": np.array(groups), "x": np.zeros((40, 2))}
    data = load_source(Given(data=(parts, labels), groups=groups), {})[2]
    held = [set(split.inputs["g"].tolist()) for _, split in data.splits()]
    assert sum(map(len, held)) == len(set.union(*held)) == 10


def test_groups_of_what_has_no_rows_to_hold_out_are_refused() -> None:
    texts = ["some text to learn from"] * 9
    with pytest.raises(ConfigError, match="groups are for rows that are held out, texts in a list"):
        load_source(Given(data=texts, groups=[0] * 9), {})


def test_a_bert_reads_plain_text_masked_and_other_data_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("One two three.\n\nFour five six.\n" * 300)
    path = str(tmp_path / "book.txt")
    assert text_settings("bert", path, {}) == {"data.name": "masked-text"}
    assert text_settings("bert-mini", "wikitext-2", {}) == {"data.name": "masked-wikitext-2"}
    assert text_settings("bert", "sst2", {}) == {}
    assert text_settings("lstm", path, {}) == {}
    assert text_settings("t5", path, {}) == {"data.name": "corrupted-text"}
    assert text_settings("t5", "tinyshakespeare", {}) == {"data.name": "corrupted-tinyshakespeare"}
    assert text_settings("transformer", path, {}) == {}  # of 2017: it was never trained so
    small: dict[str, Any] = {"layers": 1, "heads": 2, "width": 8, "window": 17, "vocab_size": 300}
    run = nw.fit("bert", path, epochs=1, save=False, quiet=True, **small)
    assert run.spec.inputs == "masked"


def test_a_t5_reads_plain_text_with_spans_left_out(tmp_path: Path) -> None:
    (tmp_path / "book.txt").write_text("One two three.\n\nFour five six.\n" * 100)
    small: dict[str, Any] = {"layers": 1, "heads": 2, "width": 8, "tokenizer": "word"}
    run = nw.fit(
        "t5", str(tmp_path / "book.txt"), window=20, epochs=1, save=False, quiet=True, **small
    )
    assert (run.spec.inputs, run.spec.sentinels) == ("pairs", 2)
    assert len(run.predict(["One <extra_id_0> three ."])) == 1


def test_a_table_of_questions_is_one_to_a_model_that_marks_answers(tmp_path: Path) -> None:
    file = tmp_path / "asked.csv"
    file.write_text("id,question,context,answer\n" + "1,who?,the cat sat,cat\n" * 3)
    assert text_settings("bert", file, {}) == {"data.name": "questions"}
    assert text_settings("bert-tiny", str(file), {}) == {"data.name": "questions"}
    assert text_settings("gru", file, {}) == {}
    assert text_settings("bert", file, {"target": "answer"}) == {}
    section = words_for("bert", {"name": "table", "path": str(file)})
    assert section == {"name": "questions", "path": str(file)}
    assert words_for("mlp", {"name": "table", "path": str(file)})["name"] == "table"
    file.write_text("question,context,reply\nwho?,the cat sat,cat\n")
    assert text_settings("bert", file, {}) == {}
    assert reader_of(str(file), {"answer": "reply"}) == "questions"
    with pytest.raises(ConfigError, match="or give it the columns question, context and answer;"):
        nw.fit("bert", file, save=False, quiet=True)
    with pytest.raises(DataError, match=r"gone.csv: there is no such file"):
        nw.fit("bert", tmp_path / "gone.csv", save=False, quiet=True)
