"""The pages of the studio, made by the one builder; scripts fill the places that change."""

from collections.abc import Mapping

from netwright.inspection.drawing.controls import button, choice_field, place, row, text_field
from netwright.inspection.drawing.page import Page, Served, note

MENU: Mapping[str, str] = {"Runs": "/"}
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


def studio_page(title: str, here: str, *, subtitle: str = "", script: str = "") -> Page:
    """An empty page of the studio."""
    modules = (f"/static/{script}",) if script else ()
    served = Served(menu=MENU, here=here, styles=STYLES, modules=modules)
    return Page(title, subtitle=subtitle, served=served)


def runs_page(folder: str) -> str:
    """All runs of the folder."""
    page = studio_page("Runs", "/", subtitle=folder, script="runs.js")
    page.section(
        "All runs",
        row(
            text_field("filter", "Filter", shown="a part of a name, a model, data"),
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
