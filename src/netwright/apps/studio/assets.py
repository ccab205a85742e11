"""The style sheets and scripts of the studio: an explicit table, which no path leads out of."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

STYLE, SCRIPT = "text/css; charset=utf-8", "text/javascript; charset=utf-8"
# Name -> the package that holds the file, and what it is.
ASSETS: Mapping[str, tuple[str, str]] = {
    "page.css": ("netwright.inspection.drawing", STYLE),
    "studio.css": ("netwright.apps.studio.static", STYLE),
    "elements.js": ("netwright.apps.studio.static", SCRIPT),
    "large.js": ("netwright.apps.studio.static", SCRIPT),
    "sparkline.js": ("netwright.apps.studio.static", SCRIPT),
    "fields.js": ("netwright.apps.studio.static", SCRIPT),
    "chosen_run.js": ("netwright.apps.studio.static", SCRIPT),
    "drawing.js": ("netwright.apps.studio.static", SCRIPT),
    "shown_view.js": ("netwright.apps.studio.static", SCRIPT),
    "note_form.js": ("netwright.apps.studio.static", SCRIPT),
    "inside.js": ("netwright.apps.studio.static", SCRIPT),
    "try_it.js": ("netwright.apps.studio.static", SCRIPT),
    "new_run.js": ("netwright.apps.studio.static", SCRIPT),
    "picture_stream.js": ("netwright.apps.studio.static", SCRIPT),
    "shades.js": ("netwright.apps.studio.static", SCRIPT),
    "plane_picture.js": ("netwright.apps.studio.static", SCRIPT),
    "network_picture.js": ("netwright.apps.studio.static", SCRIPT),
    "image_panel.js": ("netwright.apps.studio.static", SCRIPT),
    "own_data.js": ("netwright.apps.studio.static", SCRIPT),
    "loss_chart.js": ("netwright.apps.studio.static", SCRIPT),
    "playground.js": ("netwright.apps.studio.static", SCRIPT),
    "sliders.js": ("netwright.apps.studio.static", SCRIPT),
    "theory.js": ("netwright.apps.studio.static", SCRIPT),
    "runs.js": ("netwright.apps.studio.static", SCRIPT),
}


@cache
def read_asset(name: str) -> bytes:
    """The content of one of the table."""
    package, _ = ASSETS[name]
    return files(package).joinpath(name).read_bytes()
