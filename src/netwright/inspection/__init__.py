"""Look inside models and runs: numbers measured once, the figures that draw them, and one page."""

import importlib
from typing import TYPE_CHECKING, Any

from netwright.inspection.drawing.page import Page as Page
from netwright.inspection.drawing.view import View as View

if TYPE_CHECKING:
    from netwright.inspection.inside.attention_reading import read_attention as read_attention
    from netwright.inspection.inside.attention_reading import show_attention as show_attention
    from netwright.inspection.stepper.step_through import step_through as step_through

_HOMES = {
    "read_attention": "netwright.inspection.inside.attention_reading",
    "show_attention": "netwright.inspection.inside.attention_reading",
    "step_through": "netwright.inspection.stepper.step_through",
}


def __getattr__(name: str) -> Any:
    """Load what needs torch when it is asked for: pages and views do not."""
    if name not in _HOMES:
        raise AttributeError(f"module 'netwright.inspection' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
