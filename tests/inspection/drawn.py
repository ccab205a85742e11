"""What a view draws, read back from its figure, and what every view keeps."""

import json
import xml.etree.ElementTree as ET

from matplotlib.text import Text

from netwright.inspection.drawing.figure_style import styled
from netwright.inspection.drawing.view import View

HOSTILE = ("<script>alert(1)</script>", r"$\frac{", "", "long " * 12, "two\nlines\x00")
MOST_BYTES = 300_000


def words_on(view: View) -> list[str]:
    """Every text that the figure shows."""
    with styled():
        figure = view.plot()
        figure.draw_without_rendering()
    shown = [text for text in figure.findobj(Text) if text.get_visible()]
    return [text.get_text() for text in shown if isinstance(text, Text) and text.get_text()]


def check_sound(view: View) -> None:
    """Plain numbers, a small and well-formed picture, and no text that runs off it."""
    json.dumps(view.to_json(), allow_nan=False)
    image = view.image("svg")
    ET.fromstring(image)
    assert len(image) < MOST_BYTES
    assert view.caption.endswith(".")
    assert all(len(text) < 80 for words in words_on(view) for text in words.split("\n"))
