"""The pages of the studio, made by the one builder; scripts fill the places that change."""

from collections.abc import Mapping, Sequence

from starlette.responses import HTMLResponse, Response

from netwright.inspection.drawing.controls import (
    button,
    choice_field,
    file_field,
    form,
    number_field,
    place,
    row,
    text_field,
)
from netwright.inspection.drawing.page import Html, Page, Served, folded, note, side_by_side

MENU: Mapping[str, str] = {
    "Runs": "/",
    "New run": "/new",
    "Playground": "/playground",
    "Try it": "/try",
    "Look inside": "/inside",
    "Theory": "/theory",
}
STYLES = ("/static/page.css", "/static/studio.css")
STATES = {
    "": "all",
    "training": "training",
    "finished": "finished",
    "stopped": "stopped",
    "interrupted": "interrupted",
    "unreadable": "unreadable",
}
# No script, style or picture but the studio's own; no frame around it, no form to elsewhere.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# A page that lies in the folder may be a stranger's: it is shown, and can do nothing.
FOREIGN = (
    "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)


def as_page(content: str) -> Response:
    """A page of the studio as it is sent."""
    return HTMLResponse(content, headers={"Content-Security-Policy": POLICY})


def studio_page(title: str, here: str, *, subtitle: str = "", script: str = "") -> Page:
    """An empty page of the studio."""
    modules = ("/static/large.js", *((f"/static/{script}",) if script else ()))
    served = Served(menu=MENU, here=here, styles=STYLES, modules=modules)
    return Page(title, subtitle=subtitle, served=served)


def runs_page(folder: str) -> str:
    """All runs of the folder."""
    page = studio_page("Runs", "/", subtitle=folder, script="runs.js")
    page.section(
        "All runs",
        row(
            text_field(
                "filter", "Filter", shown="a part of a name, a model, data, a note; tag:good"
            ),
            choice_field("state", "State", STATES),
        ),
        row(
            button("compare", "Compare the ticked runs"),
            place("message", live=True, kind="message"),
        ),
        place("comparison", live=True),
        place("runs"),
        note(
            "Runs that a terminal trains are shown too. Delete moves a run to the hidden folder "
            ".bin. The same list is given by: netwright runs"
        ),
        place("jobs", live=True),
    )
    return page.render()


def new_run_page(sets: Mapping[str, str], files: Sequence[str]) -> str:
    """Data, a model that fits it, and its settings; beside it the same in other words."""
    page = studio_page("New run", "/new", script="new_run.js")
    offered = {"": "choose ..."} | {file: f"in this folder: {file}" for file in files}
    offered |= {name: f"{name}: {_short(sentence)}" for name, sentence in sets.items()}
    asked = form(
        "plan",
        row(
            choice_field("data", "Data", offered),
            file_field("upload", "Or upload a file", hint="a table or a text, up to 512 MB"),
        ),
        place("columns", kind="fields"),
        row(
            choice_field("model", "Model", [], hint="those that read such data"),
            number_field("seed", "Seed", value="0", hint="of weights, order and dropout"),
        ),
        place("first", kind="fields"),
        folded("More settings of the model", place("model-fields", kind="fields")),
        folded("More settings of training", place("train-fields", kind="fields")),
        folded("More settings of the data", place("data-fields", kind="fields")),
    )
    start = row(
        button("train", "Train", is_main=True),
        button("doctor", "Let the doctor look first"),
        place("message", live=True, kind="message"),
    )
    told = place(
        "told",
        note("The same run, to be typed, kept or written. It runs in a process of its own:"),
        place("command"),
        folded("YAML", place("yaml")),
        folded("Python", place("python")),
    )
    page.section("Plan", side_by_side(asked, Html(start + place("said", live=True) + told)))
    return page.render()


def _short(sentence: str) -> str:
    return sentence if len(sentence) < 70 else f"{sentence[:67]}..."


def try_page() -> str:
    """A run is asked: a row, a text, an image, a drawing or a prompt."""
    page = studio_page("Try it", "/try", script="try_it.js")
    asked = Html(
        row(choice_field("run", "Run", [], hint="finished runs of this folder"))
        + form("asked", place("fields", kind="fields"))
        + row(button("ask", "Ask", is_main=True), place("message", live=True, kind="message"))
        + place("command")
    )
    page.section("Ask a run", side_by_side(asked, place("answer", live=True)))
    return page.render()


def inside_page() -> str:
    """Every view of a run, with its settings."""
    page = studio_page("Look inside", "/inside", script="inside.js")
    page.section(
        "Views",
        row(
            choice_field("run", "Run", [], hint="finished runs of this folder"),
            choice_field("view", "View", [], hint="what this run can show"),
        ),
        form("settings", Html(place("fields", kind="fields") + place("own", kind="fields"))),
        row(button("show", "Show", is_main=True), place("message", live=True, kind="message")),
        place("command"),
        place("shown", live=True),
    )
    return page.render()
