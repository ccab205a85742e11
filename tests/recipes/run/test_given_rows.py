"""Bytes without a name: lines of text, or a table, as the run that is asked takes them."""

from pathlib import Path
from typing import Any

import pytest
import torch

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
    with pytest.raises(DataError, match=r"body:3: wanted one field .*, line 1, got 2"):
        read_given(run.preprocessor, "body", b"size\n1\n2,3\n")


def test_a_series_is_read_as_its_files_are(tmp_path: Path) -> None:
    path = tmp_path / "sales.csv"
    rows = "".join(f"{place % 7 + 1}.{place * 37 % 1000:03d};Köln\n" for place in range(60))
    path.write_bytes(("v;town\n" + rows).encode("cp1252"))
    settings = {"path": str(path), "target": "v", "target_kind": "real", "thousands": "."}
    encoder = nw.data.load("series", window=3, **settings).preprocessor
    given, read = read_given(encoder, "body", path.read_bytes()), encoder.read(path)
    assert torch.equal(encoder.encode(given), encoder.encode(read))
    assert list(given.numbers("v"))[:3] == [1000, 2037, 3074]


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_a_run_of_texts_detects_encodings_wherever_rows_come_from(
    tmp_path: Path, ending: str
) -> None:
    path, between = tmp_path / f"films.{ending}", "," if ending == "csv" else "\t"
    rows = [f"{'schön' if row % 2 else 'öde'}{between}{row % 2}\n" for row in range(30)]
    path.write_bytes(f"text{between}label\n{''.join(rows)}".encode("cp1252"))
    data = nw.data.load("text-table", path=str(path), text="text", target="label")
    assert any("read as Windows-1252" in note for note in data.notes)
    given = read_given(data.preprocessor, "body", path.read_bytes())
    assert list(given.column("text"))[:2] == ["öde", "schön"]
    lines = read_given(data.preprocessor, "body", "schön\n".encode("cp1252"))
    assert list(lines.column("text")) == ["schön"]


def test_a_run_of_texts_reads_lines_or_a_table_that_names_its_column(table: Path) -> None:
    run = nw.fit("elman", table, text="text", target="label", hidden=4, embedding=4, **SMALL)
    assert takes_texts(run.preprocessor)
    lines = read_given(run.preprocessor, "body", b"a fine film\na dull film\n")
    named = read_given(run.preprocessor, "body", b"text,size\na fine film,1\na dull film,2\n")
    assert list(lines.column("text")) == list(named.column("text"))
    with pytest.raises(DataError, match="body: the file is empty"):
        read_given(run.preprocessor, "body", b" \n")
