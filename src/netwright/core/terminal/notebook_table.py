"""Small tables for notebooks, of escaped text: for what stands below the builder of pages."""

import html
from collections.abc import Mapping, Sequence

from netwright.core.visible import visible

# Notebooks set cells to the right, or nothing at all about them, so that columns touch.
LEFT = " style='text-align: left; padding: 0.2em 0.8em'"


def notebook_table(title: str, rows: Sequence[Mapping[str, str]]) -> str:
    """A title and rows below it; the keys of the first row are the columns."""
    columns = list(rows[0]) if rows else []
    head = "".join(f"<th{LEFT}>{_shown(column)}</th>" for column in columns)
    body = "".join(
        f"<tr>{''.join(f'<td{LEFT}>{_shown(row[column])}</td>' for column in columns)}</tr>"
        for row in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
    return f"<div><b>{_shown(title)}</b>{table}</div>"


def notebook_folded(label: str, rows: Sequence[Mapping[str, str]]) -> str:
    """Rows that are shown when one asks for them; nothing where there are none."""
    if not rows:
        return ""
    count = f"{len(rows)} {label}"
    return f"<details><summary>{_shown(count)}</summary>{notebook_table('', rows)}</details>"


def notebook_list(items: Sequence[str]) -> str:
    """One line an item; nothing where there are none."""
    lines = "".join(f"<li>{_shown(item)}</li>" for item in items)
    return f"<ul>{lines}</ul>" if lines else ""


def notebook_words(title: str, words: Sequence[str]) -> str:
    """A title, and many short words in one paragraph below it."""
    return f"<div><b>{_shown(title)}</b><p>{_shown(', '.join(words))}</p></div>"


def _shown(value: str) -> str:
    return html.escape(visible(value))
