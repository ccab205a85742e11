"""The page of the playground: what it offers, and that names of files are text."""

import re

import pytest

pytest.importorskip("starlette")

from netwright.apps.studio.assets import read_asset
from netwright.apps.studio.playground_page import PLANES, playground_page
from netwright.core.config import parse
from netwright.data.catalog import SOURCES
from netwright.recipes.playground.drawings import SIDE, WHITE
from netwright.recipes.playground.plans import CLASSES, FIXED


def test_it_offers_sets_of_two_features_and_the_tables_of_the_folder() -> None:
    page = playground_page(["a.csv", "<b>.csv", "notes.txt", "images/"])
    assert 'value="a.csv"' in page and "notes.txt" not in page and "images/" not in page
    assert "<b>" not in page and "&lt;b&gt;.csv" in page
    for name in PLANES.keys() - {"painted", "drawn", "digits"}:
        source = SOURCES.load(name)
        assert source.load(parse(source.config, {"n": 60})).spec.input_shape == (2,)


def test_its_scripts_know_what_a_playground_does_not_take() -> None:
    script = str(read_asset("playground.js"))
    found = re.search(r"const FIXED = \[(.*?)\];", script, re.DOTALL)
    assert found is not None and set(re.findall(r'"(\w+)"', found[1])) == set(FIXED)
    assert f"const CLASSES = {CLASSES};" in str(read_asset("plane_picture.js"))
    assert f"const SIDE = {SIDE}, PIXELS = SIDE * SIDE, WHITE = {WHITE};" in str(
        read_asset("own_data.js")
    )
