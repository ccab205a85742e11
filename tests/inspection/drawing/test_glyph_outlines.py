"""Outlines: boxes that hold them, and letters that are drawn once."""

import xml.etree.ElementTree as ET

from matplotlib.path import Path

from netwright.inspection.drawing.glyph_outlines import Box, GlyphOutlines
from tests.repetition import for_each

SQUARE = Path(
    [(0, 0), (40, 0), (40, 60), (0, 60), (0, 0)],
    [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY],
)
BULGE = Path([(10, -20), (70, 0), (10, 20)], [Path.MOVETO, Path.CURVE3, Path.CURVE3])


def outlines(
    *placed: tuple[str, float, float, float], bars: tuple[Path, ...] = ()
) -> GlyphOutlines:
    glyphs = {"square": SQUARE, "bulge": BULGE}
    used = {name: glyphs[name] for name, *_ in placed}
    return GlyphOutlines(placed=placed, glyphs=used, bars=bars, width=50.0)


@for_each(
    ("set_line", "box"),
    [
        (outlines(("square", 0, 0, 1)), Box(left=0, low=0, right=50, high=60)),
        (outlines(("square", 30, -10, 1)), Box(left=0, low=-10, right=70, high=50)),
        (outlines(("square", -5, 20, 0.5)), Box(left=-5, low=0, right=50, high=50)),
        (outlines(("bulge", 0, 0, 1)), Box(left=0, low=-20, right=70, high=20)),
        (outlines(bars=(SQUARE,)), Box(left=0, low=0, right=50, high=60)),
    ],
)
def test_a_box_holds_the_line_and_what_reaches_beyond_it(set_line: GlyphOutlines, box: Box) -> None:
    assert set_line.box == box


def test_the_picture_is_as_large_as_its_box_in_points() -> None:
    root = ET.fromstring(outlines(("square", 30, -10, 1)).svg(20.0, low=-10, high=60))
    assert root.attrib["viewBox"] == "0 -12 14 14"
    assert (root.attrib["width"], root.attrib["height"]) == ("14pt", "14pt")


def test_sizes_are_rounded_outwards() -> None:
    root = ET.fromstring(outlines(("square", -0.3, 0, 1)).svg(15.0, low=-0.1, high=60.1))
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    assert left <= -0.045 and left + width >= 7.5
    assert top <= -9.015 and top + height >= 0.015


def test_what_stands_twice_is_drawn_once() -> None:
    once = outlines(("square", 0, 0, 1), ("bulge", 0, 0, 1)).svg(10.0, low=0, high=60).decode()
    assert once.count("<path") == 1 and "<use" not in once
    assert "d='m0 0h100v150h-100zm25-50q150 50 0 100'" in once  # 250 to the font's size
    twice = outlines(("square", 0, 0, 1), ("square", 8, 4, 0.7)).svg(10.0, low=0, high=60).decode()
    assert twice.count("<path") == 1
    assert "<use href='#g0' x='0' y='0'/>" in twice
    assert "<use href='#g0' transform='translate(20 10) scale(.7)'/>" in twice
