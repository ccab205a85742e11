"""What every ensemble keeps: the model contract, members that can be let go, their units."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError, UnknownNameError
from netwright.data.dataset import Split
from netwright.inspection.predictions.ensemble_members import EnsembleMembers
from netwright.models.ensembles.ensemble import Ensemble, Member
from netwright.models.linear.regression import LeastSquaresConfig
from netwright.testing.model_contract import MODEL_CHECKS, Build
from tests.models.baselines.fitted import spec_of, table
from tests.models.ensembles.taught import build, teach
from tests.repetition import for_each

SMALL = {"hidden": [4], "batch_norm": True}
KINDS: dict[str, Callable[[], Ensemble]] = {
    "restarts": lambda: build("restarts", spec_of(5, outputs=3), members=3, settings=SMALL),
    "bagging": lambda: build(
        "bagging", spec_of(3, target="labels", outputs=3), members=2, settings=SMALL
    ),
    "boosting": lambda: build("boosting", spec_of(5, outputs=3), members=4),
    "stacking": lambda: build(
        "stacking", spec_of(5, target="real", outputs=2), of=("mlp", "least-squares")
    ),
}


@for_each("kind", KINDS)
@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(kind: str, check: Callable[[Build], None]) -> None:
    check(KINDS[kind])


@for_each(
    ("settings", "sentence"),
    [
        ({"of": "mpl"}, "unknown model 'mpl'; did you mean 'mlp'?"),
        ({"of": "boosting"}, "the members of an ensemble must be single models, got 'boosting'"),
        (
            {"settings": {"hiden": [3]}},
            "unknown setting 'model.settings.hiden'; did you mean 'hidden'?",
        ),
        ({"of": "least-squares"}, "least-squares predicts real, got a target of kind 'class'"),
        ({"members": 0}, "members must be greater than 0, got 0"),
    ],
    ids=["unknown", "nested", "setting", "target", "members"],
)
def test_members_that_cannot_be_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises((ConfigError, UnknownNameError), match=f"^{re.escape(sentence)}"):
        build("bagging", spec_of(5, outputs=3), **settings)


def test_a_member_answers_in_the_units_of_the_targets() -> None:
    member = Member("least-squares", LeastSquaresConfig(), spec_of(2, target="real", outputs=1))
    x = torch.randn(3, 2, generator=torch.Generator().manual_seed(0))
    plain = member.model(x)
    member.center.fill_(100.0)
    member.scale.fill_(10.0)
    torch.testing.assert_close(member(x), 100 + 10 * plain)
    split = Split(inputs=x, targets=torch.zeros(3, 1))
    torch.testing.assert_close(member.answers(split), member(x).detach())


def test_members_that_do_not_count_are_let_go_and_loading_follows() -> None:
    model = KINDS["restarts"]().eval()
    x = torch.randn(4, 5, generator=torch.Generator().manual_seed(0))
    model.count_first(2)
    before = model(x)
    model.prune()
    assert (len(model.members), len(model.weights)) == (2, 2)
    assert torch.equal(model(x), before)
    other = KINDS["restarts"]().eval()
    other.load_state_dict(model.state_dict())
    assert len(other.members) == 2
    assert torch.equal(other(x), before)


def test_the_view_tells_members_and_the_first_of_them_apart() -> None:
    data, spec = table("iris")
    model = build("boosting", spec, members=4)
    teach(model, data)
    view = model.own_views(data)["ensemble-members"]
    assert isinstance(view, EnsembleMembers)
    right = model(data.inputs).argmax(dim=1) == data.targets
    assert view.together == pytest.approx(float(right.double().mean()))
    assert view.first[-1] == view.together
    assert view.first[0] == view.alone[0]
    assert len(view.alone) == len(view.first) == 4
