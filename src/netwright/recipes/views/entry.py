"""A row of the table of views: what it shows, of which runs, and where the report shows it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from netwright.core.card import Card
from netwright.core.config import Config, NoSettings, parse
from netwright.core.errors import ConfigError
from netwright.inspection.drawing.view import View
from netwright.recipes.views.subject import Subject

Section = Literal["learning", "speed", "predictions", "inside", "examples", "model", "data"]


def report_card(sentence: str) -> Card:
    """The card of a view of the report that needs neither a formula nor a paper."""
    return Card(sentence=sentence, formula="", source="the report of a run")


def for_every_run(_: Subject) -> str:
    """No run is refused."""
    return ""


@dataclass(frozen=True, kw_only=True)
class ViewEntry:
    """A view that can be asked for by name.

    Args:
        card: what it shows, how it is worked out, and where it comes from.
        measure: the run and the view's settings -> the view.
        refusal: why this run has no such view, in one sentence; empty where it has one.
        settings: what may be set.
        data: whether the run's data is needed, welcome where it is at hand, or not looked for; an
            input of one's own is in its place, but for what the view itself reads of it.
        one_input: whether an example must be one tensor; a run may read several.
        numbers_only: whether it moves inputs as numbers, which places of embedded categories
            are not.
        own_input: whether it can be of an input of one's own, in the place of an example.
        section: of the report; None: it is only shown on request.
        has_examples: whether it shows examples of the data, which a report may leave out.
        code: the functions that work it out, for `explain`; by default `measure`.
    """

    card: Card
    measure: Callable[[Subject, Any], View]
    refusal: Callable[[Subject], str] = for_every_run
    settings: type[Config] = NoSettings
    data: Literal["needed", "welcome", "unused"] = "needed"
    one_input: bool = False
    numbers_only: bool = False
    own_input: bool = False
    section: Section | None = None
    has_examples: bool = False
    code: tuple[Callable[..., Any], ...] = ()

    def why_not(self, subject: Subject) -> str:
        """Why this run does not have the view, data and all; empty where it has."""
        if subject.own is not None and not self.own_input:
            return "this view is not of a single input that is given: leave it out"
        if self.data == "needed" and subject.own is None and subject.sample is None:
            return f"this view needs the run's data: {subject.absent}"
        if self.one_input and subject.run.spec.inputs == "parts":
            return f"this view is for a model of one input, {subject.name} reads several"
        if self.numbers_only and subject.run.spec.feature_levels:
            return "this view moves inputs as numbers, this run embeds categories"
        return self.refusal(subject)

    def show(self, subject: Subject, settings: dict[str, Any]) -> View:
        """Measure it, or refuse in one sentence."""
        chosen = parse(self.settings, settings, "view")
        reason = self.why_not(subject)
        if reason:
            raise ConfigError(reason)
        return self.measure(subject, chosen)
