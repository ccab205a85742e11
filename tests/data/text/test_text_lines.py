"""Texts that are handed over: one a line, or a table that says so in its first line."""

import pytest

from netwright.data.tables.raw_table import RawTable
from netwright.data.text.text_lines import has_lines, lines_or_table
from tests.repetition import for_each


@for_each("name", ["a.txt", "A.TXT.GZ", "train.de", "notes"])
def test_files_of_lines(name: str) -> None:
    assert has_lines(name)


@for_each(
    "name",
    [
        *("a.csv", "A.TSV.GZ", "a.tab", "iris.data"),
        *("a.parquet", "a.pq", "en-dev.conllu", "a.conllu.gz"),
    ],
)
def test_files_of_rows(name: str) -> None:
    assert not has_lines(name)


def test_every_line_is_a_text_also_an_empty_one() -> None:
    text = "a fine film\n\n it was dull, long \n"
    assert lines_or_table("x.txt", text, "text") == ["a fine film", "", "it was dull, long"]


@pytest.mark.parametrize(
    "text",
    [
        "id,text\n1,a fine film\n2,dull\n",
        'id;"text"\n1;a fine film\n2;dull\n',
        "text\tid\na fine film\t1\ndull\t2\n",
        "sep=;\r\nid;text\r\n1;a fine film\r\n2;dull\r\n",
    ],
    ids=["commas", "semicolons", "tabs", "named"],
)
def test_a_first_line_that_names_the_column_makes_it_a_table(text: str) -> None:
    table = lines_or_table("x.txt", text, "text")
    assert isinstance(table, RawTable)
    assert table.column("text") == ["a fine film", "dull"]
    assert isinstance(lines_or_table("x.txt", text, "texts"), list)
    assert isinstance(lines_or_table("x.txt", text, ""), list)


def test_in_tabs_quotes_are_part_of_a_text() -> None:
    table = lines_or_table("x.txt", 'text\tid\n"so" dull\t1\n', "text")
    assert isinstance(table, RawTable)
    assert table.column("text") == ['"so" dull']
