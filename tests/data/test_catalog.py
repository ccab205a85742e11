"""The catalog of data: every row loads, explains itself, and can be learned from."""

from dataclasses import fields
from functools import cache

import pytest
import torch

import netwright as nw
from netwright.core.config import describe
from netwright.core.errors import ConfigError, UnknownNameError
from netwright.data.catalog import PREPROCESSORS, SOURCES
from netwright.data.dataset import Data, check_data
from tests.repetition import for_each

FROM_FILES = {
    *("table", "npy", "mnist", "fashion-mnist"),
    *("images", "cifar10", "cifar100", "segmentation", "isbi2012"),
    *("text", "tinyshakespeare", "wikitext-2", "text-table", "sst2", "imdb", "tagged", "ud-ewt"),
    *("questions", "squad"),
    *("text-pairs", "multi30k", "masked-text", "masked-wikitext-2", "words", "series", "nyse"),
    *("image-shards", "token-shards"),
    *("corrupted-text", "corrupted-tinyshakespeare", "corrupted-wikitext-2"),
}


@cache
def load_default(name: str) -> Data:
    source = SOURCES.load(name)
    return source.load(source.config())


def test_every_row_explains_itself() -> None:
    for name in SOURCES:
        source = SOURCES.load(name)
        told = {field.name for field in fields(source)}
        # Of own files, not known yet; of tables alone; of files that are not one's own.
        told -= {"inputs", "reload", "published"}
        assert all(getattr(source, part) for part in told), name
        assert all(field.doc for field in describe(source.config)), name


def test_a_set_from_files_without_a_path_is_published() -> None:
    for name in SOURCES:
        source = SOURCES.load(name)
        has_path = "path" in {field.name for field in describe(source.config)}
        assert source.published is (name in FROM_FILES and not has_path), name


@pytest.mark.parametrize("name", sorted(set(SOURCES) - FROM_FILES))
def test_every_set_loads_with_its_own_defaults(name: str) -> None:
    data = load_default(name)
    check_data(data)
    assert data.name == name
    assert [part for part, _ in data.splits()] == ["train", "val", "test"]
    assert data.train.inputs.shape[1:] == data.spec.input_shape
    if data.spec.target == "class":
        assert len(data.spec.class_names) == data.spec.num_outputs
        assert sorted(data.train.targets.unique().tolist()) == list(range(data.spec.num_outputs))  # type: ignore[no-untyped-call]
    elif data.spec.target == "boxes":
        assert data.train.targets.shape == (len(data.train), 2, 5)
    else:  # reals, or a token a place
        assert data.train.targets.shape == (len(data.train), data.spec.output_shape[0])


@for_each("name", sorted(set(SOURCES) - FROM_FILES))
def test_the_preprocessor_of_every_set_survives_json(name: str) -> None:
    preprocessor = load_default(name).preprocessor
    kind = PREPROCESSORS.load(preprocessor.kind)
    assert kind.from_json(preprocessor.to_json()) == preprocessor


def test_an_unknown_name_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(
        UnknownNameError, match=r"^unknown data set 'mnits'; did you mean 'mnist'\?$"
    ):
        SOURCES.load("mnits")


def test_data_is_loaded_by_name_and_settings() -> None:
    some = nw.data.load("moons", n=50, seed=1)
    assert sum(len(split) for _, split in some.splits()) == 50
    again, other = nw.data.load("moons", n=50, seed=1), nw.data.load("moons", n=50, seed=2)
    assert torch.equal(some.train.inputs, again.train.inputs)
    assert not torch.equal(some.train.inputs, other.train.inputs)
    with pytest.raises(ConfigError, match=r"^unknown setting 'data.nose'; did you mean 'noise'\?$"):
        nw.data.load("moons", nose=0.3)


def test_the_names_are_these() -> None:
    made = {
        *("xor", "moons", "circles", "spirals", "blobs", "line", "polynomial", "teacher"),
        *("iris", "wine", "breast-cancer", "digits", "diabetes", "linnerud"),
        *("reverse", "copy", "prefixed", "adding", "recall", "parity", "brackets"),
        *("shapes", "captions"),
    }
    assert set(SOURCES) == FROM_FILES | made
    assert list(PREPROCESSORS) == [
        *("arrays", "table", "images", "text", "text-pairs", "captions", "corrupted-text"),
        *("series", "symbols", "tree"),
    ]
    assert all(PREPROCESSORS.load(name).kind == name for name in PREPROCESSORS)
