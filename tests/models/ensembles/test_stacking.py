"""Stacking: weights that are the best there are, found on rows that were held out."""

import re
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_predict

from netwright.core.errors import ConfigError, UnknownNameError
from netwright.data.dataset import Split
from netwright.data.split import k_folds
from netwright.models.ensembles.stacking import (
    StackingConfig,
    least_squares_weights,
    mixture_weights,
)
from tests.models.baselines.fitted import spec_of, table
from tests.models.ensembles.taught import build, teach
from tests.repetition import for_each


def complementary(rows: int = 300) -> Split:
    """A line in one feature and a step in the other: each model finds one of them."""
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(rows, 2, generator=numbers)
    y = 3 * x[:, :1] + 4 * (x[:, 1:] > 0) + 0.3 * torch.randn(rows, 1, generator=numbers)
    return Split(inputs=x, targets=y)


def held_out_answers(lessons: list[Any], data: Split, folds: int) -> torch.Tensor:
    """What the members of the folds said of the rows they had not seen, (M, N, C)."""
    members = len(lessons) // (folds + 1)
    kept = k_folds(len(data), folds, seed=0)
    answers = torch.zeros(members, len(data), lessons[0].member.center.numel())
    for number, (_, rows) in enumerate(kept):
        for place in range(members):
            member = lessons[members * (number + 1) + place].member
            answers[place, rows] = member(data.inputs[rows]).detach()
    return answers


@pytest.mark.covers("stacking")
def test_held_out_the_sum_errs_no_more_than_the_best_of_two_complementary_models() -> None:
    data = complementary()
    spec = spec_of(2, target="real", outputs=1)
    model = build(
        "stacking",
        spec,
        of="least-squares,decision-tree",
        settings={"decision-tree": {"max_depth": 3}},
    )
    lessons = teach(model, data)
    answers = held_out_answers(lessons, data, 5)
    own = (answers - data.targets).square().mean(dim=(1, 2))
    together = (model.weights[:, None, None] * answers).sum(dim=0)
    assert float((together - data.targets).square().mean()) <= 0.9 * float(own.min())
    assert bool((model.weights > 0.1).all())
    assert [lesson.title for lesson in lessons[:4]] == [
        "member 1/2",
        "member 2/2",
        "fold 1/5, least-squares",
        "fold 1/5, decision-tree",
    ]
    assert model.remarks[0].startswith("weights fitted on the held-out rows: least-squares 0.")


def test_no_fold_learns_from_the_rows_it_is_asked_about() -> None:
    rows = torch.arange(40.0)[:, None]
    data = Split(inputs=rows, targets=rows)
    model = build(
        "stacking", spec_of(1, target="real", outputs=1), of=("least-squares", "ridge"), folds=4
    )
    lessons = teach(model, data)
    for number, (seen, _) in enumerate(k_folds(40, 4, seed=0)):
        for lesson in lessons[2 + 2 * number : 4 + 2 * number]:
            assert torch.equal(lesson.train.inputs[:, 0], seen.float())
    assert len({lesson.seed for lesson in lessons}) == 10


def test_classes_are_weighed_by_the_likelihood_of_what_was_held_out() -> None:
    data, spec = table("wine")
    model = build("stacking", spec, of=("softmax-newton", "decision-tree"))
    lessons = teach(model, data)
    assert float(model.weights.sum()) == pytest.approx(1)
    assert len(lessons) == 12
    held = [lesson.train.targets.bincount() for lesson in lessons[2:]]
    assert all(bool((one >= 0.78 * data.targets.bincount()).all()) for one in held)  # stratified


def test_mixture_weights_are_the_maximum_of_the_likelihood() -> None:
    numbers = torch.Generator().manual_seed(0)
    chances = torch.rand(3, 200, generator=numbers, dtype=torch.float64)
    amounts = torch.rand(200, generator=numbers, dtype=torch.float64)
    weights = mixture_weights(chances, amounts)

    def likelihood(shares: torch.Tensor) -> float:
        return float((amounts * (shares @ chances).log()).sum())

    best = likelihood(weights)
    assert float(weights.sum()) == pytest.approx(1)
    for step in torch.cartesian_prod(torch.arange(21), torch.arange(21)):
        shares = torch.tensor([step[0], step[1], 20 - step.sum()]).double() / 20
        if shares[2] >= 0:
            assert likelihood(shares) <= best + 1e-6
    certain = mixture_weights(torch.tensor([[0.9, 0.8], [0.0, 0.0]]), torch.ones(2))
    assert certain.tolist() == pytest.approx([1.0, 0.0], abs=1e-6)


def test_least_squares_weights_are_those_of_the_normal_equations_where_these_are_positive() -> None:
    numbers = torch.Generator().manual_seed(0)
    targets = torch.randn(100, 2, generator=numbers).double() * torch.tensor([1.0, 1000.0])
    noise = torch.randn(3, 100, 2, generator=numbers).double() * torch.tensor([1.0, 1000.0])
    amounts = torch.rand(100, generator=numbers).double()
    answers = targets + torch.tensor([0.5, 1.0, 1.5]).double()[:, None, None] * noise
    weights = least_squares_weights(answers, targets, amounts)
    factor = (amounts.sqrt()[:, None] / targets.std(dim=0, correction=0)).numpy()
    columns = (answers.numpy() * factor).reshape(3, -1).T
    wanted = np.linalg.lstsq(columns, (targets.numpy() * factor).ravel())[0]
    assert bool((wanted > 0).all())
    np.testing.assert_allclose(weights.numpy(), wanted, rtol=1e-8)


def test_where_no_member_helps_the_one_that_errs_least_stands_for_all() -> None:
    targets = torch.tensor([[1.0], [-1.0]])
    answers = torch.stack([-2 * targets, -targets])
    assert least_squares_weights(answers, targets, torch.ones(2)).tolist() == [0.0, 1.0]


def test_a_member_that_counts_nothing_stays() -> None:
    model = build(
        "stacking",
        spec_of(2, target="real", outputs=1),
        of=("least-squares", "ridge"),
        folds=2,
    )
    teach(model, complementary(60))
    assert model.weights[0] > 0.9
    assert (float(model.weights[1]), len(model.members)) == (0, 2)


def test_held_out_answers_are_those_of_scikit_learn() -> None:
    data = complementary(60)
    model = build(
        "stacking", spec_of(2, target="real", outputs=1), of=("least-squares", "decision-tree")
    )
    answers = held_out_answers(teach(model, data), data, 5)[0, :, 0]
    parts = [(seen.numpy(), held.numpy()) for seen, held in k_folds(60, 5, seed=0)]
    wanted = cross_val_predict(
        LinearRegression(), data.inputs.numpy(), data.targets[:, 0].numpy(), cv=parts
    )
    np.testing.assert_allclose(answers.numpy(), wanted, rtol=1e-4, atol=1e-4)


@for_each(
    ("settings", "sentence"),
    [
        ({"of": "mlp"}, "of must name at least 2 models, got mlp"),
        ({"of": ("mlp", "mpl")}, "unknown model 'mpl'; did you mean 'mlp'?"),
        (
            {"of": ("mlp", "lda"), "settings": {"ldq": {}}},
            "settings are given for 'ldq', which is not stacked; did you mean 'lda'?",
        ),
        ({"folds": 1}, "folds must be at least 2, got 1"),
    ],
    ids=["one", "unknown", "settings", "folds"],
)
def test_what_cannot_be_stacked_is_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises((ConfigError, UnknownNameError), match=f"^{re.escape(sentence)}"):
        StackingConfig(**settings)


def test_fewer_rows_than_folds_are_refused() -> None:
    model = build("stacking", spec_of(2, target="real", outputs=1), of=("ridge", "lasso"), folds=9)
    with pytest.raises(ConfigError, match=r"need at least 9 training rows, got 8 samples$"):
        model.fewest_rows(8)
    lessons = teach(model, complementary(20))
    assert min(len(lesson.train) for lesson in lessons) == model.fewest_rows(20) == 17


def test_given_weights_are_taken_without_folds() -> None:
    settings: dict[str, Any] = {"of": ("least-squares", "decision-tree"), "weights": (0.5, 0.25)}
    model = build("stacking", spec_of(2, target="real", outputs=1), **settings)
    lessons = teach(model, complementary(40))
    assert len(lessons) == 2
    assert model.weights.tolist() == [0.5, 0.25]
    with pytest.raises(ConfigError, match="weights must be one for each"):
        StackingConfig(of=("ridge", "lasso"), weights=(1.0,))
    with pytest.raises(ConfigError, match="not all 0"):
        StackingConfig(of=("ridge", "lasso"), weights=(0.0, 0.0))


def test_given_weights_of_classes_are_shares() -> None:
    spec = spec_of(2, outputs=2)
    model = build("stacking", spec, of=("softmax-newton", "decision-tree"), weights=(3.0, 1.0))
    data = complementary(40)
    teach(model, Split(inputs=data.inputs, targets=(data.targets[:, 0] > 2).long()))
    assert model.weights.tolist() == [0.75, 0.25]
