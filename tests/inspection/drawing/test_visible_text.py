"""Views with names that no font and no SVG can hold are drawn all the same."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from netwright.inspection.drawing.view import View
from netwright.inspection.drawing.visible_text import with_visible_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CODES = "\x1b]52;c;x\x07\x00\u202e\udc9b $\\frac{ --> ]]> </script>"


class Score(NamedTuple):
    name: str
    value: float


@dataclass(frozen=True)
class Named(View):
    title = "names"
    names: tuple[str, ...]
    scores: dict[str, Score]
    numbers: list[float]

    @property
    def caption(self) -> str:
        return "names"

    def draw(self, figure: "Figure") -> None:
        axes = figure.subplots()
        axes.set_title(self.names[0])
        axes.bar([*self.scores], [score.value for score in self.scores.values()])
        axes.set_xticks([0], [self.names[0]])
        axes.text(0, 0, next(iter(self.scores.values())).name)


def test_a_view_without_control_characters_is_itself() -> None:
    view = Named(("a", "b"), {"a": Score("a", 1.0)}, [1.0, 2.0])
    assert with_visible_text(view) is view


def test_all_text_of_a_view_is_made_visible() -> None:
    view = Named((CODES, "b"), {CODES: Score(CODES, 1.0)}, [1.0, 2.0])
    shown = with_visible_text(view)
    seen = "\\x1b]52;c;x\\x07\\x00\\u202e\\udc9b $\\frac{ --> ]]> </script>"
    assert shown == Named((seen, "b"), {seen: Score(seen, 1.0)}, view.numbers)
    assert shown.numbers is view.numbers
    assert with_visible_text(shown) is shown


def test_a_name_with_codes_is_drawn() -> None:
    view = Named((CODES, "b"), {CODES: Score(CODES, 1.0)}, [])
    assert ET.fromstring(view.image("svg")).tag.endswith("svg")
    assert view.image("png")
    assert view.plot().axes[0].get_title(loc="left").startswith("\\x1b]52")
