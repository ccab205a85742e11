"""The page of theory: each claim with its parameters and assumptions, its verdict and its chart."""

from netwright.apps.studio.pages import studio_page
from netwright.inspection.drawing.controls import (
    button,
    choice_field,
    form,
    number_field,
    place,
    row,
    text_field,
)
from netwright.inspection.drawing.page import Html, note, side_by_side

SIZES = {"quick": "quick", "full": "full: more repetitions"}


def theory_page() -> str:
    """One claim at a time, and all of them as a list."""
    page = studio_page("Theory", "/theory", script="theory.js")
    asked = Html(
        row(choice_field("claim", "Claim", []))
        + place("said")
        + form(
            "settings",
            note("What it assumes, and its parameters: change them, and see the verdict change."),
            place("assumptions", kind="switches"),
            place("parameters", kind="fields"),
            row(
                choice_field("size", "Size", SIZES),
                number_field("seed", "Seed", value="0"),
            ),
        )
        + row(
            button("check", "Check it", is_main=True),
            button("reset", "Reset to the claim"),
            place("message", live=True, kind="message"),
        )
        + place("command")
    )
    page.section("A claim is an experiment", side_by_side(asked, place("verdict", live=True)))
    page.section(
        "All claims",
        row(text_field("filter", "Filter", shown="a part of a name, a topic, a statement")),
        row(button("ledger", "Check all claims and make a page"), place("ledger-words", live=True)),
        note("The ledger of all claims takes a few minutes, in a process of its own."),
        place("claims"),
    )
    return page.render()
