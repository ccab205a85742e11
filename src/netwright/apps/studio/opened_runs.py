"""Runs that are asked and looked into: a few are kept open, and opened again when they change."""

import tempfile
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from netwright.apps.server.accepted_forms import JSON, can_generate
from netwright.apps.server.given_inputs import read_object
from netwright.apps.server.question import AnswerOptions, Question, Reply
from netwright.apps.server.run_description import describe_run
from netwright.apps.server.served_runs import ServedRun
from netwright.apps.server.server_config import ServerConfig
from netwright.core.errors import ConfigError
from netwright.core.files.storage import read_bytes
from netwright.core.trees import Tree
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.series.encoder import SeriesEncoder
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.features.category_feature import CategoryFeature
from netwright.inspection.drawing.compact_svg import compact_svg
from netwright.inspection.drawing.page import data_address
from netwright.inspection.drawing.view import View
from netwright.recipes.plan.run_plan import fields_of
from netwright.recipes.run.look_inside import inspect, inspectable, look_at
from netwright.recipes.run.own_input import encode_own
from netwright.recipes.run.run import Run
from netwright.recipes.saved.run_control import find_listed
from netwright.recipes.views.catalog import VIEWS
from netwright.recipes.views.subject import Found

MOST_OPEN = 4
MOST_OFFERED = 1000  # categories to choose from; of more, one is written
OPTIONS = AnswerOptions(remarks=True)


class UnreadError(Exception):
    """A view needs data that was not read yet."""


class OpenedRuns:
    """The runs of a folder by name; used by one thread at a time.

    Args:
        top: the folder.
        config: what a question may hold.
    """

    def __init__(self, top: Path, config: ServerConfig) -> None:
        self.top, self.config = top, config
        self._open: OrderedDict[str, ServedRun] = OrderedDict()
        self._read: set[str] = set()  # those whose data is at hand

    def served(self, name: str) -> ServedRun:
        """A run of the list, as it is now."""
        folder = find_listed(self.top, name)
        served = self._open.pop(name, None)
        if served is None:
            served = ServedRun(name, folder)
            self._read.discard(name)
        elif served.refresh():
            self._read.discard(name)
        self._open[name] = served
        while len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)
        return served

    def run(self, name: str) -> Run:
        """The run itself."""
        return self.served(name).run

    def description(self, name: str) -> dict[str, Any]:
        """What it takes and gives, with all categories of each column, and what white is.

        `first_row` is how many rows a forecast reads before the one it is of; 0 where each row
        is answered by itself.
        """
        served = self.served(name)
        told = describe_run(served, self.config)
        categories = _categories(served.run)
        for column in told["takes"]["columns"]:
            if column["name"] in categories:
                column["values"] = categories[column["name"]]
        told["takes"]["white"] = _white(served.run)
        encoder = served.run.preprocessor
        told["takes"]["first_row"] = encoder.first_row if isinstance(encoder, SeriesEncoder) else 0
        return told

    def answer(self, name: str, media: str, body: bytes) -> Reply:
        """What `netwright predict` says of the inputs in a body."""
        run = self.run(name)
        question = Question(run, media or JSON, body, options=OPTIONS, config=self.config)
        return question.reply(run.predictions_of(question.prepare()))

    def views(self, name: str) -> dict[str, Any]:
        """The views that a run has: what each shows, and its settings as fields of a form."""
        told = inspectable(self.run(name))
        return {
            view: {
                "sentence": sentence,
                "own_input": VIEWS.load(view).own_input,
                "fields": [asdict(field) for field in fields_of(VIEWS.load(view).settings)],
            }
            for view, sentence in told.items()
        }

    def view(self, name: str, view: str, settings: Mapping[str, str]) -> dict[str, Any]:
        """One view, as `netwright inspect` measures it: its picture, caption and table."""
        return _shown(inspect(self.run(name), view, **_given(settings)))

    def own_view(
        self, name: str, view: str, settings: Mapping[str, str], media: str, body: bytes
    ) -> dict[str, Any]:
        """The same of the one input in a body, as `netwright inspect --of` measures it.

        Data that is needed and was not read yet is not read here: `UnreadError` asks for it.
        """
        run = self.run(name)
        own = self._own(run, media, body)
        find = run.data_at_hand if name in self._read else _unread
        return _shown(look_at(run, view, _given(settings), own=own, find=find))

    def note_read(self, name: str) -> None:
        """Know that the data of a run was read, or cannot be."""
        self._read.add(name)

    def _own(self, run: Run, media: str, body: bytes) -> Tree:
        """The encoded input (1, ...) in a body; of a language model it is a text."""
        if can_generate(run):
            return encode_own(run, read_object(body).get("text"))
        question = Question(run, media or JSON, body, options=OPTIONS, config=self.config)
        inputs = question.prepare()
        if question.size != 1:
            raise ConfigError(f"one input can be looked at, got {question.size}")
        return inputs

    def page(self, name: str, view: str, settings: Mapping[str, str]) -> bytes:
        """The page that `netwright inspect --save x.html` writes."""
        seen = inspect(self.run(name), view, **_given(settings))
        with tempfile.TemporaryDirectory() as folder:
            return read_bytes(Path(seen.save(Path(folder) / "view.html")))


def _unread() -> Found:
    raise UnreadError


def looks_at_data(view: str) -> bool:
    """Whether a view may need the run's data."""
    return VIEWS.load(view).data != "unused"


def _shown(seen: View) -> dict[str, Any]:
    return {
        "title": seen.title,
        "caption": seen.caption,
        "picture": data_address("svg", compact_svg(seen.image("svg"))),
        "rows": seen.table_rows(),
    }


def _categories(run: Run) -> dict[str, list[str]]:
    """The categories that each column of a table has: what a field offers to choose from."""
    encoder = run.preprocessor
    parts = (encoder.past, encoder.known) if isinstance(encoder, SeriesEncoder) else (encoder,)
    return {
        feature.name: list(feature.categories)
        for part in parts
        if isinstance(part, TableEncoder)
        for feature in part.features
        if isinstance(feature, CategoryFeature) and len(feature.categories) <= MOST_OFFERED
    }


def _white(run: Run) -> float | None:
    """The number of a white pixel, where grey images are numbers that are scaled to [0, 1]."""
    encoder = run.preprocessor
    if not isinstance(encoder, ArrayEncoder) or run.spec.inputs != "image":
        return None
    is_grey = len(encoder.input_shape) == 3 and encoder.input_shape[0] == 1
    return 1 / encoder.factor if is_grey and encoder.factor < 1 and not encoder.mean else None


def _given(settings: Mapping[str, str]) -> dict[str, Any]:
    """Settings of a view; the names of the arguments of `inspect` are none."""
    for name in settings:
        if name in {"run", "view", "data", "of"}:
            raise ConfigError(f"{name!r} is not a setting of a view")
    return dict(settings)
