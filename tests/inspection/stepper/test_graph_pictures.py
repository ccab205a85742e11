"""Both pictures of a graph hold its boxes, and hostile names stay text."""

from xml.etree import ElementTree

import pytest

from netwright.inspection.drawing.figure_style import new_figure
from netwright.inspection.stepper.graph_pictures import (
    draw_graph,
    figure_size,
    graph_svg,
)
from netwright.inspection.stepper.step_graph import Box, Graph

SVG = "{http://www.w3.org/2000/svg}"


def box(key: int, column: int, row: int = 0, title: str = "tanh") -> Box:
    return Box(
        key=key,
        kind="operation" if key else "input",
        title=title,
        place="part",
        value=f"value {key}",
        gradient=f"slope {key}",
        column=column,
        row=row,
    )


CHAIN = Graph(boxes=(box(0, 0), box(1, 1), box(2, 2)), arrows=((0, 1), (1, 2)))
OVER = Graph(boxes=CHAIN.boxes, arrows=(*CHAIN.arrows, (0, 2)))


def words(svg: bytes) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_a_small_picture_holds_every_box_and_arrow() -> None:
    root = ElementTree.fromstring(graph_svg(CHAIN))
    assert len(list(root.iter(f"{SVG}rect"))) == 3
    assert len([path for path in root.iter(f"{SVG}path") if path.get("marker-end")]) == 2
    assert words(graph_svg(CHAIN))[:4] == ["tanh", "part", "value 0", "slope 0"]
    assert len(graph_svg(CHAIN)) < 3000


def test_one_box_is_marked_and_numbers_show_when_they_are_known() -> None:
    svg = graph_svg(CHAIN, marked=1, values=lambda key: key < 2, gradients=lambda _: False)
    assert [word for word in words(svg) if word.startswith(("value", "slope"))] == [
        *("value 0", "value 1")
    ]
    edges = [one.get("stroke-width") for one in ElementTree.fromstring(svg).iter(f"{SVG}rect")]
    assert edges == [None, "2.5", None]


def test_names_are_escaped() -> None:
    name = '<script>&"'
    svg = graph_svg(Graph(boxes=(box(0, 0, title=name),), arrows=()))
    assert words(svg)[0] == name
    assert b"<script" not in svg


def test_an_arrow_over_other_boxes_has_room_above_them() -> None:
    assert figure_size(OVER)[1] > figure_size(CHAIN)[1]
    for graph in (CHAIN, OVER):
        _, top, _, height = map(
            float, ElementTree.fromstring(graph_svg(graph)).get("viewBox", "").split()
        )
        assert top == (0 if graph is CHAIN else -56)
        assert top + height == pytest.approx(94, abs=1)


def test_the_figure_holds_the_same_words_in_letters_for_a_projector() -> None:
    figure = new_figure(*figure_size(OVER))
    draw_graph(figure, OVER)
    texts = figure.axes[0].texts
    shown = [text.get_text() for text in texts]
    assert shown[:2] == ["value", "derivative of the loss"]
    assert shown[2:6] == ["tanh", "part", "value 0", "slope 0"]
    assert all(float(text.get_fontsize()) >= 9 for text in texts)
    assert len(figure.axes[0].patches) == 3 + 3  # boxes and arrows
