"""Compact pictures: a fraction of the bytes, nothing of the names, and the same pixels."""

import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from netwright.inspection.drawing.compact_svg import SVG, compact_svg
from netwright.inspection.drawing.figure_style import new_figure, styled
from netwright.inspection.drawing.page import image
from netwright.inspection.training.claim_chart import ClaimChart, line, measured, predicted
from tests.browser import browsing
from tests.repetition import slow_but

CHART = ClaimChart(
    x_label="steps <b> & more",
    y_label="loss",
    series=(
        predicted("bound", range(1, 9), [2.0**-k for k in range(8)]),
        measured("dots", range(1, 9), [3.0**-k for k in range(8)], [(0.1, 1.0)] * 8),
        measured("many", [k / 40 + 1 for k in range(200)], [0.5 + k / 400 for k in range(200)]),
        line("curve", range(1, 9), [1.5**-k for k in range(8)]),
    ),
    explanation="",
    log="y",
)


def with_an_image() -> bytes:
    """Pixels, letters across and upright, bars and pale dots."""
    with styled():
        figure = new_figure(5.0, 2.5)
        left, right = figure.subplots(1, 2)
        left.imshow([[0, 1, 2], [3, 4, 5]])
        left.set_title("gjpqy 0123456789 ÄÖ …")
        right.barh([0, 1, 2], [0.25, 1.0, 0.5])
        right.scatter([0.2, 0.4], [0, 2], s=300, alpha=0.3)
        right.text(0.1, 1, "turned words", rotation=30)
        content = io.BytesIO()
        figure.savefig(content, format="svg", metadata={"Date": None})
    return content.getvalue()


def test_it_takes_a_third_of_the_bytes() -> None:
    picture = CHART.image("svg")
    assert len(compact_svg(picture)) < 0.36 * len(picture)


def test_the_same_picture_gives_the_same_bytes() -> None:
    assert compact_svg(CHART.image("svg")) == compact_svg(CHART.image("svg"))


def test_it_is_svg_of_the_same_size_and_every_reference_leads_somewhere() -> None:
    root = ET.fromstring(compact_svg(CHART.image("svg")))
    assert root.attrib == {"width": "432pt", "height": "273.6pt", "viewBox": "0 0 432 273.6"}
    tags = {part.tag for part in root.iter()}
    names = {"style", "g", "defs", "path", "use", "clipPath", "rect", "svg"}
    assert tags == {f"{{{SVG}}}{name}" for name in names}
    known = [part.attrib["id"] for part in root.iter() if "id" in part.attrib]
    used = {part.attrib["href"][1:] for part in root.iter(f"{{{SVG}}}use")}
    used |= set(re.findall(r"url\(#(\w+)\)", " ".join(p.get("clip-path", "") for p in root.iter())))
    assert len(known) == len(set(known))
    assert used == set(known)
    classes = {part.get("class") for part in root.iter()} - {None}
    assert classes == set(re.findall(r"\.(\w+)\{", ET.tostring(root, encoding="unicode")))


def test_no_word_of_the_chart_is_left_in_it() -> None:
    told = CHART.image("svg")
    assert b"<!-- steps" in told  # matplotlib writes what it draws into comments
    assert not re.search(rb"steps|more|<!--|<b>|bound|matplotlib", compact_svg(told))


def test_a_look_that_is_not_inherited_stays_with_its_parts() -> None:
    group = "<g><use xlink:href='#m' style='{0}'/><use xlink:href='#m' x='3' style='{0}'/></g>"
    head = f"<svg xmlns='{SVG}' xmlns:xlink='http://www.w3.org/1999/xlink' width='1' height='1' "
    head += "viewBox='0 0 1 1'><defs><path id='m' d='M 0 0 L 1 1'/></defs>"
    short = {
        look: compact_svg(f"{head}{group.format(look)}</svg>".encode()).decode()
        for look in ("fill: red; opacity: 0.5", "fill: red; fill-opacity: 0.5")
    }
    pale, shared = short.values()
    assert pale.endswith("<use href='#a' class='a'/><use href='#a' x='3' class='a'/></svg>")
    assert shared.endswith("<g class='a'><use href='#a'/><use href='#a' x='3'/></g></svg>")
    assert ".a{fill:red;opacity:.5}" in pale and ".a{fill:red;fill-opacity:.5}" in shared


PICTURES = {"chart": lambda: CHART.image("svg"), "image": with_an_image}


@pytest.mark.slow
@pytest.mark.parametrize("kind", slow_but(["chart"], PICTURES))
def test_in_a_real_browser_nobody_sees_the_difference(kind: str, tmp_path: Path) -> None:
    picture = PICTURES[kind]()
    seen = []
    with browsing() as browser:
        for name, content in (("before", picture), ("after", compact_svg(picture))):
            file = tmp_path / f"{name}.html"
            shown = image(name, content)
            file.write_text(f"<style>body {{ margin: 0 }} img {{ zoom: 2 }}</style>{shown}")
            browser.open(file, width=1300, height=900)
            with Image.open(browser.screenshot(tmp_path / f"{name}.png")) as shot:
                seen.append(np.asarray(shot.convert("RGB"), dtype=float))
    assert seen[0].std() > 20  # something is drawn
    gap = np.abs(seen[0] - seen[1]).max(axis=2)
    assert gap.mean() < 0.3
    assert (gap > 100).mean() < 0.002
