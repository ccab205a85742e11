"""The page on which a model is watched while it learns."""

from collections.abc import Sequence

from netwright.apps.studio.pages import studio_page
from netwright.inspection.drawing.controls import (
    button,
    choice_field,
    form,
    number_field,
    place,
    row,
)
from netwright.inspection.drawing.page import folded

PLANES = {
    "moons": "two moons",
    "circles": "a circle in a circle",
    "xor": "xor",
    "spirals": "two spirals",
    "blobs": "three clouds",
    "painted": "my own points: paint them",
    "digits": "handwritten digits, 8 x 8 pixels",
    "drawn": "my own digits: draw them",
}
TABLES = (".csv", ".tsv", ".parquet")
RATES = ("0.001", "0.003", "0.01", "0.03", "0.1", "0.3", "1", "3")
NOISES = ("0", "0.05", "0.1", "0.2", "0.3", "0.5")
SPEEDS = {"1": "1", "5": "5", "20": "20", "100": "100", "0": "fastest"}
BRUSHES = {"": "nothing", **{str(n): f"class {n}" for n in range(4)}, "erase": "erase"}


def playground_page(files: Sequence[str]) -> str:
    """The plane, the network and the loss, beside what can be changed."""
    page = studio_page("Playground", "/playground", script="playground.js")
    tables = [file for file in files if file.lower().endswith(TABLES)]
    offered = PLANES | {file: f"in this folder: {file}" for file in tables}
    steering = row(
        button("play", "Play", is_main=True),
        button("step", "One step"),
        button("restart", "Start again"),
        choice_field("speed", "Steps a second", SPEEDS, value="100"),
        choice_field("rate", "Learning rate", RATES, value="0.03"),
        choice_field("activation", "Activation", []),
        choice_field("noise", "Noise of the data", NOISES, value="0.1"),
        place("message", live=True, kind="message"),
    )
    choosing = form(
        "plan",
        row(
            choice_field("data", "Data", offered),
            choice_field("model", "Model", [], hint="all that take such data"),
            number_field("seed", "Seed", value="0"),
        ),
        place("columns", kind="fields"),
        folded("Settings of the model", place("model-fields", kind="fields")),
        folded("Settings of training", place("train-fields", kind="fields")),
    )
    seen = place("stage", place("plane"), place("images"), place("network"))
    painting = row(
        choice_field(
            "brush", "Paint", BRUSHES, hint="click or drag on the plane; arrows and Enter"
        ),
        choice_field("shown", "Show", ["decision regions"], hint="or the picture of one unit"),
        button("clear", "Remove all points"),
        button("keep", "Keep the points as a file"),
    )
    losses = place("progress", place("losses"), place("measures", kind="tiles"))
    page.section("Watch it learn", steering, seen, painting, losses)
    page.section("Data and model", choosing, place("command"))
    return page.render()
