"""Bytes without a name: lines of text, or a table, as the run that is asked takes them."""

from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.core.errors import DataError
from netwright.data.tables.raw_table import RawTable
from netwright.recipes.run.given_rows import read_given, takes_texts

SMALL: dict[str, Any] = {"epochs": 1, "quiet": True, "save": False}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("given") / "films.csv"
    rows = [f"{row},a {'fine' if row % 2 else 'dull'} film,{row % 2}" for row in range(30)]
    path.write_text("\n".join(["size,text,label", *rows]) + "\n")
    return path


def test_a_run_of_tables_reads_a_table(table: Path) -> None:
    run = nw.fit("logistic", table, target="label", drop=["text"], **SMALL)
    assert not takes_texts(run.preprocessor)
    rows = read_given(run.preprocessor, "body", b"size\n1\n2\n")
    assert isinstance(rows, RawTable)
    assert list(rows.column("size")) == ["1", "2"]
    with pytest.raises(DataError, match=r"body:3: wanted 1 fields as in the header, got 2"):
        read_given(run.preprocessor, "body", b"size\n1\n2,3\n")


def test_a_run_of_texts_reads_lines_or_a_table_that_names_its_column(table: Path) -> None:
    run = nw.fit("elman", table, text="text", target="label", hidden=4, embedding=4, **SMALL)
    assert takes_texts(run.preprocessor)
    lines = read_given(run.preprocessor, "body", b"a fine film\na dull film\n")
    named = read_given(run.preprocessor, "body", b"text,size\na fine film,1\na dull film,2\n")
    assert list(lines.column("text")) == list(named.column("text"))
    with pytest.raises(DataError, match="body: the file is empty"):
        read_given(run.preprocessor, "body", b" \n")
