"""What is told of a run: its columns, its classes, and a body that it takes."""

import json
from pathlib import Path

import pytest
import torch

import netwright as nw
from netwright.apps.server.accepted_forms import Accepted
from netwright.apps.server.given_inputs import read_inputs
from netwright.apps.server.measurements import Measurements
from netwright.apps.server.run_description import (
    columns_of,
    describe_run,
    example_body,
    served_forms,
)
from netwright.apps.server.served_runs import ServedRuns
from netwright.apps.server.server_config import ServerConfig


@pytest.fixture(scope="module")
def runs(folders: dict[str, Path]) -> ServedRuns:
    return ServedRuns(folders, Measurements())


def test_a_run_of_a_table_is_described(runs: ServedRuns) -> None:
    told = describe_run(runs["things"], ServerConfig(max_rows=7))
    assert told["name"] == "things"
    assert told["model"] == "mlp"
    assert told["takes"]["columns"] == [
        {"name": "size", "type": "number"},
        {"name": "colour", "type": "string", "values": ["blue", "red"]},
    ]
    assert told["takes"]["max_rows"] == 7
    assert told["gives"] == {"target": "class", "names": ["kind"], "classes": ["big", "small"]}
    assert told["measured"] == runs["things"].run.results["metrics"]
    assert json.loads(json.dumps(told)) == told


def test_other_runs_have_the_columns_of_their_inputs(runs: ServedRuns) -> None:
    assert columns_of(runs["texts"].run) == [{"name": "text", "type": "string"}]
    assert columns_of(runs["reverse"].run) == [{"name": "source", "type": "string"}]
    assert [one["type"] for one in columns_of(runs["iris"].run)] == ["number"] * 4
    assert columns_of(runs["pets"].run) == []


def test_numbers_that_are_not_written_plainly_are_texts_with_an_example(tmp_path: Path) -> None:
    rows = "".join(f'"{n}.234,50 €",{n % 9}%,{"ab"[n > 20]}\n' for n in range(1, 41))
    (tmp_path / "prices.csv").write_text("price,rate,kind\n" + rows)
    out = tmp_path / "run"
    nw.fit("logistic", tmp_path / "prices.csv", target="kind", out=out, quiet=True)
    run = ServedRuns({"prices": out}, Measurements())["prices"].run
    assert columns_of(run) == [
        {"name": "price", "type": "string", "example": "€1.234,5"},
        {"name": "rate", "type": "string", "example": "12%"},
    ]
    body = example_body(run).encode()
    typed = run.encode(read_inputs(run, "application/json", body, ServerConfig()))
    assert torch.equal(typed, run.encode([{"price": 1234.5, "rate": 0.12}]))


def test_a_language_model_is_not_asked_to_predict(runs: ServedRuns) -> None:
    assert served_forms(runs["letters"].run) == Accepted(())
    told = describe_run(runs["letters"], ServerConfig())
    assert told["generates"]
    assert told["takes"]["keys"] == []


def test_the_example_of_a_body_is_one_that_is_taken(runs: ServedRuns) -> None:
    for name in ("things", "sizes", "texts", "iris", "reverse"):
        run = runs[name].run
        body = example_body(run).encode()
        run.encode(read_inputs(run, "application/json", body, ServerConfig()))
    assert list(json.loads(example_body(runs["pets"].run))) == ["images"]
