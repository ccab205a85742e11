"""The partial dependence of a run on the columns of its table."""

from dataclasses import dataclass
from typing import Annotated

from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.data.tables.encoding import TableEncoder
from netwright.data.tables.features.embedded_category import EmbeddedCategory
from netwright.inspection.attribution.partial_dependence import (
    PartialDependence,
    measure_partial_dependence,
)
from netwright.recipes.views.entry import ViewEntry
from netwright.recipes.views.refusals import only_of
from netwright.recipes.views.subject import Subject

MOST_COLUMNS = 100  # each is asked about with all its values


@dataclass(frozen=True, kw_only=True)
class PartialDependenceConfig(Config):
    """Settings of the partial dependence."""

    columns: Annotated[
        tuple[str, ...], Doc("the columns; default: the four that move the answer most")
    ] = ()


def _refusal(subject: Subject) -> str:
    spec = subject.run.spec
    if spec.inputs != "features":
        return "partial dependence is for tables"
    columns = spec.groups_of_features[-1] + 1
    if columns > MOST_COLUMNS:
        return f"partial dependence is for at most {MOST_COLUMNS} columns, there are {columns}"
    return only_of("partial dependence is", "class", "real")(subject)


def _measure(subject: Subject, settings: PartialDependenceConfig) -> PartialDependence:
    inputs: Tensor = subject.inputs
    run = subject.run
    encoder = run.preprocessor
    features = encoder.features if isinstance(encoder, TableEncoder) else ()
    return measure_partial_dependence(
        subject.predict,
        inputs,
        run.spec,
        encoder.units(),
        columns=settings.columns,
        categories={
            one.name: one.categories for one in features if isinstance(one, EmbeddedCategory)
        },
    )


PARTIAL_DEPENDENCE = ViewEntry(
    card=Card(
        sentence="The mean answer when one column is set to the same value in all rows, with its "
        "interval.",
        formula=r"f_g(v) = \frac{1}{N} \sum_i f(x_i \;\text{with column}\; g = v)",
        symbols={
            "x_i": "row i of N",
            "g, v": "a column and a value of it",
            "f": "what the model says: a probability, or a real",
        },
        source="Friedman (2001), Annals of Statistics 29, 1189-1232, section 8.2",
    ),
    measure=_measure,
    refusal=_refusal,
    settings=PartialDependenceConfig,
    code=(measure_partial_dependence,),
)
