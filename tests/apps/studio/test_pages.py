"""The pages: what a script looks for is there, and the folder's name is text."""

import re

from netwright.apps.studio.assets import read_asset
from netwright.apps.studio.pages import runs_page


def test_what_the_script_looks_for_is_on_its_page() -> None:
    sought = set(re.findall(r'find\("([\w-]+)"\)', read_asset("runs.js").decode()))
    page = runs_page("here")
    assert sought and all(f'id="{name}"' in page for name in sought | {"message"})


def test_the_name_of_the_folder_is_text() -> None:
    assert "<img" not in runs_page("<img src=x>")


def test_the_menu_tells_where_one_is() -> None:
    assert '<a href="/" aria-current="page">Runs</a>' in runs_page("here")
