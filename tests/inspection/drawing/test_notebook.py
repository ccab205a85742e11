"""Blocks in a notebook have the style of their tables with them, and of nothing else there."""

import re

from netwright.inspection.drawing.notebook import in_notebook
from netwright.inspection.drawing.page import table, text


def test_tables_are_styled_and_the_rest_of_the_notebook_is_not() -> None:
    shown = in_notebook(text("a <b>"), table([{"name": "x", "value": "3"}], numbers=["value"]))
    assert "a &lt;b&gt;" in shown
    style = shown.partition("<style>")[2].partition("</style>")[0]
    for rule in re.findall(r"([^{}]+)\{", style):
        assert all(part.strip().startswith(".netwright ") for part in rule.split(","))
    assert ".netwright .number { text-align: right" in style
    assert '<td class="number">3</td>' in shown
