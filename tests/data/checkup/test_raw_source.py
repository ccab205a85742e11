"""Sources as they lie there: which columns and files of which source are looked at."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import netwright as nw
from netwright.data.checkup.examination import Examination
from netwright.data.checkup.raw_source import look_at_source
from netwright.data.images.folder import ImageFolderConfig
from netwright.data.images.pairs import PairsConfig
from netwright.data.series.table import SeriesConfig
from netwright.data.tables.table import TableConfig
from netwright.data.text.corpus import TextConfig
from netwright.data.text.text_table import TextTableConfig
from tests.data.images.pictures import folder_of


def illnesses(seen: Examination) -> list[str]:
    return [finding.illness for finding in seen.findings]


def write(path: Path, header: str, row: str, count: int = 12) -> str:
    lines = [row.format(i=i, odd=i % 2, gap="" if i == 3 else i % 4) for i in range(count)]
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return str(path)


def test_of_a_table_the_columns_that_are_learned_from_are_looked_at(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "id,w,x,y", "{i},{i},{gap},{odd}")
    plain = look_at_source(None, TableConfig(path=path, target=("y",)))
    assert illnesses(plain) == ["id-like-column", "missing-values"]
    assert plain.looked_at == ("constant, id-like and missing cells in 4 columns",)
    told = TableConfig(path=path, target=("y",), drop=("id",), weight_column="w", missing=("1",))
    assert illnesses(look_at_source(None, told)) == ["missing-values"]
    frame = pd.read_csv(path)
    assert look_at_source(frame, TableConfig(target=("y",))) == plain


def test_of_texts_only_the_text_and_the_target_are_looked_at(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "id\tsentence\tlabel", "{i}\t{gap}\t{odd}")
    seen = look_at_source(None, TextTableConfig(path=path, text="sentence", target=("label",)))
    assert illnesses(seen) == ["missing-values"]
    assert seen.findings[0].fix == (
        "Give --set data.drop_missing_text=true: such rows teach nothing"
    )


def test_a_series_may_go_up_and_its_time_is_not_learned_from(tmp_path: Path) -> None:
    path = write(tmp_path / "s.csv", "t,x,same,y", "{i},{i},1,{odd}")
    seen = look_at_source(None, SeriesConfig(path=path, target=("y",), time="t"))
    assert illnesses(seen) == ["constant-column"]
    assert "'same'" in seen.findings[0].sentence
    assert seen.looked_at == ("constant, id-like and missing cells in 2 columns",)  # x and same


def test_arrays_and_ready_data_are_looked_at_as_columns() -> None:
    inputs = np.stack([np.arange(12.0), np.sin(np.arange(12.0)), np.ones(12)], axis=1)
    seen = look_at_source((inputs, np.arange(12) % 2), None)
    assert illnesses(seen) == ["constant-column", "id-like-column"]
    assert "'x2'" in seen.findings[0].sentence
    assert look_at_source((inputs[:, :, None], np.arange(12) % 2), None) == Examination()
    ready = look_at_source(nw.data.load("iris"), None)
    assert (illnesses(ready), len(ready.looked_at)) == ([], 1)


def test_files_of_folders_are_tried(tmp_path: Path) -> None:
    pets = folder_of(tmp_path / "pets", "cat/0.png", "dog/0.png")
    (pets / "cat" / "1.png").write_bytes(b"no image")
    seen = look_at_source(None, ImageFolderConfig(path=str(pets)))
    assert (illnesses(seen), seen.looked_at) == (
        ["unreadable-files"],
        ("whether 3 files can be read",),
    )
    pairs = folder_of(tmp_path / "pairs", "images/0.png", "masks/0.png")
    assert look_at_source(None, PairsConfig(path=str(pairs))).looked_at == (
        "whether 2 files can be read",
    )
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "a.txt").write_bytes(b"\xff")
    (texts / "b.txt").write_text("words", encoding="utf-8")
    assert illnesses(look_at_source(None, TextConfig(path=str(texts)))) == ["unreadable-files"]


@pytest.mark.parametrize("config", [None, TableConfig(), ImageFolderConfig(), TextConfig()])
def test_what_has_no_columns_and_no_files_is_left_to_its_loader(config: TableConfig) -> None:
    assert look_at_source(None, config) == Examination()
