"""What a view draws, read back from its figure, and what every view keeps."""

import json
import xml.etree.ElementTree as ET
from unittest.mock import patch

from matplotlib.figure import Figure
from matplotlib.text import Text

from netwright.inspection.drawing import view as view_module
from netwright.inspection.drawing.figure_style import new_figure, styled
from netwright.inspection.drawing.view import View

HOSTILE = ("<script>alert(1)</script>", r"$\frac{", "", "long " * 12, "two\nlines\x00")
MOST_BYTES = 300_000


def words_on(view: View) -> list[str]:
    """Every text that the figure shows."""
    with styled():
        figure = view.plot()
        figure.draw_without_rendering()
    return words_of(figure)


def words_of(figure: Figure) -> list[str]:
    """Every text that a figure shows which has been drawn."""
    shown = [text for text in figure.findobj(Text) if text.get_visible()]
    return [text.get_text() for text in shown if isinstance(text, Text) and text.get_text()]


def check_sound(view: View) -> None:
    """Plain numbers, a small and well-formed picture, and no text that runs off it."""
    json.dumps(view.to_json(), allow_nan=False)
    figures: list[Figure] = []

    def kept(*size: float) -> Figure:
        figures.append(new_figure(*size))
        return figures[-1]

    with patch.object(view_module, "new_figure", kept):  # drawing once more takes as long again
        image = view.image("svg")
    (figure,) = figures
    ET.fromstring(image)
    assert len(image) < MOST_BYTES
    assert view.caption.endswith(".")
    assert all(len(text) < 80 for words in words_of(figure) for text in words.split("\n"))
