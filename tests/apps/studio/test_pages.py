"""The pages: what a script looks for is there, and the folder's name is text."""

import re

import pytest

pytest.importorskip("starlette")

from netwright.apps.studio.assets import read_asset
from netwright.apps.studio.pages import inside_page, new_run_page, runs_page, try_page
from netwright.apps.studio.playground_page import playground_page
from netwright.apps.studio.theory_page import theory_page


def test_what_the_script_looks_for_is_on_its_page() -> None:
    pages = {
        "runs.js": runs_page("here"),
        "new_run.js": new_run_page({"moons": "two"}, ["a.csv"]),
        "try_it.js": try_page(),
        "inside.js": inside_page(),
        "theory.js": theory_page(),
        "playground.js": playground_page(["a.csv"]),
    }
    for script, page in pages.items():
        sought = set(re.findall(r'find\("([\w-]+)"\)', read_asset(script).decode()))
        assert sought and all(f'id="{name}"' in page for name in sought | {"message"})


def test_the_name_of_the_folder_is_text() -> None:
    assert "<img" not in runs_page("<img src=x>")


def test_the_menu_tells_where_one_is() -> None:
    assert '<a href="/" aria-current="page">Runs</a>' in runs_page("here")


def test_the_names_of_files_are_text() -> None:
    page = new_run_page({}, ["<b>.csv"])
    assert "<b>" not in page and "in this folder: &lt;b&gt;.csv" in page


def test_every_page_can_be_made_large() -> None:
    pages = [runs_page("here"), new_run_page({}, []), try_page(), inside_page()]
    for page in [*pages, theory_page(), playground_page([])]:
        assert 'src="/static/large.js"' in page
