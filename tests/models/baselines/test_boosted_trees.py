"""What boosted trees share: their scores add up, by output and by stage."""

import pytest
import torch

from netwright.core.errors import DataError
from netwright.data.dataset import Split
from tests.models.baselines.fitted import fitted, spec_of, table

BOOSTERS = ("gradient-boosting", "hist-boosting")


@pytest.mark.parametrize("name", BOOSTERS)
def test_several_reals_are_boosted_as_if_each_were_alone(name: str) -> None:
    data, spec = table("diabetes")
    other = data.inputs[:, 2:3] * 3
    both = Split(inputs=data.inputs, targets=torch.cat((data.targets, other), dim=1))
    pair = fitted(name, both, spec_of(10, target="real", outputs=2), stages=3)(data.inputs)
    first = fitted(name, data, spec, stages=3)(data.inputs)
    second = fitted(name, Split(inputs=data.inputs, targets=other), spec, stages=3)(data.inputs)
    torch.testing.assert_close(pair, torch.cat((first, second), dim=1))


@pytest.mark.parametrize("name", BOOSTERS)
def test_two_classes_have_one_score_and_the_first_has_log_odds_0(name: str) -> None:
    data, _ = table("iris")
    pair = data.take((data.targets < 2).nonzero()[:, 0])
    model = fitted(name, pair, spec_of(4, outputs=2), stages=3)
    assert model(pair.inputs)[:, 0].tolist() == [0.0] * 100
    assert len(model.trees.roots) == 3


def test_what_scikit_learn_rejects_is_told_in_one_sentence() -> None:
    data, spec = table("iris")
    first = data.take((data.targets == 0).nonzero()[:, 0])
    with pytest.raises(DataError, match="scikit-learn rejects the training rows"):
        fitted("gradient-boosting", first, spec)
