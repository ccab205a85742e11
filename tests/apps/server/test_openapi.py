"""The OpenAPI document: what it names is there, and what is there is named."""

import json
from pathlib import Path
from typing import Any

import pytest

import netwright as nw
from netwright.apps.server.measurements import Measurements
from netwright.apps.server.openapi import describe_api
from netwright.apps.server.served_runs import ServedRuns
from tests.apps.server.conftest import Serve


@pytest.fixture(scope="module")
def runs(folders: dict[str, Path]) -> ServedRuns:
    return ServedRuns(folders, Measurements())


def test_every_run_has_its_operation(runs: ServedRuns) -> None:
    paths = describe_api(runs, needs_token=False)["paths"]
    predicting = [name for name in (one.name for one in runs) if name != "letters"]
    assert [path for path in paths if path.endswith("/predict")] == [
        f"/runs/{name}/predict" for name in predicting
    ]
    assert [path for path in paths if path.endswith("/generate")] == ["/runs/letters/generate"]


def test_rows_have_the_columns_of_the_run(runs: ServedRuns) -> None:
    operation = describe_api(runs, needs_token=False)["paths"]["/runs/things/predict"]["post"]
    content = operation["requestBody"]["content"]
    assert list(content) == ["application/json", "text/csv"]
    row = content["application/json"]["schema"]["properties"]["rows"]["items"]
    assert row["required"] == ["size", "colour"]
    assert row["properties"]["size"]["type"] == ["number", "null"]
    assert row["properties"]["colour"]["examples"] == ["blue", "red"]
    assert [one["name"] for one in operation["parameters"]] == [
        "probabilities",
        "threshold",
        "remarks",
    ]
    assert operation["parameters"][0]["schema"] == {"type": "boolean", "default": True}


def test_a_number_that_is_not_written_plainly_is_a_text_or_a_number(tmp_path: Path) -> None:
    rows = "".join(f"{n % 9}%,{'ab'[n > 20]}\n" for n in range(40))
    (tmp_path / "rates.csv").write_text("rate,kind\n" + rows)
    out = tmp_path / "run"
    nw.fit("logistic", tmp_path / "rates.csv", target="kind", out=out, quiet=True)
    paths = describe_api(ServedRuns({"rates": out}, Measurements()), needs_token=False)["paths"]
    content = paths["/runs/rates/predict"]["post"]["requestBody"]["content"]
    row = content["application/json"]["schema"]["properties"]["rows"]["items"]
    cell = {"type": ["string", "number", "null"], "examples": ["12%"]}
    assert row["properties"]["rate"] == cell


def test_a_token_is_named_where_it_is_needed(runs: ServedRuns) -> None:
    assert "security" not in describe_api(runs, needs_token=False)
    with_token = describe_api(runs, needs_token=True)
    assert with_token["security"] == [{"token": []}]
    assert with_token["components"]["securitySchemes"]["token"]["scheme"] == "bearer"


def references(value: Any) -> list[str]:
    """All `$ref` of a document."""
    if isinstance(value, dict):
        own = [value["$ref"]] if "$ref" in value else []
        return own + [one for part in value.values() for one in references(part)]
    return [one for part in value for one in references(part)] if isinstance(value, list) else []


def test_every_reference_leads_somewhere_and_operations_have_names_of_their_own(
    runs: ServedRuns,
) -> None:
    document = describe_api(runs, needs_token=True)
    assert set(references(document)) == {"#/components/schemas/Refusal"}
    assert "Refusal" in document["components"]["schemas"]
    names = [
        operation["operationId"]
        for operations in document["paths"].values()
        for operation in operations.values()
    ]
    assert len(set(names)) == len(names)


def test_every_path_that_is_named_answers(serve: Serve) -> None:
    asking = serve()
    document = asking.ask("GET", "/openapi.json").json
    assert json.loads(json.dumps(document)) == document
    for path, operations in document["paths"].items():
        for method in operations:
            answer = asking.ask(method.upper(), path)
            assert answer.status in {200, 400, 415}, (path, answer)
