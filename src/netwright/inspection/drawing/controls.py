"""What a page of a server is operated by: fields with their labels, buttons, and places to fill.

Pages that are files have none of it: they do nothing by themselves.
"""

import html
from collections.abc import Mapping, Sequence

from netwright.core.visible import visible
from netwright.inspection.drawing.page import Html


def place(name: str, *blocks: Html, live: bool = False, kind: str = "") -> Html:
    """Where a script puts what it shows; what is `live` is read out when it changes."""
    more = ' aria-live="polite"' if live else ""
    more += f' class="{_escape(kind)}"' if kind else ""
    return Html(f'<div id="{_escape(name)}"{more}>{"".join(blocks)}</div>')


def button(name: str, words: str, *, is_main: bool = False) -> Html:
    """Something to press; the main one is what a page is for."""
    kind = ' class="main"' if is_main else ""
    return Html(f'<button type="button" id="{_escape(name)}"{kind}>{_escape(words)}</button>')


def form(name: str, *blocks: Html) -> Html:
    """Fields that are sent together, by a script."""
    return Html(f'<form id="{_escape(name)}" autocomplete="off">{"".join(blocks)}</form>')


def row(*blocks: Html) -> Html:
    """Fields side by side; below each other where there is no room."""
    return Html(f'<div class="fields">{"".join(blocks)}</div>')


def text_field(name: str, label: str, *, value: str = "", hint: str = "", shown: str = "") -> Html:
    """A line of text; `shown` stands in it while it is empty."""
    return _field(
        name,
        label,
        f'<input type="text" {_names(name, hint)} value="{_escape(value)}" '
        f'placeholder="{_escape(shown)}">',
        hint,
    )


def long_text_field(name: str, label: str, *, value: str = "", hint: str = "") -> Html:
    """Several lines of text."""
    inner = f'<textarea rows="4" {_names(name, hint)}>{_escape(value)}</textarea>'
    return _field(name, label, inner, hint)


def number_field(name: str, label: str, *, value: str = "", hint: str = "") -> Html:
    """A number."""
    inner = f'<input type="number" step="any" {_names(name, hint)} value="{_escape(value)}">'
    return _field(name, label, inner, hint)


def choice_field(
    name: str,
    label: str,
    options: Mapping[str, str] | Sequence[str],
    *,
    value: str = "",
    hint: str = "",
) -> Html:
    """One of several: value -> the words that stand for it."""
    named = options if isinstance(options, Mapping) else {one: one for one in options}
    inner = "".join(
        f'<option value="{_escape(one)}"{" selected" * (one == value)}>{_escape(words)}</option>'
        for one, words in named.items()
    )
    return _field(name, label, f"<select {_names(name, hint)}>{inner}</select>", hint)


def file_field(name: str, label: str, *, hint: str = "") -> Html:
    """A file of the reader's machine."""
    return _field(name, label, f'<input type="file" {_names(name, hint)}>', hint)


def way(words: str, path: str) -> Html:
    """A link to another page of the same server."""
    return Html(f'<a href="{_escape(path)}">{_escape(words)}</a>')


def _names(name: str, hint: str) -> str:
    told = f' aria-describedby="{_escape(name)}-hint"' if hint else ""
    return f'id="{_escape(name)}" name="{_escape(name)}"{told}'


def _field(name: str, label: str, control: str, hint: str) -> Html:
    told = f'<small id="{_escape(name)}-hint">{_escape(hint)}</small>' if hint else ""
    return Html(
        f'<div class="field"><label for="{_escape(name)}">{_escape(label)}</label>'
        f"{control}{told}</div>"
    )


def _escape(value: str) -> str:
    return html.escape(visible(str(value)), quote=True)
