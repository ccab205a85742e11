"""Blocks of a page as a notebook shows them: without the page's own style, beside the notebook's.

Notebooks set all cells of tables to the right, or nothing at all about them, so that columns touch.
"""

from netwright.inspection.drawing.page import Html

STYLE = (
    ".netwright th, .netwright td { padding: 0.2em 0.8em; text-align: left }"
    ".netwright .number { text-align: right; white-space: nowrap }"
    ".netwright figure { margin: 0.5em 0 }"
    ".netwright figcaption { max-width: 50em }"
)


def in_notebook(*blocks: Html) -> str:
    """These blocks, with tables that can be read."""
    return f'<div class="netwright"><style>{STYLE}</style>{"".join(blocks)}</div>'
