"""Tables with text: quotes of a TSV are part of it, other tables are read as ever."""

from pathlib import Path

import pytest

from netwright.core.errors import DataError
from netwright.data.text.text_rows import joined, plain_table, read_text_rows
from tests.repetition import for_each

QUOTED = 'text\tlabel\n"Alien" is good\t1\n\nnot "so" good\t0\n'


@pytest.mark.parametrize("name", ["a.tsv", "a.TAB"])
def test_quotes_of_a_tab_separated_file_are_text(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(QUOTED, encoding="utf-8")
    table = read_text_rows(str(tmp_path / name))
    assert table.columns == {"text": ['"Alien" is good', 'not "so" good'], "label": ["1", "0"]}
    assert table.lines == [2, 4]


def test_fields_that_hold_a_line_end_are_read_as_csv_has_them(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text('text\tlabel\n"one\ntwo"\t1\n', encoding="utf-8")
    assert read_text_rows(tmp_path / "a.tsv").column("text") == ["one\ntwo"]
    (tmp_path / "a.csv").write_text('text,label\n"one, two",1\n', encoding="utf-8")
    assert read_text_rows(tmp_path / "a.csv").column("text") == ["one, two"]
    assert read_text_rows({"text": "a"}).column("text") == ["a"]


@for_each("text", ["a\ta\n1\t2", "a\t\n1\t2", "a\n1", "a\tb", "a\tb\n1"])
def test_what_is_not_plain_is_left_to_the_reader_of_tables(text: str) -> None:
    assert plain_table("x", text) is None


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no\.tsv: there is no such file$"):
        read_text_rows(tmp_path / "no.tsv")
    (tmp_path / "reviews.tsv").write_text(QUOTED, encoding="utf-8")
    with pytest.raises(DataError, match=r"no such file; did you mean 'reviews\.tsv'\?$"):
        read_text_rows(tmp_path / "review.tsv")
    (tmp_path / "folder.tsv").mkdir()
    with pytest.raises(DataError, match=r"folder\.tsv is a folder, wanted a table file"):
        read_text_rows(tmp_path / "folder.tsv")


def test_missing_cells_are_empty() -> None:
    table = plain_table("x", "text\tlabel\nNA\t 1 \n")
    assert table is not None and table.columns == {"text": [""], "label": ["1"]}


def test_tables_are_joined_with_the_part_of_each_row() -> None:
    first, second = (plain_table("x", f"t\tl\n{rows}") for rows in ("a\t1\nb\t2", "c\t3"))
    assert first is not None and second is not None
    whole = joined("both", {"train": first, "test": second}, "split")
    assert whole.columns == {
        "t": ["a", "b", "c"],
        "l": ["1", "2", "3"],
        "split": ["train", "train", "test"],
    }
    assert len(whole) == 3 and whole.name == "both"
