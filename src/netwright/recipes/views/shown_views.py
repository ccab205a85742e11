"""The views that a report shows: those of the table that have a section, where they suit the run.

A model of one's own may have views that no table knows: they are shown beside what is inside.
"""

from collections.abc import Iterator

from netwright.inspection.drawing.view import View
from netwright.recipes.views.catalog import VIEWS
from netwright.recipes.views.entry import Section, ViewEntry
from netwright.recipes.views.subject import Subject


def measure_shown_views(subject: Subject, *, examples: bool = True) -> dict[str, View]:
    """The views of a run's report by name, in the order of the table.

    Args:
        subject: the run; without its data it has fewer views.
        examples: also those that show examples of the data.
    """
    table = {
        name: entry.measure(subject, entry.settings())
        for name, entry in _shown_entries()
        if (examples or not entry.has_examples) and not entry.why_not(subject)
    }
    unknown = {name: view for name, view in subject.own_views.items() if name not in VIEWS}
    return table | unknown


def section_of(name: str) -> Section | None:
    """Where the report shows a view."""
    return VIEWS.load(name).section if name in VIEWS else "inside"


def _shown_entries() -> Iterator[tuple[str, ViewEntry]]:
    entries = ((name, VIEWS.load(name)) for name in VIEWS)
    return ((name, entry) for name, entry in entries if entry.section is not None)
