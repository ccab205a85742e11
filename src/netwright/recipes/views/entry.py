"""A row of the table of views: what it shows, of which runs, with which settings.

Shapes: B examples.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import torch

from netwright.core.card import Card
from netwright.core.config import Config, parse
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError
from netwright.data.dataset import Split
from netwright.data.loader import Batch
from netwright.data.stored import Sample, evenly_spaced
from netwright.inspection.drawing.view import View
from netwright.recipes.views.run_views import Measured, measure_views


class Subject:
    """A run that is looked at, with a sample of its data where that is at hand.

    Args:
        run: what is looked at; nothing of it is changed.
        sample: of its data, or None.
        absent: why there is none, in one sentence.
    """

    def __init__(self, run: Measured, sample: Sample | None, absent: str = "") -> None:
        self.run, self.sample, self.absent = run, sample, absent

    @property
    def name(self) -> str:
        """What its model is called: the catalog's name, or the class of a module of one's own."""
        return str(self.run.config["model"]["name"]) or type(self.run.model).__name__

    @property
    def split(self) -> Split:
        """The examples that the results tell of; a run without its data is refused."""
        if self.sample is None:
            raise ConfigError(f"this view needs the run's data: {self.absent}")
        return self.sample.shown.split(self.run.results["split"])

    def batch(self, rows: int, *, split: str = "") -> Batch:
        """Examples of a split, spread evenly since it may be sorted, on the model's device.

        Args:
            rows: how many, or as many as there are.
            split: train, val or test; by default the one that the results tell of.
        """
        examples = self.split  # refuses a run without data
        if split and self.sample is not None:
            examples = self.sample.shown.split(split)
        return self._batch(examples, evenly_spaced(len(examples), rows))

    def example(self, place: int) -> Batch:
        """A batch of the one example at this place of the split."""
        if not 0 <= place < len(self.split):
            name = self.run.results["split"]
            raise ConfigError(
                f"example must be from 0 to {len(self.split) - 1}, the {name} rows, got {place}"
            )
        return self._batch(self.split, torch.tensor([place]))

    def _batch(self, examples: Split, rows: torch.Tensor) -> Batch:
        rows, device = rows.to(examples.targets.device), device_of(self.run.model)
        weights = None if examples.weights is None else examples.weights[rows].to(device)
        return Batch(
            inputs=examples.read(rows).to(device),
            targets=examples.targets[rows].to(device),
            weights=weights,
            rows=rows,
        )

    @cached_property
    def report_views(self) -> dict[str, View]:
        """The views that its report shows, by name: they are measured together."""
        return measure_views(self.run, self.sample)


@dataclass(frozen=True, kw_only=True)
class NoSettings(Config):
    """A view that shows what it shows."""


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
        data: whether the run's data is needed, welcome where it is at hand, or not looked for.
        code: the functions that work it out, for `explain`; by default `measure`.
    """

    card: Card
    measure: Callable[[Subject, Any], View]
    refusal: Callable[[Subject], str] = for_every_run
    settings: type[Config] = NoSettings
    data: Literal["needed", "welcome", "unused"] = "needed"
    code: tuple[Callable[..., Any], ...] = ()

    def why_not(self, subject: Subject) -> str:
        """Why this run does not have the view, data and all; empty where it has."""
        if self.data == "needed" and subject.sample is None:
            return f"this view needs the run's data: {subject.absent}"
        return self.refusal(subject)

    def show(self, subject: Subject, settings: dict[str, Any]) -> View:
        """Measure it, or refuse in one sentence."""
        chosen = parse(self.settings, settings, "view")
        reason = self.why_not(subject)
        if reason:
            raise ConfigError(reason)
        return self.measure(subject, chosen)
