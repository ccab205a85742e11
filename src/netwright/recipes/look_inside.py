"""`inspect`: look inside a run, one view at a time, without training anything again.

    inspect("runs/lenet-mnist-001", "saliency", example=3).save("seven.svg")

A view is looked for in the table, and then among those that the run's model has of its own.
"""

from pathlib import Path
from typing import Any

from netwright.core.checks import nearest
from netwright.core.config import parse
from netwright.core.errors import UnknownNameError
from netwright.inspection.view import View
from netwright.recipes.run import Run, open_run
from netwright.recipes.views.catalog import VIEWS
from netwright.recipes.views.entry import NoSettings, Subject


def inspect(run: str | Path | Run, view: str, **settings: Any) -> View:
    """Measure one view of a run.

    Args:
        run: the run, or its folder.
        view: its name; `inspectable` gives those of a run.
        **settings: of the view: `example=3`, say; `explain` tells of them.
    """
    subject = _subject(run)
    if view in VIEWS:
        return VIEWS.load(view).show(subject, settings)
    if view not in subject.report_views:
        hint = nearest(view, [*VIEWS, *subject.report_views]) or f"; there are {', '.join(VIEWS)}"
        raise UnknownNameError(f"unknown view {view!r}{hint}")
    parse(NoSettings, settings, "view")
    return subject.report_views[view]


def inspectable(run: str | Path | Run) -> dict[str, str]:
    """The views that a run has, each with the sentence that says what it shows."""
    subject = _subject(run)
    found = {}
    for name in VIEWS:
        entry = VIEWS.load(name)
        if not entry.refusal(subject):
            found[name] = entry.card.sentence
    own = {name: view.title for name, view in subject.report_views.items() if name not in found}
    return found | own


def _subject(run: str | Path | Run) -> Subject:
    run = run if isinstance(run, Run) else open_run(run)
    return Subject(run, *run.data_at_hand())
