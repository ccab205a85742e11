"""Which runs a view suits: by what they predict, and by the layers that they have."""

import dataclasses
from typing import Any

from torch import nn

import netwright as nw
from netwright.models.catalog import MODELS
from netwright.recipes.views.refusals import only_of, refuse_without_layers
from netwright.recipes.views.subject import Subject


@dataclasses.dataclass
class Looked:
    """As much of a run as the refusal reads."""

    model: nn.Module
    config: dict[str, Any]


def refusal(model: nn.Module, name: str = "") -> str:
    looked: Any = Looked(model, {"model": {"name": name}})
    return refuse_without_layers(Subject(looked, None))


def test_networks_are_looked_into_and_ensembles_and_models_without_matrices_are_refused(
    moons_run: nw.Run,
) -> None:
    assert refusal(moons_run.model) == ""
    kind = MODELS.load("bagging")
    assert refusal(kind.build(kind.settings(), moons_run.spec), "bagging") == (
        "a view of layers is for a single model, bagging has several"
    )
    assert refusal(nn.BatchNorm1d(3)) == "this view needs weight matrices, BatchNorm1d has none"


def test_a_run_that_predicts_something_else_is_refused_with_what_it_predicts(
    moons_run: nw.Run,
) -> None:
    subject = Subject(moons_run, None)
    assert only_of("shares are", "labels", "class")(subject) == ""
    assert only_of("a map is", "real", "tags")(subject) == (
        "a map is for real values or tags, this run predicts classes; "
        "`netwright inspect RUN` lists the views that a run has"
    )
