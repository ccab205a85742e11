"""A view: one set of numbers, drawn and saved in three ways without a browser."""

import json
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from xml.etree import ElementTree

import pytest
from PIL import Image

from netwright import inspection
from netwright.core.errors import ConfigError
from netwright.inspection.drawing.view import View

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Point:
    x: float
    y: float


@dataclass(frozen=True, kw_only=True)
class Dots(View):
    title: ClassVar[str] = "Dots"
    points: tuple[Point, ...]
    labels: dict[str, tuple[int, ...]]

    @property
    def size(self) -> tuple[float, float]:
        return (3.0, 2.0)

    @property
    def caption(self) -> str:
        return f"{len(self.points)} points, <b>not bold</b>"

    def draw(self, figure: "Figure") -> None:
        axes = figure.subplots()
        axes.scatter([p.x for p in self.points], [p.y for p in self.points])


@dataclass(frozen=True, kw_only=True)
class Wordy(Dots):
    @property
    def caption(self) -> str:
        return "many words " * 100


DOTS = Dots(points=(Point(1.0, 2.0), Point(3.0, 4.0)), labels={"a": (1, 2)})


def test_saves_svg_png_and_a_page(tmp_path: Path) -> None:
    svg = DOTS.save(tmp_path / "dots.svg")
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    with Image.open(DOTS.save(tmp_path / "dots.PNG")) as png:
        assert png.size == (480, 320)  # 3 x 2 inches at 160 dots
    page = DOTS.save(str(tmp_path / "dots.html")).read_text(encoding="utf-8")
    assert "data:image/svg+xml," in page
    assert "&lt;b&gt;not bold&lt;/b&gt;" in page


def test_the_same_numbers_give_the_same_bytes() -> None:
    for kind in ("svg", "png"):
        assert DOTS.image(kind) == DOTS.image(kind)
    assert b"<dc:date>" not in DOTS.image("svg")


def test_other_endings_are_refused(tmp_path: Path) -> None:
    sentence = "a view is saved as .svg, .png, .html, got 'dots.gif'"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        DOTS.save(tmp_path / "dots.gif")
    assert not list(tmp_path.iterdir())


def test_plot_gives_a_figure_to_go_on_with() -> None:
    figure = DOTS.plot()
    assert tuple(figure.get_size_inches()) == (3.0, 2.0)
    assert len(figure.axes) == 1


def test_json_is_plain() -> None:
    values = DOTS.to_json()
    assert json.loads(json.dumps(values)) == values
    assert values == {
        "points": [{"x": 1.0, "y": 2.0}, {"x": 3.0, "y": 4.0}],
        "labels": {"a": [1, 2]},
    }


def test_a_view_is_one_short_line_at_a_prompt() -> None:
    assert repr(DOTS) == "<Dots 'Dots': 2 points, <b>not bold</b>>"
    wordy = repr(Wordy(points=(), labels={}))
    assert wordy == f"<Wordy 'Dots': {'many words ' * 7}ma…>"


def test_no_view_writes_all_its_numbers_at_a_prompt() -> None:
    for file in Path(inspection.__path__[0]).glob("*.py"):
        import_module(f"netwright.inspection.{file.stem}")
    kinds = [kind for kind in View.__subclasses__() if kind.__module__.startswith("netwright.")]
    assert len(kinds) >= 15
    assert all(kind.__repr__ is View.__repr__ for kind in kinds)


def test_notebooks_show_the_figure_with_its_caption() -> None:
    shown = DOTS._repr_html_()
    assert shown.startswith('<figure><div class="scroll"><img alt="Dots" src="data:image/svg+xml,')
    assert "<script" not in shown
