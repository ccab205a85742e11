"""An export counts once it was opened again and agrees with the run; else nothing is left."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from safetensors.torch import save
from torch import Tensor

import netwright as nw
from netwright.core.catalog import Catalog
from netwright.core.errors import ConfigError, DataError, RunError, UnknownNameError
from netwright.core.files.manifest import whole_folder
from netwright.core.files.storage import Staging
from netwright.recipes.exchange import export as module
from netwright.recipes.exchange.export import largest_difference
from netwright.recipes.exchange.export_format import ExportFormat, ExportSource, Reopened
from netwright.recipes.exchange.state_dict import StateDict
from tests.repetition import for_each


def test_an_export_says_what_goes_in_what_comes_out_and_how_it_agrees(
    moons_run: nw.Run, tmp_path: Path
) -> None:
    done = moons_run.export("state-dict", tmp_path / "out")
    assert str(done) == (
        f"{tmp_path / 'out'}: model.safetensors, preprocessing.json, export.json; compared with "
        "the run on 32 rows, the predictions differ by at most 0"
    )
    with whole_folder(done.folder) as files:  # each is listed with its sum
        assert {*files} == {*done.files}
    told = json.loads((done.folder / "export.json").read_text())
    assert told["to"] == "state-dict"
    assert told["model"]["name"] == "mlp"
    assert told["inputs"]["are"] == "raw"
    assert told["inputs"]["tensors"] == [{"dtype": "float64", "shape": ["batch", 2]}]
    assert told["outputs"] == {
        "are": "probabilities",
        "kind": "class",
        "shape": ["batch", 2],
        "names": ["0", "1"],
    }
    assert told["compared"] == {"rows": 32, "largest_difference": 0.0}
    preprocessing = json.loads((done.folder / "preprocessing.json").read_text())
    assert preprocessing["kind"] == moons_run.preprocessor.kind


def test_rows_of_other_data_are_compared_on(table_run: nw.Run, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("size,colour,kind\n1,red,small\n9,blue,big\n", encoding="utf-8")
    assert table_run.export("state-dict", tmp_path / "out", data=rows).rows == 2
    told = json.loads((tmp_path / "out" / "export.json").read_text())
    assert told["inputs"]["are"] == "encoded, see preprocessing.json"


def table_of(name: str, form: type[ExportFormat]) -> Catalog[type[ExportFormat]]:
    return Catalog("format", {name: f"{form.__module__}:{form.__name__}"})


class Off(StateDict):
    """Writes weights that are not those of the run."""

    factor: ClassVar[float] = 1.01

    def write(self, source: ExportSource, staging: Staging) -> None:
        off = {name: self.factor * held for name, held in source.model.state_dict().items()}
        staging.write("model.safetensors", save(off))


class Broken(Off):
    factor: ClassVar[float] = math.nan


@pytest.mark.parametrize("form", [Off, Broken])
def test_what_differs_from_the_run_is_an_error_and_nothing_is_left(
    form: type[ExportFormat], moons_run: nw.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FORMATS", table_of("off", form))
    with pytest.raises(RunError, match=r"exported to off, the model differs .* 0\.0001 is allowed"):
        moons_run.export("off", tmp_path / "out")
    assert not list(tmp_path.iterdir())


class OneRowWrong(StateDict):
    """Is right about many rows, and wrong about one."""

    def reopen(self, source: ExportSource, folder: Path) -> Reopened:
        right = super().reopen(source, folder)
        return lambda rows: right(rows) if len(rows) > 1 else right(rows)[:, :1]


def test_one_row_alone_is_compared_as_well(
    moons_run: nw.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FORMATS", table_of("one", OneRowWrong))
    with pytest.raises(RunError, match="differs from the run"):
        moons_run.export("one", tmp_path / "out")


@for_each(
    ("wanted", "got", "apart"),
    [
        ([1.0, 4.0], [1.0, 4.0], 0.0),
        ([1.0, -4.0], [1.5, -4.0], 0.125),
        ([0.0, 0.0], [0.0, 0.25], 0.25),
        ([1.0, 4.0], [1.0, math.nan], math.inf),
        ([math.inf, 1.0], [math.inf, 1.0], math.inf),
        ([1.0, 4.0], [1.0], math.inf),
    ],
)
def test_a_difference_is_a_share_of_the_largest_prediction(
    wanted: list[float], got: list[float], apart: float
) -> None:
    assert largest_difference(torch.tensor(wanted), torch.tensor(got)) == apart


def test_refusals(moons_run: nw.Run, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"^unknown format 'onxn'; did you mean 'onnx'"):
        moons_run.export("onxn", tmp_path / "out")
    (tmp_path / "taken").mkdir()
    with pytest.raises(ConfigError, match="taken already exists, give --out another folder"):
        moons_run.export("state-dict", tmp_path / "taken")
    assert not list((tmp_path / "taken").iterdir())
    in_memory = replace(moons_run, folder=None)
    with pytest.raises(ConfigError, match="kept in memory: give a folder for its export"):
        in_memory.export("state-dict")


def test_a_run_on_arrays_is_compared_on_data_that_is_given(tmp_path: Path) -> None:
    rows: Tensor = torch.randn(40, 3)
    labels = (rows[:, 0] > 0).long()
    run = nw.fit("softmax", (rows, labels), epochs=1, out=tmp_path / "run", quiet=True)
    opened = nw.open_run(run.folder or "")
    with pytest.raises(DataError, match="not saved with it; give data="):
        opened.export("state-dict", tmp_path / "out")
    assert opened.export("state-dict", tmp_path / "out", data=(rows, labels)).rows == 32


def test_the_folder_lies_beside_the_run_unless_told(tmp_path: Path) -> None:
    run = nw.fit("softmax", "moons", epochs=1, out=tmp_path / "mine", quiet=True)
    assert run.export("state-dict").folder == tmp_path / "mine-state-dict"


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("gpt", ["batch", "length"]),
        pytest.param("gru", ["batch", 6], marks=pytest.mark.slow),
    ],
)
def test_a_text_has_any_length_where_the_graph_takes_it(
    name: str, shape: list[str | int], tmp_path: Path
) -> None:
    (tmp_path / "book.txt").write_text("the quick fox\n" * 30, encoding="utf-8")
    data = nw.data.load("text", path=str(tmp_path / "book.txt"), window=6)
    small: dict[str, dict[str, Any]] = {
        "gpt": {"layers": 1, "heads": 1, "width": 4},
        "gru": {"hidden": 4, "embedding": 4},
    }
    run = nw.fit(name, data, epochs=1, save=False, quiet=True, **small[name])
    run.export("torch-export", tmp_path / "out")
    told = json.loads((tmp_path / "out" / "export.json").read_text())
    assert told["inputs"]["tensors"] == [{"dtype": "int64", "shape": shape}]
