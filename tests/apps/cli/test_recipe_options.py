"""The commands that take a recipe are typed alike."""

import inspect
from pathlib import Path

import pytest

from netwright.apps.cli.commands.cross_validate_command import cross_validate
from netwright.apps.cli.commands.search_command import search
from netwright.apps.cli.commands.train_command import train
from netwright.apps.cli.recipe_options import (
    DataName,
    ModelName,
    RecipeFiles,
    Settings,
    Target,
    Text,
)
from tests.apps.cli.conftest import Type

SHARED = {
    "model": ModelName,
    "data": DataName,
    "config": RecipeFiles,
    "settings": Settings,
    "target": Target,
    "text": Text,
}


@pytest.mark.parametrize("command", [train, search, cross_validate], ids=lambda it: it.__name__)
def test_a_recipe_is_typed_the_same_way_everywhere(command: object) -> None:
    assert callable(command)
    taken = inspect.signature(command).parameters
    assert {name: taken[name].annotation for name in SHARED} == SHARED


@pytest.mark.parametrize("command", ["train", "search", "cross-validate"])
def test_a_text_column_can_be_named_everywhere(type_in: Type, command: str) -> None:
    Path("reviews.tsv").write_text("text\tlabel\n" + "a fine film\t1\na dull one\t0\n" * 5)
    answer = type_in(command, "elman", "reviews.tsv", "--text", "txt", "--target", "label")
    assert answer.err == "error: reviews.tsv has no column 'txt'; did you mean 'text'?\n"


def test_a_column_of_sources_makes_a_table_one_of_pairs(type_in: Type) -> None:
    Path("pairs.tsv").write_text("en\tde\n" + "one dog\tein Hund\ntwo dogs\tzwei Hunde\n" * 5)
    small = "--set model.layers=1 --set model.heads=2 --set model.width=8 --epochs 1 --out run"
    type_in(*f"train transformer pairs.tsv --source en --target de {small}".split())
    Path("texts.txt").write_text("one dog\ntwo dogs\n")
    greedy = type_in(*"predict run texts.txt".split()).out
    assert len(greedy.splitlines()) == 2
    assert type_in(*"predict run texts.txt --beams 1".split()).out == greedy
    assert len(type_in(*"predict run texts.txt --beams 3".split()).out.splitlines()) == 2
    Path("texts.txt").write_text("one dog\n\ntwo cats\none dog two dogs\n")
    said = type_in(*"predict run texts.txt".split()).err.splitlines()
    assert said == [
        "note: sources truncated after 2 tokens: line 4",
        "note: sources with unknown tokens: line 3",
        "note: blank sources: line 2",
    ]
