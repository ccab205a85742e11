"""A small model of each family, fitted where it learns by itself, ready to be exported."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest

from netwright.core.config import parse
from netwright.core.learner import Learner
from netwright.core.seeding import seeded
from netwright.data.series.symbols import SymbolEncoder
from netwright.data.spec import DataSpec, TargetKind
from netwright.models.catalog import MODELS
from netwright.recipes.exchange.export_format import ExportSource
from netwright.recipes.exchange.predictor import Predictor
from netwright.testing.learner_contract import sample_examples
from netwright.testing.model_contract import sample_inputs
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.detection import Detection
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.tasks.multi_label import MultiLabel
from netwright.train.tasks.regression import Regression
from netwright.train.tasks.segmentation import Segmentation
from netwright.train.tasks.spans import Spans
from netwright.train.tasks.tagging import Tagging
from netwright.train.tasks.task import Task
from netwright.train.tasks.unlabelled import Unlabelled
from tests.models.test_catalog import DEEPER, SMALLER, specs

STEPS = 30
# Which preprocessor it is does not matter: inputs are encoded here.
ANY = SymbolEncoder(symbols="ab", length=3, class_names=("a", "b"))


def task_of(spec: DataSpec) -> Task:
    kinds: dict[TargetKind, Callable[[], Task]] = {
        "class": lambda: Classification(spec.num_outputs),
        "labels": MultiLabel,
        "real": lambda: Regression.plain(spec.num_outputs),
        "tokens": lambda: LanguageModelling(spec.num_outputs),
        "tags": lambda: Tagging(spec.num_outputs),
        "span": Spans,
        "mask": lambda: Segmentation(spec.class_names),
        "boxes": lambda: Detection(spec.num_outputs),
        "none": Unlabelled,
    }
    return kinds[spec.target]()


def source_of(name: str, spec: DataSpec, **settings: Any) -> ExportSource:
    """A model of this name, with five rows to compare it on."""
    kind = MODELS.load(name)
    with seeded(0):
        config = parse(kind.settings, {**SMALLER.get(name, {}), **settings})
        model = kind.build(config, spec)
        if isinstance(model, Learner):
            for _ in islice(model.fit_steps(sample_examples(model), 0), STEPS):
                pass
    model.eval().requires_grad_(False)
    return ExportSource(
        predictor=Predictor(model, task_of(spec), spec, None).eval(),
        preprocessor=ANY,
        section={"name": name},
        rows=sample_inputs(spec, 5, 0),
    )


def of_each_input(name: str) -> Iterator[DataSpec]:
    """A spec for each kind of inputs that a model takes, once with an answer for each token."""
    seen = set()
    for spec in specs(name):
        kind = (spec.inputs, spec.target in {"tokens", "tags"})
        if kind not in seen:
            seen.add(kind)
            yield spec


def spec_of(name: str, inputs: str, target: str) -> DataSpec:
    return next(spec for spec in specs(name) if (spec.inputs, spec.target) == (inputs, target))


def families(*quick: tuple[str, str, str]) -> list[Any]:
    """All families as parameters of a test, slow but for these: (name, inputs, target)."""
    cases = [(name, spec) for name in MODELS if name not in DEEPER for spec in of_each_input(name)]
    known = {(name, spec.inputs, spec.target) for name, spec in cases}
    assert set(quick) <= known, "a quick case must be one of the cases"
    return [
        pytest.param(
            name,
            spec,
            marks=() if (name, spec.inputs, spec.target) in quick else pytest.mark.slow,
        )
        for name, spec in cases
    ]
