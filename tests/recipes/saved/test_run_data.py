"""The data of a saved run: the same, changed since, or of a run from before."""

from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.core.errors import DataError, NetwrightError
from netwright.data.preprocessing import Preprocessor
from netwright.data.tables.encoding import TableEncoder
from tests.data.shards.written_shards import write_tar


def test_data_that_changed_since_training_is_refused(table_file: Path, tmp_path: Path) -> None:
    table = tmp_path / "things.csv"
    table.write_text(table_file.read_text())
    run = nw.fit("logistic", table, target="kind", epochs=1, out=tmp_path / "run", quiet=True)
    table.write_text(table_file.read_text() + "9.9,green,big\n" * 5)
    with pytest.raises(DataError, match=r"^things.csv has changed since the run was trained on it"):
        nw.open_run(tmp_path / "run").evaluate()
    assert run.evaluate(table)["accuracy"] >= 0


def test_a_run_on_a_pattern_finds_its_data_again(tmp_path: Path) -> None:
    write_tar(tmp_path / "train.tar", range(30))
    pattern = str(tmp_path / "*.tar")
    nw.fit("mlp", pattern, epochs=1, out=tmp_path / "run", quiet=True, device="cpu")
    assert nw.open_run(tmp_path / "run").evaluate()
    (tmp_path / "train.tar").unlink()
    with pytest.raises(DataError, match=r"\*\.tar does not exist here"):
        nw.open_run(tmp_path / "run").evaluate()


def test_a_run_from_before_ranges_were_kept_knows_its_data(table_run: nw.Run) -> None:
    assert table_run.folder is not None
    older = nw.open_run(table_run.folder)
    values = older.preprocessor.to_json()
    del values["dialect"]
    for feature in values["features"]:
        for name in ("low", "high") if "scaling" in feature else ():
            del feature["scaling"][name]
    older.preprocessor = TableEncoder.from_json(values)
    assert older.evaluate() == table_run.evaluate()


@pytest.fixture
def older_run(tmp_path: Path) -> Path:
    """A run whose columns the version that trained it took for something else than this one."""
    rows = [f"{n % 9 + 1}%,{n % 5 + 1} Mar 2021,${n % 3 + 1},{'ab'[n % 2]}" for n in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["rate,when,price,kind", *rows, ""]))
    nw.fit(
        "logistic",
        tmp_path / "t.csv",
        target="kind",
        types={"rate": "category", "when": "category", "price": "category"},
        epochs=1,
        out=tmp_path / "run",
        quiet=True,
        device="cpu",
    )
    config = tmp_path / "run" / "config.yaml"
    text = config.read_text()
    given = "  types:\n    rate: category\n    when: category\n    price: category\n"
    assert given in text
    config.write_text(text.replace(given, "  types: {}\n"))
    return tmp_path / "run"


def kinds(encoder: Preprocessor) -> set[str]:
    assert isinstance(encoder, TableEncoder)
    return {feature.kind for feature in encoder.features}


def test_the_data_of_a_run_is_read_by_its_own_encoder(older_run: Path) -> None:
    run = nw.open_run(older_run)
    assert kinds(run.data.preprocessor) == {"category"}
    assert run.evaluate()["loss"] == run.results["metrics"]["loss"]


def test_a_run_goes_on_with_its_own_encoder(older_run: Path) -> None:
    table = older_run.parent / "t.csv"
    run = nw.fit(
        "logistic", table, target="kind", epochs=2, resume=older_run, quiet=True, device="cpu"
    )
    assert kinds(run.preprocessor) == {"category"}
    assert run.results["status"] == "done"
    assert nw.open_run(older_run).evaluate()["loss"] == run.results["metrics"]["loss"]


def test_a_run_that_goes_on_with_other_rows_is_refused_as_before(older_run: Path) -> None:
    table = older_run.parent / "t.csv"
    table.write_text(table.read_text() + "1%,1 Mar 2021,$1,a\n")
    with pytest.raises(DataError, match="has changed since the run was trained"):
        nw.open_run(older_run).evaluate()
    with pytest.raises(NetwrightError, match="has changed"):
        nw.fit("logistic", table, target="kind", epochs=2, resume=older_run, quiet=True)


def test_a_run_that_goes_on_with_other_settings_is_not_read_by_its_encoder(older_run: Path) -> None:
    table = older_run.parent / "t.csv"
    given: dict[str, Any] = {
        "target": "kind",
        "epochs": 2,
        "resume": older_run,
        "quiet": True,
        "device": "cpu",
    }
    with pytest.raises(NetwrightError, match=r"data|model|layers"):
        nw.fit("logistic", table, scaling="robust", **given)


@pytest.mark.parametrize("source", ["series", "text"])
def test_series_and_texts_of_a_run_are_read_by_its_own_encoder(source: str, tmp_path: Path) -> None:
    """The version that trained it knew other columns, or other words, than this one."""
    words = ("good old", "bad new", "good new", "bad old")
    rows = [f"{n % 7},{n % 5},{words[n % 4]},{'ab'[n % 2]}" for n in range(80)]
    table = tmp_path / "t.csv"
    table.write_text("\n".join(["x,z,said,kind", *rows, ""]))
    settings: dict[str, Any] = {"epochs": 1, "quiet": True, "device": "cpu"}
    if source == "series":
        own, settings = "  features:\n  - x\n", settings | {"window": 3, "target": "x"}
        given: dict[str, Any] = {"features": ("x",)}
        model, inferred = "elman", "  features: []\n"
    else:
        own, settings = "  min_count: 1\n", settings | {"text": "said", "target": "kind"}
        given = {"min_count": 1}
        model, inferred = "bag-of-vectors", "  min_count: 30\n"
    data = "series" if source == "series" else "text-table"
    run = nw.fit(model, data, path=str(table), out=tmp_path / "run", **given, **settings)
    config = tmp_path / "run" / "config.yaml"
    assert own in config.read_text()
    config.write_text(config.read_text().replace(own, inferred))
    again = nw.open_run(tmp_path / "run")
    assert again.data.preprocessor == run.preprocessor
    assert again.evaluate()["loss"] == run.results["metrics"]["loss"]
