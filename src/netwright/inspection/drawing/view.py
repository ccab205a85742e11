"""A view: numbers measured once, and the figure that draws them.

A view is a frozen dataclass of plain numbers and text. It is measured by a `measure_...` function
of its file, drawn as often as one likes, and saved as SVG, PNG or a page of its own without a
browser.
"""

import io
from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from netwright.core.errors import ConfigError
from netwright.core.files.storage import write_bytes, write_text
from netwright.inspection.drawing.figure_style import STYLE, new_figure, styled
from netwright.inspection.drawing.page import Page, picture
from netwright.inspection.drawing.visible_text import with_visible_text
from netwright.inspection.drawing.wording import short_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".html")


class View(ABC):
    """The abstract kind; concrete views are frozen dataclasses beside it.

    `title` names the view. Nothing drawn is read as a formula, so class names may hold `$`.
    """

    title: ClassVar[str]

    def __init_subclass__(cls) -> None:
        # In place before @dataclass would write its own, of a hundred thousand numbers.
        cls.__repr__ = View.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.title!r}: {short_name(self.caption, 80)}>"

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the figure, in inches."""
        return (6.0, 3.8)

    @property
    @abstractmethod
    def caption(self) -> str:
        """What the figure shows and how to read it, with its main number, in plain words."""

    @abstractmethod
    def draw(self, figure: "Figure") -> None:
        """Draw the numbers on an empty figure; the style is set."""

    def table_rows(self) -> list[dict[str, str]]:
        """The main numbers for a terminal or a page, one row a thing; none by default."""
        return []

    def text(self) -> str:
        """The view in words, for a terminal."""
        return f"{self.title}. {self.caption}"

    def plot(self) -> "Figure":
        """The view as a matplotlib figure."""
        with styled():
            figure = new_figure(*self.size)
            with_visible_text(self).draw(figure)
        return figure

    def image(self, kind: Literal["svg", "png"]) -> bytes:
        """The figure as the bytes of a file; the same numbers give the same bytes."""
        from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415 - it is slow

        buffer = io.BytesIO()
        with styled():
            figure = new_figure(*self.size)
            with_visible_text(self).draw(figure)
            if kind == "png":
                figure.savefig(buffer, format="png", metadata={"Software": None})
            else:  # not by savefig: it draws everything twice, a quarter of the time of a report
                figure.dpi = STYLE["savefig.dpi"]  # of images within the picture
                canvas = FigureCanvasSVG(figure)
                canvas.print_svg(buffer, metadata={"Date": None})  # type: ignore[no-untyped-call]
        return buffer.getvalue()

    def save(self, path: str | Path) -> Path:
        """Write the figure (.svg, .png) or a page with it (.html); gives the path."""
        path = Path(path)
        check_can_save(path, "a view")
        kind = path.suffix.lower()
        if kind == ".html":
            page = Page(self.title)
            page.section(self.title, picture(self))
            write_text(path, page.render())
        else:
            write_bytes(path, self.image("png" if kind == ".png" else "svg"))
        return path

    def to_json(self) -> dict[str, Any]:
        """The numbers: plain dicts, lists, numbers and text."""
        return plain(self)  # type: ignore[no-any-return]

    def _repr_html_(self) -> str:
        return str(picture(self))


def check_can_save(path: Path, what: str) -> None:
    """Refuse a place where a picture cannot be written; commands ask before they measure."""
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(f"{what} is saved as {', '.join(FORMATS)}, got {path.name!r}")
    if not path.parent.is_dir():
        raise ConfigError(f"{what} is saved in a folder that exists, got {str(path.parent)!r}")


def plain(value: Any) -> Any:
    """Dataclasses as dicts, tuples as lists, the rest as it is."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value
