"""Columns of a Hugging Face dataset by name and type."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from PIL import Image

from netwright.core.errors import ConfigError, DataError
from netwright.data.given.given import Given
from netwright.data.given.hugging_face import HUGGING_FACE
from netwright.data.images.folder import ImageFolderConfig
from netwright.data.tables.table import TableConfig
from netwright.data.text.corpus import TextConfig
from netwright.data.text.text_table import TextTableConfig
from netwright.recipes.fitting.fit import fit
from netwright.recipes.plan.sources import load_source, settings_type

pytestmark = pytest.mark.skipif(find_spec("datasets") is None, reason="datasets is not installed")

FILMS = ["a fine film", "a dull film", "what fun", "how boring"] * 3
LABELS = [1, 0, 1, 0] * 3


def datasets() -> Any:
    """The package, which takes a second to import, where a test needs it."""
    return import_module("datasets")


def films(**more: Any) -> Any:
    features = {
        "text": datasets().Value("string"),
        "label": datasets().ClassLabel(names=["bad", "good"]),
    }
    columns = {"text": FILMS, "label": LABELS}
    return datasets().Dataset.from_dict(columns | more, features=datasets().Features(features))


def load(source: Any, **settings: Any) -> Any:
    return load_source(source, settings)[2]


def test_a_text_and_a_class_label_are_texts_with_labels() -> None:
    assert settings_type(films(), {}) is TextTableConfig
    data = load(films(), val_size=0.0, test_size=0.0)
    assert (data.spec.inputs, data.spec.class_names) == ("tokens", ("bad", "good"))
    assert data.train.targets.tolist() == LABELS


def test_the_splits_of_a_dict_are_the_splits() -> None:
    rows = films()
    several = datasets().DatasetDict(train=rows, validation=rows.select(range(3)), test=rows)
    data = load(several)
    assert [len(split) for _, split in data.splits()] == [12, 3, 12]
    assert data.test_is_given
    part = datasets().DatasetDict(train=rows, test=rows.select(range(4)))
    assert [len(split) for _, split in load(part, val_size=0.25).splits()] == [9, 3, 4]
    beside = load(Given(data=part, validation=rows.select(range(5))))
    assert [len(split) for _, split in beside.splits()] == [12, 5, 4]
    with pytest.raises(ConfigError, match="has a test split, and test is given beside it"):
        load(Given(data=part, test=rows))
    with pytest.raises(DataError, match="must have a split named train, got test"):
        load(datasets().DatasetDict(test=rows))
    with pytest.raises(ConfigError, match="validation must be a Dataset as the data is"):
        load(Given(data=rows, validation=(FILMS, LABELS)))


def test_several_columns_are_a_table_and_text_names_one() -> None:
    columns = {"size": np.arange(12.0), "colour": ["red", "blue"] * 6, "text": FILMS, "y": LABELS}
    rows = datasets().Dataset.from_dict(columns)
    assert settings_type(rows, {"target": "y"}) is TableConfig
    data = load(rows.remove_columns("text"), target="y", val_size=0.0, test_size=0.0)
    assert data.spec.feature_names == ("size", "colour=blue", "colour=red")
    assert settings_type(rows, {"target": "y", "text": "text"}) is TextTableConfig
    assert load(rows, target="y", text="text").spec.inputs == "tokens"
    with pytest.raises(ConfigError, match="no column 'z'; there are size, colour, text, y"):
        load(rows, target="z")


def test_columns_of_numbers_train_as_a_frame_does() -> None:
    pandas = pytest.importorskip("pandas")
    columns = {"size": [row % 7 / 7 for row in range(40)], "age": [row % 5 for row in range(40)]}
    frame = pandas.DataFrame({**columns, "price": np.arange(40.0) % 7})
    settings: dict[str, Any] = {"target": "price", "epochs": 2, "save": False, "quiet": True}
    runs = [
        fit("mlp", source, **settings) for source in (frame, datasets().Dataset.from_pandas(frame))
    ]
    assert runs[0].spec.feature_names == runs[1].spec.feature_names == ("size", "age")
    assert runs[0].results["metrics"] == runs[1].results["metrics"]


def test_images_are_pictures() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (8, 6, 5, 3), dtype=np.uint8)
    features = {"image": datasets().Image(), "label": datasets().ClassLabel(names=["cat", "dog"])}
    rows = datasets().Dataset.from_dict(
        {"image": [Image.fromarray(one) for one in pixels], "label": [0, 1] * 4},
        features=datasets().Features(features),
    )
    assert settings_type(rows, {}) is ImageFolderConfig
    data = load(rows, val_size=0.0, test_size=0.0)
    assert data.spec.class_names == ("cat", "dog")
    assert (data.train.pixels.numpy() == np.moveaxis(pixels, -1, 1)).all()


def test_a_text_alone_is_a_corpus() -> None:
    rows = films().remove_columns("label")
    assert settings_type(rows, {}) is TextConfig
    assert load(rows, window=8).spec.target == "tokens"


def test_columns_of_tokens_are_several_inputs() -> None:
    columns = {
        "text": ["a b", "c"] * 10,
        "input_ids": [[1, 2], [3]] * 10,
        "label": ["good", "bad"] * 10,
    }
    rows = datasets().Dataset.from_dict(columns)
    data = load(rows)
    assert list(data.train.inputs) == ["input_ids", "attention_mask"]
    assert data.spec.class_names == ("bad", "good")
    by_token = rows.remove_columns("label").add_column("labels", [[0, 1], [-100]] * 10)
    assert load(by_token).spec.target == "tags"
    alone = load(by_token.remove_columns("labels"))
    assert (alone.spec.target, alone.spec.num_outputs) == ("tokens", 4)
    assert settings_type(rows, {"text": "text"}) is TextTableConfig


def test_what_is_refused_names_the_way() -> None:
    lists = datasets().Dataset.from_dict({"sizes": [[1.5, 2], [3, 4]], "label": [0, 1]})
    with pytest.raises(DataError, match=r"'sizes' .* give a torch DataLoader over dataset"):
        load(lists)
    with pytest.raises(DataError, match=r"no class in row 0, got -1: .* dataset\.filter"):
        load(films(label=[-1, *LABELS[1:]]))
    assert HUGGING_FACE.recognises(lists)
    assert not HUGGING_FACE.recognises({"train": lists})
