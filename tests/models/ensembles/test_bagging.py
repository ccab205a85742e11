"""Bagging: the bootstrap, parity with scikit-learn, less error than one tree, rows out of bag."""

import numpy as np
import pytest
import torch
from sklearn.tree import DecisionTreeRegressor

from netwright.core.seeding import generator
from netwright.data.dataset import Split
from netwright.models.ensembles.bagging import bootstrap_rows
from tests.models.baselines.fitted import arrays, fitted, spec_of, table
from tests.models.ensembles.taught import build, teach


def noisy_sine(rows: int, seed: int) -> Split:
    numbers = torch.Generator().manual_seed(seed)
    x = 6 * torch.rand(rows, 1, generator=numbers)
    return Split(inputs=x, targets=x.sin() + 0.4 * torch.randn(rows, 1, generator=numbers))


@pytest.mark.covers("bagging")
def test_about_63_percent_of_rows_are_drawn_and_bagged_trees_beat_one() -> None:
    rows = bootstrap_rows(100_000, 100_000, generator(0, "bootstrap"))
    assert len(torch.unique(rows)) / 100_000 == pytest.approx(1 - np.exp(-1), abs=0.005)
    train, test = noisy_sine(200, 0), noisy_sine(1000, 1)
    spec = spec_of(1, target="real", outputs=1)
    model = build("bagging", spec, of="decision-tree", members=30)
    teach(model, train)
    alone = fitted("decision-tree", train, spec)
    errors = [float((one(test.inputs) - test.targets).square().mean()) for one in (model, alone)]
    assert errors[0] < 0.8 * errors[1]


def test_bagged_trees_are_those_of_scikit_learn_on_the_same_rows() -> None:
    data, spec = table("diabetes")
    model = build("bagging", spec, of="decision-tree", members=4)
    lessons = teach(model, data, seed=3)
    references = [
        DecisionTreeRegressor(random_state=lesson.seed % 2**32).fit(*arrays(lesson.train)[:2])
        for lesson in lessons
    ]
    inputs = arrays(data)[0]
    wanted = np.mean([tree.predict(inputs) for tree in references], axis=0)
    np.testing.assert_allclose(model(data.inputs)[:, 0].numpy(), wanted, rtol=1e-5)


def test_rows_are_drawn_with_their_targets_and_weights() -> None:
    rows = torch.arange(50.0)
    data = Split(inputs=rows[:, None], targets=2 * rows[:, None], weights=rows + 1)
    model = build("bagging", spec_of(1, target="real", outputs=1), of="decision-tree", sample=0.5)
    lessons = teach(model, data)
    for lesson in lessons:
        drawn = lesson.train
        assert len(drawn) == 25
        assert len(torch.unique(drawn.inputs)) < 25
        assert torch.equal(drawn.targets, 2 * drawn.inputs)
        assert drawn.weights is not None
        assert torch.equal(drawn.weights, drawn.inputs[:, 0] + 1)
    assert not torch.equal(lessons[0].train.inputs, lessons[1].train.inputs)


def test_out_of_bag_asks_only_members_that_did_not_draw_the_row() -> None:
    data, spec = table("iris")
    model = build("bagging", spec, of="decision-tree", members=6)
    lessons = teach(model, data, seed=1)
    sums, asked = torch.zeros(150, 3), torch.zeros(150)
    for lesson in lessons:
        for row in range(150):
            if not bool((lesson.train.inputs == data.inputs[row]).all(dim=1).any()):
                sums[row] += lesson.member(data.inputs[row : row + 1])[0].softmax(dim=0)
                asked[row] += 1
    # Two irises are alike in every feature: whether such a row was drawn cannot be told here.
    there = asked > 0
    accuracy = float((sums.argmax(dim=1) == data.targets)[there].double().mean())
    (remark,) = model.remarks
    assert remark.startswith(f"out of bag: accuracy {accuracy:.3f}"[:-1])
    assert remark.endswith(" of 150 training rows")
