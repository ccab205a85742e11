"""Styles and scripts: all that are named are there, and ask for nothing from elsewhere."""

import re

from netwright.apps.studio.assets import ASSETS, read_asset


def test_every_file_is_there_and_asks_for_nothing_from_elsewhere() -> None:
    for name in ASSETS:
        text = read_asset(name).decode()
        assert text.strip()
        assert set(re.findall(r"https?://[^\s\"']+", text)) <= {"http://www.w3.org/2000/svg"}


def test_scripts_make_elements_of_words_and_never_of_markup() -> None:
    scripts = [read_asset(name).decode() for name in ASSETS if name.endswith(".js")]
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "Function(",
    ):
        assert not any(word in script for script in scripts)


def test_a_script_imports_files_of_the_table_alone() -> None:
    for name in ASSETS:
        found = re.findall(r'from "\./([^"]+)"', read_asset(name).decode())
        assert set(found) <= set(ASSETS)
