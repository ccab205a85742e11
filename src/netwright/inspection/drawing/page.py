"""The one builder of pages: a single HTML file that needs nothing else and does nothing by itself.

Choices are radio buttons and style. There is no script but one of ours, on pages of steps, which
listens to keys. Everything from data or files is escaped, and a content security policy forbids all
other scripts, requests and forms to whatever were to slip through.
"""

import base64
import hashlib
import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal, Protocol
from urllib.parse import quote

from netwright.core.errors import ConfigError
from netwright.core.visible import visible
from netwright.inspection.drawing.compact_svg import compact_svg

WIDE = 7.0  # inches: a figure that a phone lets you push sideways
_PLAIN = " !$'()*+,-./:;=?@[]^_{|}~"  # stands as it is in an address and in an attribute
MOST_ON_A_PHONE = 3  # columns of a table that find room
MOST_PANES = 4  # as many as the style sheet has rules for


class Html(str):
    """Markup that is safe to put on a page; only this file, `controls` and `formula` write it."""

    __slots__ = ()


class Picture(Protocol):
    """What can be shown as a figure: every view."""

    @property
    def title(self) -> str:
        """Its name."""

    @property
    def size(self) -> tuple[float, float]:
        """Width and height, in inches."""

    @property
    def caption(self) -> str:
        """How to read it."""

    def image(self, kind: Literal["svg", "png"]) -> bytes:
        """The figure as a file."""


@dataclass(frozen=True, kw_only=True)
class Served:
    """What a page of a server has beyond its content; its policy is sent in a header.

    Args:
        menu: the server's pages: words -> path.
        here: the path of this one.
        styles: paths of style sheets.
        modules: paths of scripts.
    """

    menu: Mapping[str, str]
    here: str
    styles: Sequence[str]
    modules: Sequence[str] = ()

    def head(self) -> str:
        """The links to styles and scripts."""
        styles = (f'<link rel="stylesheet" href="{_escape(path)}">\n' for path in self.styles)
        modules = (f'<script type="module" src="{_escape(p)}"></script>\n' for p in self.modules)
        return "".join([*styles, *modules])

    def bar(self) -> str:
        """The links to the other pages."""
        links = "".join(
            f'<a href="{_escape(path)}"{_current(path == self.here)}>{_escape(words)}</a>'
            for words, path in self.menu.items()
        )
        return f'<nav class="site" aria-label="Pages">{links}</nav>'


def _current(is_here: bool) -> str:
    return ' aria-current="page"' if is_here else ""


class Page:
    """Sections of blocks under a title.

    Args:
        title: of the page and the window.
        subtitle: one line below it.
        keys: whether keys turn the page's steps.
        served: the page is one of a server's, which sends styles, scripts and the policy.
    """

    def __init__(
        self, title: str, *, subtitle: str = "", keys: bool = False, served: Served | None = None
    ) -> None:
        self.title, self.subtitle, self.keys, self.served = title, subtitle, keys, served
        self._sections: list[tuple[str, Html]] = []

    def section(self, title: str, *blocks: Html) -> None:
        """Add a part with a heading of its own, which the page's menu links to."""
        self._sections.append((title, _join(blocks)))

    def render(self) -> str:
        """The whole file."""
        style, script = _ours("page.css"), _ours("steps.js") if self.keys else ""
        policy = (
            f"default-src 'none'; img-src data:; style-src {_digest(style)}; "
            + (f"script-src {_digest(script)}; " if script else "")
            + "base-uri 'none'; form-action 'none'"
        )
        menu = "".join(
            f'<a href="#part-{number}">{_escape(title)}</a>'
            for number, (title, _) in enumerate(self._sections, start=1)
        )
        body = "".join(
            f'<section id="part-{number}"><h2>{_escape(title)}</h2>{blocks}</section>\n'
            for number, (title, blocks) in enumerate(self._sections, start=1)
        )
        subtitle = f'<p class="subtitle">{_escape(self.subtitle)}</p>' if self.subtitle else ""
        rules = (
            f'<meta http-equiv="Content-Security-Policy" content="{_escape(policy)}">\n'
            if self.served is None
            else ""
        )
        pages = self.served.bar() if self.served else ""
        dress = f"<style>{style}</style>\n" if self.served is None else self.served.head()
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f"{rules}"
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="referrer" content="no-referrer">\n<link rel="icon" href="data:,">\n'
            f"<title>{_escape(self.title)}</title>\n{dress}</head>\n<body>\n"
            f"<header>{pages}<h1>{_escape(self.title)}</h1>{subtitle}"
            f"{f'<nav>{menu}</nav>' if len(self._sections) > 1 and not pages else ''}</header>\n"
            f"<main>\n{body}</main>\n<footer>made by netwright</footer>\n"
            f"{f'<script>{script}</script>' if script else ''}</body>\n</html>\n"
        )


def text(words: str) -> Html:
    """A paragraph."""
    return Html(f"<p>{_escape(words)}</p>")


def note(words: str) -> Html:
    """A paragraph in small, pale letters."""
    return Html(f'<p class="note">{_escape(words)}</p>')


def heading(words: str, *, anchor: str = "", beside: Html | None = None) -> Html:
    """A heading within a section, which a link may lead to; a badge may stand beside it."""
    place = f' id="{_escape(anchor)}"' if anchor else ""
    return Html(f"<h3{place}>{_escape(words)}{f' {beside}' if beside else ''}</h3>")


def link(words: str, anchor: str) -> Html:
    """Words that lead to a heading of the same page."""
    return Html(f'<a href="#{_escape(anchor)}">{_escape(words)}</a>')


def badge(words: str, mood: Literal["good", "bad", "plain"]) -> Html:
    """One or two words in a coloured frame."""
    return Html(f'<span class="badge {mood}">{_escape(words)}</span>')


def code(lines: str, *, is_table: bool = False) -> Html:
    """Text as it is, in a typewriter's letters; the lines of a table are never broken."""
    kind = ' class="lines"' if is_table else ""
    return Html(f"<pre{kind}><code>{_escape(lines)}</code></pre>")


def tiles(entries: Sequence[tuple[str, str, str]]) -> Html:
    """Large numbers side by side: (label, value, what stands beside it)."""
    parts = "".join(
        f'<div class="tile"><div class="label">{_escape(label)}</div>'
        f'<div class="value">{_escape(value)}</div>'
        f'<div class="beside">{_escape(beside)}</div></div>'
        for label, value, beside in entries
    )
    return Html(f'<div class="tiles">{parts}</div>')


def table(rows: Sequence[Mapping[str, str | Html]], *, numbers: Sequence[str] = ()) -> Html:
    """Rows under the keys of the first; the columns in `numbers` are aligned right."""
    if not rows:
        return Html("")
    columns = list(rows[0])
    first = next(filter(None, columns), "")
    # On a phone a row of many cells is a paragraph, in which all but the first say what they are.
    is_many = len(columns) > MOST_ON_A_PHONE

    def cell(tag: str, column: str, value: str) -> str:
        kind = ' class="number"' if column in numbers else ""
        is_named = tag == "td" and is_many and column not in {"", first}
        name = f' data-of="{_escape(column)}"' if is_named else ""
        return f"<{tag}{kind}{name}>{_safe(value)}</{tag}>"

    head = "".join(cell("th", column, column) for column in columns)
    body = "".join(
        f"<tr>{''.join(cell('td', column, row.get(column, '')) for column in columns)}</tr>"
        for row in rows
    )
    kind = ' class="many"' if is_many else ""
    return Html(
        f'<div class="scroll"><table{kind}><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def picture(view: Picture) -> Html:
    """A view's figure with its caption; the picture is isolated from the page."""
    kind = ' class="wide"' if view.size[0] > WIDE else ""
    shown = image(view.title, compact_svg(view.image("svg")))
    return Html(
        f'<figure{kind}><div class="scroll">{shown}</div>'
        f"<figcaption>{_escape(view.caption)}</figcaption></figure>"
    )


def titled(view: Picture) -> Html:
    """A view's figure under its title."""
    return Html(heading(view.title) + picture(view))


def image(alt: str, content: bytes, *, kind: Literal["svg", "png"] = "svg") -> Html:
    """A picture without a caption."""
    return Html(f'<img alt="{_escape(alt)}" src="{data_address(kind, content)}">')


def side_by_side(*blocks: Html) -> Html:
    """Blocks next to each other; below each other where there is no room."""
    return Html(f'<div class="side-by-side">{"".join(f"<div>{b}</div>" for b in blocks)}</div>')


def beside(*blocks: Html) -> Html:
    """Words next to a table or a figure, which keeps its width; below it where there is no room."""
    return Html(f'<div class="beside">{"".join(f"<div>{b}</div>" for b in blocks)}</div>')


def graph(alt: str, content: bytes) -> Html:
    """A drawing whose letters stay legible: a phone lets you push it sideways."""
    return Html(f'<div class="graph scroll">{image(alt, content)}</div>')


def choice(name: str, panes: Mapping[str, Html]) -> Html:
    """One of several panes at a time, to be chosen; `name` is unique on the page, plain letters."""
    if not name.isidentifier() or not 1 <= len(panes) <= MOST_PANES:
        raise ConfigError(f"a choice has a plain name and 1 to {MOST_PANES} panes, got {name!r}")
    buttons = "".join(
        f'<input type="radio" name="{name}" id="{name}-{number}"{" checked" * (number == 0)}>'
        f'<label for="{name}-{number}">{_escape(label)}</label>'
        for number, label in enumerate(panes)
    )
    contents = "".join(f'<div class="pane">{pane}</div>' for pane in panes.values())
    return Html(f'<div class="choice">{buttons}{contents}</div>')


def steps(name: str, panes: Sequence[Html], *, jumps: Mapping[str, int]) -> Html:
    """One of many panes at a time, with buttons to the one before and the one after.

    On a page with `keys` the keys turn them too: arrows, PageDown and PageUp, space, Home and End.

    Args:
        name: unique on the page, plain letters.
        panes: any number of them.
        jumps: words -> the place of a pane that can be gone to from all others.
    """
    if not name.isidentifier() or not panes:
        raise ConfigError(f"steps have a plain name and at least 1 pane, got {name!r}")

    def button(words: str, place: int) -> str:
        if not 0 <= place < len(panes):
            return f"<span>{_escape(words)}</span>"
        return f'<label for="{name}-{place}">{_escape(words)}</label>'

    ways = "".join(button(words, place) for words, place in jumps.items())
    parts = "".join(
        f'<input type="radio" name="{name}" id="{name}-{place}"{" checked" * (place == 0)} '
        f'aria-label="step {place + 1}"><div class="pane"><div class="turn">'
        f"{button('back', place - 1)}{button('next', place + 1)}"
        f"<b>{place + 1} of {len(panes)}</b>{ways}</div>{_safe(pane)}</div>"
        for place, pane in enumerate(panes)
    )
    return Html(f'<div class="steps">{parts}</div>')


def folded(label: str, *blocks: Html) -> Html:
    """Blocks that show when their label is opened."""
    return Html(f"<details><summary>{_escape(label)}</summary>{_join(blocks)}</details>")


def _join(blocks: Sequence[Html]) -> Html:
    return Html("".join(_safe(block) for block in blocks))


def _safe(value: str) -> str:
    """Markup stays; everything else is escaped."""
    return value if isinstance(value, Html) else _escape(value)


def _escape(value: str) -> str:
    return html.escape(visible(str(value)), quote=True)


def data_address(kind: Literal["svg", "png"], content: bytes) -> str:
    """The picture as an address; of SVG only what has a meaning in addresses or HTML is escaped."""
    if kind == "png":
        return f"data:image/png;base64,{base64.b64encode(content).decode()}"
    return f"data:image/svg+xml,{quote(content, safe=_PLAIN)}"


def _ours(name: str) -> str:
    """The style or the script of all pages."""
    return files("netwright.inspection.drawing").joinpath(name).read_text(encoding="utf-8")


def _digest(content: str) -> str:
    """How a policy names what it lets in."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
