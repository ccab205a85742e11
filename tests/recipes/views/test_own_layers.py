"""Which runs have layers: one network, not several models or rules without weights."""

import dataclasses
from typing import Any

from torch import nn

import netwright as nw
from netwright.models.catalog import MODELS
from netwright.recipes.views.entry import Subject
from netwright.recipes.views.own_layers import refuse_without_layers


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
        "a view of layers is of one model, bagging has several"
    )
    assert refusal(nn.BatchNorm1d(3)) == "layers hold weight matrices, BatchNorm1d has none"
