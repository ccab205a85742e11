"""The view `units` of a run: what the units of its dense layers answer to one example."""

from dataclasses import dataclass
from typing import Annotated, cast

from netwright.core.card import Card
from netwright.core.config import Config, Count, Doc
from netwright.inspection.inside.dense_units import measure_units
from netwright.inspection.inside.unit_answers import UnitAnswers, measure_unit_answers
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.refusals import refuse_without_layers
from netwright.recipes.views.subject import Subject


@dataclass(frozen=True, kw_only=True)
class UnitAnswersConfig(Config):
    """Settings of the view."""

    example: Annotated[Count, Doc("index of the example in the evaluated split")] = 0


def _refusal(subject: Subject) -> str:
    reason = refuse_without_layers(subject)
    if reason or measure_units(subject.run.model, subject.input_at(0))[1]:
        return reason
    return f"units are those of dense layers with one answer each, {subject.name} has none"


def _measure(subject: Subject, config: UnitAnswersConfig) -> UnitAnswers:
    run = subject.run
    answers = measure_unit_answers(
        run.model, subject.input_at(config.example), tuple(run.spec.class_names)
    )
    return cast(UnitAnswers, answers)


UNITS = ViewEntry(
    card=Card(
        sentence="What each unit of each dense layer answers to one input: an example of the "
        "data, or one of your own, such as a digit that you draw.",
        formula=r"a^{(\ell)} = f_\ell(W^{(\ell)} a^{(\ell - 1)} + b^{(\ell)}), \quad a^{(0)} = x",
        symbols={
            "a^{(\\ell)}": "what the units of layer l answer",
            "f_\\ell": "the nonlinearity, and the norm, that follow its dense map",
            "x": "the input, encoded as in training",
        },
        source="Rumelhart, Hinton and Williams (1986), Nature 323, 533-536",
    ),
    measure=_measure,
    refusal=_refusal,
    settings=UnitAnswersConfig,
    one_input=True,
    own_input=True,
    code=(measure_unit_answers, measure_units),
)
