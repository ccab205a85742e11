"""The server's operations as an OpenAPI document, made from the runs that it serves.

Source: OpenAPI Initiative, "OpenAPI Specification" 3.1.0 (2021).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from netwright.apps.server.accepted_forms import CSV, IMAGE, JSON, LINES, can_generate
from netwright.apps.server.question import AnswerOptions
from netwright.apps.server.run_description import columns_of, served_forms
from netwright.apps.server.served_runs import ServedRun
from netwright.core.config import describe
from netwright.core.version import VERSION
from netwright.decoding.sampling import DecodingConfig
from netwright.recipes.run.run import Run

KINDS = {"true/false": "boolean", "float": "number", "int": "integer"}
REFUSALS = {
    "400": "the request is refused; the sentence says why",
    "401": "the token is missing or wrong",
    "403": "the request comes from a page of another site",
    "404": "there is no such run or path",
    "408": "the body did not arrive in time",
    "413": "the body, or the number of rows, is too large",
    "415": "the run does not take this kind of body",
    "421": "the server is not called by this host",
    "429": "too many requests are waiting",
    "503": "the request was not answered in time, or the server is shutting down",
}


def describe_api(runs: Iterable[ServedRun], *, needs_token: bool) -> dict[str, Any]:
    """The whole document."""
    paths: dict[str, Any] = {
        "/runs": {"get": _reading("The runs that are served", "runs")},
        "/health": {"get": _reading("Whether the server is running", "health")},
        "/ready": {"get": _reading("Whether requests are answered", "ready")},
        "/metrics": {"get": _reading("Counters for Prometheus", "metrics")},
    }
    for served in runs:
        if served_forms(served.run).keys:
            paths[f"/runs/{served.name}/predict"] = {"post": _predict(served)}
        if can_generate(served.run):
            paths[f"/runs/{served.name}/generate"] = {"post": _generate(served)}
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "netwright",
            "version": VERSION,
            "description": "Trained runs. What is refused is refused in one sentence.",
        },
        "paths": paths,
        "components": {
            "schemas": {
                "Refusal": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {"error": {"type": "string"}},
                }
            }
        },
    }
    if needs_token:
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"token": []}]
    return document


def _reading(summary: str, name: str) -> dict[str, Any]:
    return {"operationId": name, "summary": summary, "responses": {"200": {"description": "OK"}}}


def _predict(served: ServedRun) -> dict[str, Any]:
    run = served.run
    content = {JSON: {"schema": _body(run)}}
    for media in served_forms(run).media:
        binary = {"type": "string", "contentMediaType": media}
        content[media] = {"schema": binary if media == IMAGE else {"type": "string"}}
    answers = {
        "type": "object",
        "required": ["answers"],
        "properties": {
            "answers": {"type": "array", "items": {"type": "object"}},
            "remarks": {"type": "array", "items": {"type": "string"}},
        },
    }
    return {
        "operationId": f"predict-{served.name}",
        "summary": f"What {served.name} predicts of new inputs",
        "parameters": [
            {
                "name": field.name,
                "in": "query",
                "description": field.doc,
                "schema": _schema(field.kind, field.default),
            }
            for field in describe(AnswerOptions)
        ],
        "requestBody": {"required": True, "content": content},
        "responses": {
            "200": {
                "description": "one answer for each input, in their order",
                "content": {JSON: {"schema": answers}, CSV: {"schema": {"type": "string"}}},
            },
            **_refusals(),
        },
    }


def _generate(served: ServedRun) -> dict[str, Any]:
    settings = {
        field.name: {**_schema(field.kind, field.default), "description": field.doc}
        for field in describe(DecodingConfig)
        if field.name != "stop"
    }
    beams = {"type": "integer", "description": "search with this many beams instead of sampling"}
    body = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"prompt": {"type": "string"}, **settings, "beams": beams},
    }
    text: dict[str, Any] = {"schema": {"type": "string"}}
    return {
        "operationId": f"generate-{served.name}",
        "summary": f"A text with which {served.name} continues a prompt, sent as it is sampled",
        "requestBody": {"required": True, "content": {JSON: {"schema": body}}},
        "responses": {
            "200": {
                "description": "the text; which form is sent is asked for by Accept",
                "content": {LINES: text, "text/event-stream": text, JSON: {"schema": {}}},
            },
            **_refusals(),
        },
    }


def _body(run: Run) -> dict[str, Any]:
    """The schema of a JSON body: one of the keys that the run takes."""
    columns = columns_of(run)
    row = {
        "type": "object",
        "required": [one["name"] for one in columns],
        "properties": {one["name"]: _cell(one) for one in columns},
    }
    items: dict[str, Any] = {
        "rows": row,
        "texts": {"type": "string"},
        "images": {"type": "string", "contentEncoding": "base64"},
        "inputs": {},
    }
    forms = [
        {
            "type": "object",
            "required": [key],
            "additionalProperties": False,
            "properties": {key: {"type": "array", "minItems": 1, "items": items[key]}},
        }
        for key in served_forms(run).keys
    ]
    return forms[0] if len(forms) == 1 else {"oneOf": forms}


def _cell(column: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a cell; a number that has an example is taken as it is, too."""
    if "example" in column:
        return {"type": ["string", "number", "null"], "examples": [column["example"]]}
    return {"type": [column["type"], "null"], "examples": column.get("values", [])}


def _schema(kind: str, default: Any) -> dict[str, Any]:
    """The schema of a setting."""
    name = kind.partition(" ")[0]
    return {"type": KINDS[name], **({} if default is None else {"default": default})}


def _refusals() -> dict[str, Any]:
    schema = {"schema": {"$ref": "#/components/schemas/Refusal"}}
    return {
        status: {"description": meaning, "content": {JSON: schema}}
        for status, meaning in REFUSALS.items()
    }
