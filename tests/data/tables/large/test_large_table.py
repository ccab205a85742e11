"""Tables larger than memory: the data of the same file in memory, from disk."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.data.checkup.raw_source import look_at_source
from netwright.data.dataset import Data
from netwright.data.loading.stored import StoredSplit
from netwright.data.tables import delimited
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.features.number_feature import NumberFeature
from netwright.data.tables.large import file_parts, large_table
from netwright.data.tables.table import TableConfig
from netwright.data.tables.table_file import load_table, reload_table

TINY = 1e-6  # GB: a kilobyte


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(file_parts, "PART", 2000)


def write(folder: Path, rows: int = 400, name: str = "t.csv") -> Path:
    draw = np.random.default_rng(0)
    x, z = draw.normal(size=(2, rows)).round(4)
    lines = ["id,x,z,colour,day,w,part,y"]
    for row in range(rows):
        gap = "" if row % 11 == 3 else z[row]
        colour = ("red", "blue", "green, or so")[row % 3]
        target = "" if row % 50 == 9 else "yes" if x[row] + row % 3 > 0.5 else "no"
        day = f"2024-{row % 12 + 1:02}-{row % 28 + 1:02}"
        lines.append(f'{row},{x[row]},{gap},"{colour}",{day},{row % 4 + 1},g{row // 5},{target}')
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def load(path: Path, **settings: Any) -> Data:
    given = {"target": ("y",), "drop_missing_target": True, **settings}
    return load_table(TableConfig(path=str(path), **given))


def check_same(stored: Data, held: Data) -> None:
    assert isinstance(stored.train, StoredSplit)
    assert stored.spec == held.spec
    assert stored.preprocessor.to_json() == held.preprocessor.to_json()
    parts = zip(stored.splits(), held.splits(), strict=True)
    for (name, one), (other_name, other) in parts:
        assert name == other_name
        assert torch.equal(one.inputs, other.inputs)
        assert torch.equal(one.targets, other.targets)
        assert (one.weights is None) == (other.weights is None)
        if one.weights is not None and other.weights is not None:
            assert torch.equal(one.weights, other.weights)
    said = [note for note in stored.notes if "read in parts" not in note]
    assert said == list(held.notes)


SETTINGS: list[dict[str, Any]] = [
    {},
    {"weight_column": "w", "group_column": "part"},
    {"target": ("x", "z"), "scaling": "quantile"},
    {"types": {"day": "category", "w": "category"}, "missing": ("red",), "drop": ("part",)},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_from_disk_and_in_memory_a_table_is_the_same_data(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    path = write(tmp_path)
    check_same(load(path, in_memory_gb=TINY, **settings), load(path, **settings))


@pytest.mark.parametrize("large", [1, delimited.LARGE])  # read by columns, and by records
def test_plain_numbers_before_those_with_signs_are_read_as_the_whole_column_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    monkeypatch.setattr(delimited, "LARGE", large)
    path, draw = tmp_path / "t.csv", np.random.default_rng(0)
    lines = [
        f"{one}{'.000' if row < 500 else '.234,50 €'};{one % 2}"
        for row, one in enumerate(draw.integers(1, 999, 700).tolist())
    ]
    path.write_text("\n".join(["price;y", *lines, ""]), encoding="utf-8")
    check_same(load(path, in_memory_gb=TINY), load(path))


@pytest.mark.parametrize("large", [1, delimited.LARGE])
def test_codes_that_begin_with_0_are_known_from_the_last_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int
) -> None:
    monkeypatch.setattr(delimited, "LARGE", large)
    path = tmp_path / "t.csv"
    lines = [
        f"{row % 200 + (800 if row < 700 else 1):03},{row % 3},{row % 2}" for row in range(999)
    ]
    path.write_text("\n".join(["code,x,y", *lines, ""]))
    held = load(path)
    check_same(load(path, in_memory_gb=TINY), held)
    assert any("'001' begins with 0, as codes do" in note for note in held.notes)


def test_so_is_a_parquet_file(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.parquet"
    pd.read_csv(write(tmp_path)).to_parquet(path, row_group_size=90)
    check_same(load(path, in_memory_gb=TINY), load(path))


@pytest.mark.parametrize("target_kind", ["class", "auto"])
def test_classes_and_groups_keep_how_they_are_written(tmp_path: Path, target_kind: str) -> None:
    many = {"class": 400, "auto": 20}[target_kind]
    path = tmp_path / "t.csv"
    lines = ["x,g,y"]
    for row in range(1600):  # a group is a text: 7, 07 and 007 are three
        group = f"{row % 97:0{row % 3 + 1}}"
        lines.append(f"{row * 37 % 101},{group},{row % many:04}")
    path.write_text("\n".join(lines) + "\n")
    settings: dict[str, Any] = {"target_kind": target_kind, "group_column": "g"}
    stored, held = load(path, in_memory_gb=TINY, **settings), load(path, **settings)
    assert held.spec.class_names[7] == "0007"
    check_same(stored, held)


def test_a_note_is_told_once_of_all_parts(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    lines = ["x;z;y", *(f"{row},25;{row % 9},5;{'no' if row % 3 else 'yes'}" for row in range(900))]
    path.write_text("\n".join(lines) + "\n")
    check_same(load(path, in_memory_gb=TINY), load(path))


def test_a_table_is_converted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path)
    first = load(path, in_memory_gb=TINY)
    with monkeypatch.context() as patched:
        patched.setattr(large_table, "table_parts", lambda *_: pytest.fail("read again"))
        again = load(path, in_memory_gb=2 * TINY)  # how much is held is no other table
        assert torch.equal(again.train.inputs, first.train.inputs)
    assert len(load(path, in_memory_gb=TINY, split_seed=1).train) == len(first.train)
    path.write_text(path.read_text() + "400,1,2,red,2024-01-01,1,g,yes\n")
    assert sum(len(split) for _, split in load(path, in_memory_gb=TINY).splits()) == 393


def test_a_table_that_is_read_otherwise_is_converted_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path)
    load(path, in_memory_gb=TINY)
    monkeypatch.setattr(large_table, "READING", large_table.READING + 1)
    monkeypatch.setattr(large_table, "table_parts", lambda *_: iter(()))
    with pytest.raises(DataError, match="there is a header but no row"):  # it was read again
        load(path, in_memory_gb=TINY)


def test_the_table_of_a_run_is_encoded_by_the_run_s_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an older version has inferred it, which took the colours for nothing to learn from."""
    path = write(tmp_path)
    settings: dict[str, Any] = {"path": str(path), "target": ("y",), "drop_missing_target": True}
    config = TableConfig(in_memory_gb=TINY, **settings)
    older = load(path, drop=("colour",), in_memory_gb=TINY)
    assert isinstance(older.preprocessor, TableEncoder)
    load(path, in_memory_gb=TINY)  # as it is inferred now: another encoder
    check_same(reload_table(config, older.preprocessor), load(path, drop=("colour",)))
    with monkeypatch.context() as patched:
        patched.setattr(large_table, "table_parts", lambda *_: pytest.fail("read again"))
        reload_table(config, older.preprocessor)
        now = load(path, in_memory_gb=TINY)
        assert isinstance(now.preprocessor, TableEncoder)
        assert now.spec != older.spec
        assert reload_table(config, now.preprocessor).spec == now.spec


def test_columns_are_fitted_on_a_sample_of_the_training_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, 3000)
    whole = load(path, in_memory_gb=TINY, val_size=0.3)
    assert any(note.endswith("are inferred and scaled by all rows") for note in whole.notes)
    monkeypatch.setattr(large_table, "SAMPLE", path.stat().st_size // 4)
    stored, held = load(path, in_memory_gb=TINY), load(path)
    note = next(note for note in stored.notes if "read in parts" in note)
    sampled = int(note.split(" by ")[1].split()[0].replace(",", ""))
    assert 600 < sampled < 900 and "of the 2,940 rows" in note

    def scaling(data: Data) -> tuple[float, float]:
        assert isinstance(data.preprocessor, TableEncoder)
        feature = next(one for one in data.preprocessor.features if one.name == "x")
        assert isinstance(feature, NumberFeature)
        return feature.scaling.mean, feature.scaling.std

    assert scaling(stored) == pytest.approx(scaling(held), abs=0.15)
    assert scaling(stored) != scaling(held)
    assert torch.equal(stored.train.targets, held.train.targets)


def test_what_the_sample_did_not_have_is_refused_by_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path)
    text = path.read_text().splitlines()
    text[371] = text[371].replace(text[371].split(",")[1], "oops", 1)
    path.write_text("\n".join(text) + "\n")
    with pytest.raises(DataError, match=r"t\.csv:372: column 'x': 'oops' is not a number"):
        load(path, in_memory_gb=TINY)
    assert not list((tmp_path / "home" / "data" / "tables").glob("*/"))  # nothing half done is kept


def test_settings_and_empty_tables_are_refused_as_in_memory(tmp_path: Path) -> None:
    path = write(tmp_path)
    with pytest.raises(DataError, match="has no column 'colours'; did you mean 'colour'"):
        load(path, in_memory_gb=TINY, drop=("colours",))
    path.write_text("a,y\n" + "\n" * 2000)
    with pytest.raises(DataError, match="there is a header but no row"):
        load(path, in_memory_gb=TINY)


def test_a_cache_that_cannot_be_made_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path)
    monkeypatch.setenv("NETWRIGHT_HOME", str(path / "below"))
    with pytest.raises(ConfigError, match=r"tables, where .* cannot be made: .*NETWRIGHT_HOME"):
        load(path, in_memory_gb=TINY)


def test_what_cannot_be_learned_from_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{row},2.5\n" for row in range(300)))
    for _ in range(2):  # converted, and read again
        with pytest.raises(DataError, match="'y' is constant in the training rows"):
            load(path, in_memory_gb=TINY)


def test_runs_are_trained_from_disk_and_predict_new_rows(tmp_path: Path) -> None:
    path = write(tmp_path)
    settings: dict[str, Any] = {"target": "y", "drop_missing_target": True, "device": "cpu"}
    settings |= {"epochs": 3, "hidden": (8,), "quiet": True, "save": False}
    stored = nw.fit("mlp", str(path), in_memory_gb=TINY, **settings)
    held = nw.fit("mlp", str(path), **settings)
    assert stored.results["metrics"] == held.results["metrics"]
    assert stored.predict(str(path)).tolist() == held.predict(str(path)).tolist()


@pytest.mark.parametrize(
    ("first", "then", "said"),
    [
        (TINY, 2.0, "was read from disk, is held in memory"),
        (2.0, TINY, "was held in memory, is read from disk"),
    ],
)
def test_a_run_that_is_resumed_with_its_rows_elsewhere_names_the_setting(
    tmp_path: Path, first: float, then: float, said: str
) -> None:
    path, folder = write(tmp_path, 60), tmp_path / "run"
    settings: dict[str, Any] = {"target": "y", "drop_missing_target": True, "device": "cpu"}
    settings |= {"hidden": (4,), "quiet": True}
    nw.fit("mlp", str(path), in_memory_gb=first, epochs=1, out=folder, **settings)
    with pytest.raises(ConfigError, match=rf"train split {said}: keep data\.in_memory_gb as it"):
        nw.fit("mlp", str(path), in_memory_gb=then, epochs=2, resume=folder, **settings)
    again = nw.fit("mlp", str(path), in_memory_gb=first, epochs=2, resume=folder, **settings)
    assert again.folder == folder


def test_looks_that_need_all_rows_in_memory_say_so(tmp_path: Path) -> None:
    path = write(tmp_path)
    config = TableConfig(path=str(path), target=("y",), in_memory_gb=TINY)
    assert "larger than data.in_memory_gb" in look_at_source(None, config).not_looked_at[0]
    with pytest.raises(ConfigError, match=r"divided into folds.*data\.in_memory_gb"):
        nw.cross_validate(
            "mlp", str(path), target="y", drop_missing_target=True, in_memory_gb=TINY, quiet=True
        )


PEAK = """
import sys
from pathlib import Path
from netwright.data.tables.large import file_parts, large_table
from netwright.data.tables.table import TableConfig
from netwright.data.tables.table_file import load_table

def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1e3

file_parts.PART, large_table.SAMPLE = 2**22, 2**24
small, large = (TableConfig(path=path, target=("y",), in_memory_gb=1e-6) for path in sys.argv[1:])
load_table(small)
before = peak()
load_table(large)
print(peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read from /proc")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    numbers = draw.normal(size=(20_000, 25))
    rows = "".join(",".join(f"{x:.6f}" for x in row) + f",{row[0] > 0}\n" for row in numbers)
    header = ",".join([*(f"x{place}" for place in range(25)), "y"]) + "\n"
    paths = [tmp_path / "small.csv", tmp_path / "large.csv"]
    for path, times in zip(paths, (5, 40), strict=True):
        with path.open("w") as file:
            file.write(header)
            file.writelines(rows for _ in range(times))
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *map(str, paths)], capture_output=True, text=True, check=True
    )
    size = paths[1].stat().st_size / 1e6
    assert size > 180  # MB; encoded rows take 80, a fourth as much as reading them at once
    assert float(done.stdout) < 60
