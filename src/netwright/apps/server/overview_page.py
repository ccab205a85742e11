"""The server's page: what can be asked, and how; it needs no network and runs no script."""

from collections.abc import Iterable, Mapping
from typing import Any

from netwright.apps.server.accepted_forms import IMAGE, can_generate
from netwright.apps.server.openapi import REFUSALS, describe_api
from netwright.apps.server.run_description import (
    columns_of,
    describe_run,
    example_body,
    served_forms,
)
from netwright.apps.server.served_runs import ServedRun
from netwright.apps.server.server_config import ServerConfig
from netwright.core.config import describe, to_mapping
from netwright.data.tables.raw_table import listed
from netwright.inspection.drawing.page import Html, Page, code, heading, note, table, text


def overview_page(
    runs: Iterable[ServedRun], config: ServerConfig, address: str, *, needs_token: bool
) -> str:
    """The page as HTML.

    Args:
        runs: those that are served.
        config: what is allowed.
        address: of the server, as in http://127.0.0.1:8000.
        needs_token: whether requests have to bring a token.
    """
    served = list(runs)
    page = Page("netwright serve", subtitle=address)
    for one in served:
        page.section(one.name, *_run_blocks(one, config, address, needs_token=needs_token))
    document = describe_api(served, needs_token=needs_token)
    page.section(
        "All operations", table(_operations(document["paths"])), note("as OpenAPI: /openapi.json")
    )
    allowed = to_mapping(config)
    page.section(
        "Limits and refusals",
        table(
            [
                {"limit": field.name, "value": f"{allowed[field.name]:g}", "meaning": field.doc}
                for field in describe(ServerConfig)
            ]
        ),
        text('A refusal is a JSON object with one sentence: {"error": "..."}'),
        table([{"status": status, "meaning": said} for status, said in REFUSALS.items()]),
    )
    return page.render()


def _run_blocks(
    served: ServedRun, config: ServerConfig, address: str, *, needs_token: bool
) -> list[Html]:
    run, told = served.run, describe_run(served, config)
    blocks = [text(f"{told['model']}, {_purpose(told)}")]
    if served.problem:
        blocks.append(note(f"its folder has changed and cannot be read: {served.problem}"))
    columns = columns_of(run)
    if columns and served_forms(run).keys:
        has_values = any("values" in column for column in columns)
        blocks.append(table([_shown(column, has_values=has_values) for column in columns]))
    token = ' -H "Authorization: Bearer $TOKEN"' if needs_token else ""
    base = f"curl{token} {address}/runs/{served.name}"
    if served_forms(run).keys:
        sent = ", ".join(("application/json", *told["takes"]["media"]))
        is_image = IMAGE in told["takes"]["media"]
        file = "/predict -X POST -H 'Content-Type: image/png' -T photo.png"
        blocks += [
            heading("predict"),
            text(f"takes {sent}; at most {told['takes']['max_rows']:,} inputs at a time"),
            code(base + (file if is_image else f"/predict --json '{example_body(run)}'")),
        ]
    if can_generate(run):
        blocks += [
            heading("generate"),
            code(
                f"{base}/generate -N -H 'Accept: text/plain' "
                '--json \'{"prompt": "Once", "max_tokens": 50}\''
            ),
        ]
    return blocks


def _purpose(told: Mapping[str, Any]) -> str:
    """What a run is for, in a few words."""
    if told["generates"]:
        return "a language model"
    names = told["gives"]["classes"] or told["gives"]["names"]
    return f"predicts {told['gives']['target']}" + (f": {listed(names)}" if names else "")


def _shown(column: Mapping[str, Any], *, has_values: bool) -> dict[str, str]:
    told = {"column": column["name"], "type": column["type"]}
    return told | ({"values": ", ".join(column.get("values", []))} if has_values else {})


def _operations(paths: Mapping[str, Any]) -> list[dict[str, str]]:
    return [
        {"operation": f"{method.upper()} {path}", "what it gives": operation["summary"]}
        for path, operations in paths.items()
        for method, operation in operations.items()
    ]
