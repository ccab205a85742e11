"""The parts of a script are Python without netwright, and each has what it needs named."""

import ast
import sys

from netwright.data.catalog import PREPROCESSORS
from netwright.recipes.exchange.export import FORMATS
from netwright.recipes.exchange.script_parts import (
    ANSWERS,
    CONTINUE,
    IMPORTS,
    PACKAGES,
    READERS,
    RUNNERS,
    START,
    USAGES,
)
from tests.repetition import for_each

FILLED = {"title": "title", "usage": "FILE", "version": "0"}
IMPORTED_AS = {"pillow": "PIL"}


@for_each("to", RUNNERS)
@for_each("kind", READERS)
def test_a_script_imports_what_is_named_and_nothing_else(kind: str, to: str) -> None:
    start = START.format(**FILLED, imports=IMPORTS.get(kind, ""))
    tree = ast.parse(start + READERS[kind] + RUNNERS[to] + ANSWERS.format(**FILLED))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    needed = (*PACKAGES[to], *PACKAGES.get(kind, ()))
    packages = {IMPORTED_AS.get(name, name) for name in needed}
    assert found - set(sys.stdlib_module_names) == packages


def test_kinds_and_formats_are_those_of_the_tables() -> None:
    assert {*READERS} == {*USAGES} <= {*PREPROCESSORS}
    assert {*RUNNERS} < {*FORMATS}
    ast.parse(CONTINUE.format(**FILLED))
