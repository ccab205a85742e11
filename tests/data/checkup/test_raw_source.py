"""Sources as they lie there: which columns and files of which source are looked at."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import netwright as nw
from netwright.data.checkup.examination import Examination
from netwright.data.checkup.raw_source import FORGIVING, look_at_source, setting
from netwright.data.images.folder import ImageFolderConfig, load_image_folder
from netwright.data.images.pairs import PairsConfig
from netwright.data.series.table import SeriesConfig
from netwright.data.tables.table import TableConfig
from netwright.data.text.corpus import TextConfig
from netwright.data.text.text_table import TextTableConfig
from tests.data.images.pictures import folder_of

NO_COLUMNS = Examination(
    not_looked_at=(
        "constant and id-like columns and missing cells, which is for your own tables and arrays",
    )
)


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
    assert plain.looked_at == ("constant and id-like columns and missing cells in 4 columns",)
    told = TableConfig(path=path, target=("y",), drop=("id",), weight_column="w", missing=("1",))
    assert illnesses(look_at_source(None, told)) == ["missing-values"]
    frame = pd.read_csv(path)
    assert look_at_source(frame, TableConfig(target=("y",))) == plain


def test_of_texts_only_the_text_and_the_target_are_looked_at(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "id\tsentence\tlabel", "{i}\t{gap}\t{odd}")
    seen = look_at_source(None, TextTableConfig(path=path, text="sentence", target=("label",)))
    assert illnesses(seen) == ["missing-values"]
    assert seen.findings[0].fix == (
        "Give --set data.drop_missing_text=true: such rows cannot be learned from"
    )


def test_rows_that_are_dropped_as_told_are_no_finding(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "x,text,y", "{odd}.5,word {i},{gap}")
    table = TableConfig(path=path, target=("y",), drop=("text",))
    assert illnesses(look_at_source(None, table)) == ["missing-values"]
    assert illnesses(look_at_source(None, replace(table, drop_missing_target=True))) == []
    texts = TextTableConfig(path=path, text="y", target=("x",))
    assert illnesses(look_at_source(None, texts)) == ["missing-values"]
    assert illnesses(look_at_source(None, replace(texts, drop_missing_text=True))) == []


def test_a_series_may_go_up_and_its_time_is_not_learned_from(tmp_path: Path) -> None:
    path = write(tmp_path / "s.csv", "t,x,same,y", "{i},{i},1,{odd}")
    seen = look_at_source(None, SeriesConfig(path=path, target=("y",), time="t"))
    assert illnesses(seen) == ["constant-column"]
    assert "'same'" in seen.findings[0].sentence
    assert seen.looked_at == (
        "constant and id-like columns and missing cells in 2 columns",
    )  # x and same


def test_arrays_and_ready_data_are_looked_at_as_columns() -> None:
    inputs = np.stack([np.arange(12.0), np.sin(np.arange(12.0)), np.ones(12)], axis=1)
    seen = look_at_source((inputs, np.arange(12) % 2), None)
    assert illnesses(seen) == ["constant-column", "id-like-column"]
    assert "'x2'" in seen.findings[0].sentence
    assert look_at_source((inputs[:, :, None], np.arange(12) % 2), None) == NO_COLUMNS
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
    assert seen.findings[0].fix == (
        "Fix or remove them; --set data.on_bad=skip skips them, up to a fraction of data.most_bad"
    )
    told = look_at_source(None, ImageFolderConfig(path=str(pets), on_bad="skip")).findings[0]
    assert told.fix.startswith("Fix or remove them; data.on_bad=skip, as given, skips them")
    pairs = folder_of(tmp_path / "pairs", "images/0.png", "masks/0.png")
    assert look_at_source(None, PairsConfig(path=str(pairs))).looked_at == (
        "whether 2 files can be read",
    )
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "a.txt").write_bytes(b"\xff")
    (texts / "b.txt").write_text("words", encoding="utf-8")
    seen = look_at_source(None, TextConfig(path=str(texts)))
    assert (illnesses(seen), seen.findings[0].see) == (["unreadable-files"], "text")


def test_what_is_told_here_keeps_no_loader_from_going_on(tmp_path: Path) -> None:
    pets = folder_of(tmp_path / "pets", "cat/0.png", "dog/0.png")
    (pets / "cat" / "1.png").write_bytes(b"no image")
    forgiving = {name: FORGIVING[name] for name in ("on_bad", "most_bad")}
    config = ImageFolderConfig(path=str(pets), val_size=0.0, test_size=0.0, **forgiving)
    assert len(load_image_folder(config).train) == 2


@pytest.mark.parametrize("config", [TableConfig(), ImageFolderConfig(), TextConfig()])
def test_what_has_no_path_is_left_to_its_loader(config: TableConfig) -> None:
    assert look_at_source(None, config) == Examination()


def test_what_has_no_columns_of_yours_is_said_to_be_so() -> None:
    assert look_at_source(None, None) == NO_COLUMNS


def test_columns_of_few_rows_tell_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "a,b,y", "7,8,{odd}", count=1)
    assert look_at_source(None, TableConfig(path=path, target=("y",))) == Examination(
        not_looked_at=("columns: 1 row",)
    )
    few = look_at_source((np.ones((4, 2)), np.arange(4)), None)
    assert few == Examination(not_looked_at=("columns: 4 rows",))


def test_a_list_of_names_is_ready_for_a_shell_or_a_file() -> None:
    assert setting("drop", ["a", "b"]) == "--set data.drop=a,b"
    assert setting("drop", ["my col"]) == "--set 'data.drop=my col'"
    assert setting("drop", ["a,b", "c"]) == (
        'data.drop in a recipe file, as the name has a comma: drop: ["a,b", "c"]'
    )


def test_a_table_keeps_what_it_was_told_to_leave_out(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "n,x,z,y", "{i},{odd},{gap},{odd}")
    seen = look_at_source(None, TableConfig(path=path, target=("y",), drop=("z",)))
    assert "--set data.drop=z,n;" in seen.findings[0].fix


def test_a_series_names_the_columns_that_it_keeps(tmp_path: Path) -> None:
    rows = [f"{row},{'' if row % 4 else row},{row * 7 % 5},{row % 3},word" for row in range(12)]
    path = tmp_path / "s.csv"
    path.write_text("\n".join(["t,gaps,x,y,note", *rows]) + "\n", encoding="utf-8")
    seen = look_at_source(None, SeriesConfig(path=str(path), target=("y",), time="t"))
    assert seen.findings[0].fix.endswith("--set data.features=x,y")
