"""Boosting: parity with scikit-learn, the bound on the training error, residuals, where it ends."""

import math
import re
from itertools import pairwise
from typing import cast

import numpy as np
import pytest
import torch
from sklearn import datasets
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from netwright.core.errors import ConfigError, DataError
from netwright.data.dataset import Split
from netwright.data.pixels import ChannelScaling, PixelSplit
from netwright.data.spec import TargetKind
from netwright.models.ensembles.boosting import Boosting, vote_weight
from netwright.models.model import check_fits
from tests.models.baselines.fitted import arrays, spec_of, table, weighted
from tests.models.ensembles.taught import build, teach


def cancer() -> Split:
    inputs, targets = datasets.load_breast_cancer(return_X_y=True)
    return Split(inputs=torch.tensor(inputs).float(), targets=torch.tensor(targets))


@pytest.mark.parametrize(("name", "members"), [("cancer", 50), ("iris", 20), ("digits", 20)])
def test_boosted_stumps_are_those_of_scikit_learn(name: str, members: int) -> None:
    data = cancer() if name == "cancer" else table(name)[0]
    classes = int(data.targets.max()) + 1
    model = build("boosting", spec_of(data.inputs.shape[1], outputs=classes), members=members)
    teach(model, data)
    inputs, targets, _ = arrays(data)
    stump = DecisionTreeClassifier(max_depth=1)
    peer = AdaBoostClassifier(stump, n_estimators=members, random_state=0).fit(inputs, targets)
    np.testing.assert_allclose(model.weights.numpy(), peer.estimator_weights_, rtol=1e-4)
    np.testing.assert_array_equal(model(data.inputs).argmax(dim=1).numpy(), peer.predict(inputs))


def test_given_weights_are_where_it_begins() -> None:
    data, spec = table("wine")
    data = weighted(data)
    model = build("boosting", spec, members=5)
    teach(model, data)
    inputs, targets, weights = arrays(data)
    stump = DecisionTreeClassifier(max_depth=1)
    peer = AdaBoostClassifier(stump, n_estimators=5, random_state=0)
    peer.fit(inputs, targets, sample_weight=weights)
    np.testing.assert_allclose(model.weights.numpy(), peer.estimator_weights_, rtol=1e-4)


@pytest.mark.covers("boosting")
def test_the_training_error_stays_below_the_product_of_the_rounds() -> None:
    data = cancer()
    model = build("boosting", spec_of(30, outputs=2), members=30)
    teach(model, data)
    votes = torch.stack([member(data.inputs) for member in model.members])
    bound = 1.0
    for number, counts in enumerate(model.weights.double().tolist(), start=1):
        error = 1 / (1 + math.exp(counts))
        bound *= 2 * math.sqrt(error * (1 - error))
        answers = model.combine_first(votes, number).argmax(dim=1)
        assert float((answers != data.targets).double().mean()) <= bound + 1e-6
    assert bound < 0.2  # it says something


def test_a_round_worked_by_hand() -> None:
    """Five rows in a line, one of them out of place: the second stump sees it count for half."""
    x = torch.tensor([[0.0], [1.0], [2.0], [3.0], [4.0]])
    data = Split(inputs=x, targets=torch.tensor([0, 1, 0, 0, 1]))
    model = build("boosting", spec_of(1, outputs=2), members=2)
    first, second = teach(model, data)
    assert first.train.weights is not None
    assert second.train.weights is not None
    assert first.train.weights.tolist() == [1.0] * 5
    # cut at 3.5: row 1 is wrong, e = 1/5, alpha = ln 4, so it weighs 4 of 8 parts of 5 rows
    assert model.weights[0].item() == pytest.approx(math.log(4))
    assert second.train.weights.tolist() == pytest.approx([5 / 8, 5 / 2, 5 / 8, 5 / 8, 5 / 8])


def test_members_of_many_classes_count_above_zero_when_better_than_chance() -> None:
    assert vote_weight(0.8, 10) == pytest.approx(math.log(0.25) + math.log(9))
    assert vote_weight(0.8, 10) > 0
    assert vote_weight(0.9, 10) == pytest.approx(0, abs=1e-12)
    assert vote_weight(0.5, 2) == 0


def test_it_ends_with_a_member_that_makes_no_mistake() -> None:
    data, spec = table("iris")
    model = build("boosting", spec, settings={"max_depth": None})
    assert len(teach(model, data)) == len(model.members) == 1
    assert model.remarks == ["boosting stops: member 1/50 predicts every row correctly"]
    assert float((model(data.inputs).argmax(dim=1) != data.targets).sum()) == 0


def test_it_ends_with_a_member_that_is_no_better_than_chance() -> None:
    """Exclusive or: no stump is better than chance."""
    x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    data = Split(inputs=x, targets=torch.tensor([0, 1, 1, 0]))
    sentence = (
        "boosting needs members that are better than chance: "
        "decision-tree is wrong for 50.0% of the weight of the rows"
    )
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        teach(build("boosting", spec_of(2, outputs=2)), data)
    uneven = Split(inputs=x, targets=data.targets, weights=torch.tensor([1.0, 1.0, 1.0, 0.5]))
    model = build("boosting", spec_of(2, outputs=2))
    teach(model, uneven)
    assert len(model.members) < 50
    assert "is no better than chance" in model.remarks[0]


def test_reals_are_fitted_by_what_is_left_of_them() -> None:
    x = torch.linspace(0, 6, 200)[:, None]
    data = Split(inputs=x, targets=10 + x.sin())
    spec = spec_of(1, target="real", outputs=1)
    model = build("boosting", spec, members=100, shrinkage=0.5, settings={"max_depth": 1})
    lessons = teach(model, data, val=data)
    start = cast(Boosting, model).start
    assert start.item() == pytest.approx(float(data.targets.mean()), rel=1e-6)
    errors = [float(lesson.train.targets.square().mean()) for lesson in lessons]
    errors.append(float((model(x) - data.targets).square().mean()))
    assert all(later < before for before, later in pairwise(errors))
    assert 1 - errors[-1] / errors[0] > 0.95
    last = lessons[-1]
    assert last.val is not None
    torch.testing.assert_close(last.val.targets, last.train.targets)
    so_far = start + 0.5 * sum(lesson.member(x) for lesson in lessons[:-1])
    torch.testing.assert_close(last.train.targets, data.targets - so_far, atol=1e-4, rtol=1e-4)


def test_labels_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^boosting predicts class, real, got a target of kind"):
        check_fits(Boosting, "boosting", spec_of(3, target="labels", outputs=2))


@pytest.mark.parametrize("target", ["class", "real"])
def test_images_stay_bytes_in_every_lesson(target: TargetKind) -> None:
    random = torch.Generator().manual_seed(0)
    pixels = torch.randint(0, 256, (30, 1, 2, 2), dtype=torch.uint8, generator=random)
    classes = (pixels.sum(dim=(1, 2, 3)) > 510).long()
    data = PixelSplit(
        pixels=pixels,
        scaling=ChannelScaling(mean=(0.5,), scale=(0.25,)),
        targets=classes if target == "class" else classes[:, None].float(),
    )
    outputs = 2 if target == "class" else 1
    model = build("boosting", spec_of(4, target=target, outputs=outputs), members=3)
    for lesson in teach(model, data, val=data):
        for part in (lesson.train, lesson.val):
            assert isinstance(part, PixelSplit)
            assert part.pixels is pixels
