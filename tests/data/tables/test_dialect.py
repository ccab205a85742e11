"""How a table is written: set with the data, kept with the run, and set anew for other files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.data.series.encoder import SeriesEncoder
from netwright.data.tables.dialect import PLAIN, Dialect
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.reading import read_table
from netwright.data.tables.table import TableConfig
from netwright.data.tables.table_file import load_table

ROWS = [f'{row},"{3000 + 10 * row:,.2f}",{"groß" if row > 20 else "klein"}' for row in range(40)]
LATIN = "\n".join(["place,größe,kind", *ROWS]).encode("latin-1")
WRITTEN: dict[str, Any] = {"encoding": "latin-1", "thousands": ","}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "x.csv").write_bytes(LATIN)
    return tmp_path / "x.csv"


def test_a_table_config_holds_one() -> None:
    config = TableConfig(encoding="latin-1", thousands=",")
    assert config.dialect == Dialect(encoding="latin-1", thousands=",")
    assert TableConfig().dialect == PLAIN
    with pytest.raises(ConfigError, match="thousands must be"):
        Dialect(thousands="x")  # type: ignore[arg-type]


def test_the_encoder_keeps_it_and_can_be_told_otherwise(path: Path, tmp_path: Path) -> None:
    detected = load_table(TableConfig(path=str(path), target=("kind",), thousands=","))
    assert any("Windows-1252, as detected" in note for note in detected.notes)
    assert detected.spec.class_names == ("groß", "klein")
    with pytest.raises(DataError, match=r"'3,\d{3}.00' is not a number: write 3.*thousands=,"):
        load_table(TableConfig(path=str(path), target=("kind",), encoding="latin-1"))
    data = load_table(TableConfig(path=str(path), target=("kind",), **WRITTEN))
    assert "größe: ',' is the thousands separator, as in '3,000.00'" in data.notes
    assert data.spec.class_names == ("groß", "klein")
    encoder = TableEncoder.from_json(data.preprocessor.to_json())
    assert encoder == data.preprocessor
    (tmp_path / "new.csv").write_text("größe,place\n3500.5,3\n", encoding="utf-8")
    with pytest.raises(DataError, match="has no column 'größe'"):
        encoder.encode(tmp_path / "new.csv")
    other = encoder.reading(encoding="utf-8")
    rows = {"größe": "3,500.5", "place": "3"}
    assert other.encode(tmp_path / "new.csv").tolist() == encoder.encode(rows).tolist()
    frame = pd.DataFrame([rows])
    assert encoder.encode(frame).tolist() == encoder.encode(rows).tolist()


def test_an_older_encoder_has_none(path: Path) -> None:
    data = load_table(TableConfig(path=str(path), target=("kind",), **WRITTEN))
    values = data.preprocessor.to_json()
    del values["dialect"]
    assert TableEncoder.from_json(values).dialect == PLAIN


def test_targets_with_commas_are_refused_not_taken_for_classes(path: Path) -> None:
    with pytest.raises(DataError, match=r"'größe': '3,000.00' is not a number: write 3000.00,"):
        load_table(TableConfig(path=str(path), target=("größe",), encoding="latin-1"))
    data = load_table(TableConfig(path=str(path), target=("größe",), **WRITTEN))
    assert data.spec.target == "real"


def test_frames_are_read_so_too() -> None:
    frame = pd.DataFrame({"a": ["1,000", "2,500.5"]})
    assert read_table(frame, Dialect(thousands=",")).columns == {"a": ["1000", "2500.5"]}
    assert read_table(frame).columns == {"a": ["1,000", "2,500.5"]}


def test_numbers_that_are_no_text_are_left_as_they_are() -> None:
    for source in ({"a": 25.125, "b": "25.125"}, pd.DataFrame({"a": [25.125], "b": ["25.125"]})):
        table = read_table(source, Dialect(thousands="."))
        assert table.columns == {"a": ["25.125"], "b": ["25125"]}


def test_a_series_and_cross_validation_read_so(path: Path) -> None:
    series = nw.data.load("series", path=str(path), target="größe", window=2, **WRITTEN)
    encoder = series.preprocessor.reading(encoding="utf-8")
    assert isinstance(encoder, SeriesEncoder)
    assert encoder.past.dialect == Dialect(encoding="utf-8", thousands=",")
    found = nw.cross_validate(
        "softmax", str(path), target="kind", folds=2, epochs=1, quiet=True, **WRITTEN
    )
    assert len(found.folds) == 2


def german(folder: Path, amounts: Sequence[str]) -> str:
    """A file with decimal commas, and a column of amounts."""
    rows = [f"{amounts[row % 2]};{row},5;{('ja', 'nein')[row % 2]}" for row in range(40)]
    (folder / "x.csv").write_text("\n".join(["betrag;maß;kauf", *rows]), encoding="utf-8")
    return str(folder / "x.csv")


def test_points_that_may_stand_between_thousands_are_refused_beside_decimal_commas(
    tmp_path: Path,
) -> None:
    path = german(tmp_path, ["950", "1.250"])
    for target, way_out in (("kauf", "data.types.betrag=number"), ("betrag", "--target-kind real")):
        with pytest.raises(DataError, match=rf"x.csv:3: .* '1\.250' may be 1250 .*{way_out}"):
            load_table(TableConfig(path=path, target=(target,)))

    def amounts(**settings: Any) -> set[float]:
        config = TableConfig(path=path, target=("betrag",), **settings)
        return set(load_table(config).train.targets.flatten().tolist())

    assert amounts(thousands=".", target_kind="real") == {950, 1250}
    assert amounts(target_kind="real") == {950, 1.25}
    types: Any = {"betrag": "number"}
    data = load_table(TableConfig(path=path, target=("kauf",), types=types))
    assert "numbers: betrag, maß" in data.notes
    either = "it may mean 1250, since the file has decimal commas"
    assert list(data.preprocessor.remarks(path)) == [
        f"betrag: 1.250 is read as 1.25, as in training; {either}"
    ]
    for others in (["950", "1.25"], ["950", "1250"]):
        assert not data.preprocessor.remarks(german(tmp_path, others))
    with pytest.raises(DataError, match=r"x.csv:3: .* '1\.250\.000' is not a number"):
        data.preprocessor.remarks(german(tmp_path, ["950", "1.250.000"]))


@pytest.mark.parametrize("amounts", [["0.125", "1.250"], ["1.25", "2.250"], ["950", "1250"]])
def test_points_that_can_only_be_decimal_are_read(amounts: list[str], tmp_path: Path) -> None:
    data = load_table(TableConfig(path=german(tmp_path, amounts), target=("kauf",)))
    assert "numbers: betrag, maß" in data.notes
