"""Reals: squared error on standardised targets, predictions in their own units."""

import math
from statistics import NormalDist

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from netwright.core.errors import DataError, ShapeError
from netwright.core.outputs import Output
from netwright.data.dataset import Split
from netwright.data.loading.loader import Batch
from netwright.train.tasks.regression import Regression
from tests.train.toy_runs import repeated, weighed


def batch_of(targets: list[list[float]], weights: list[float] | None = None) -> Batch:
    rows = torch.arange(len(targets))
    amounts = None if weights is None else torch.tensor(weights)
    return Batch(torch.zeros(len(targets), 1), torch.tensor(targets), amounts, rows)


def split_of(targets: list[list[float]]) -> Split:
    return Split(inputs=torch.zeros(len(targets), 1), targets=torch.tensor(targets))


TASK = Regression(torch.tensor([10.0]), torch.tensor([2.0]))
OUTPUT = torch.tensor([[1.0], [-1.0]])  # 12 and 8 in the target's units


def test_loss_is_in_standardised_units() -> None:
    # Targets 10 and 14 are 0 and 2: errors 1 and 3.
    assert TASK.loss(OUTPUT, batch_of([[10], [14]])).item() == (1 + 9) / 2
    assert TASK.loss(OUTPUT, batch_of([[10], [14]], [4.0, 0.0])).item() == 2


def test_predictions_and_headline_are_in_the_units_of_the_target() -> None:
    assert TASK.predictions(OUTPUT).tolist() == [[12], [8]]
    assert TASK.predictions(Output(logits=OUTPUT)).tolist() == [[12], [8]]
    assert TASK.headline_sum(OUTPUT, *batch_of([[10], [14]])[1:3]).tolist() == [4 + 36]
    assert TASK.headline_sum(OUTPUT, *batch_of([[10], [14]], [2.0, 0.5])[1:3]).tolist() == [8 + 18]
    assert TASK.headline_value(torch.tensor([20.0])) == pytest.approx(math.sqrt(20))


def test_several_outputs_count_the_same() -> None:
    task = Regression.plain(2)
    loss = task.loss(torch.tensor([[0.0, 0.0]]), batch_of([[1, 3]]))
    assert loss.item() == (1 + 9) / 2
    assert task.headline_sum(torch.tensor([[0.0, 0.0]]), *batch_of([[1, 3]])[1:3]).tolist() == [
        1,
        9,
    ]
    assert task.headline_value(torch.tensor([1.0, 9.0])) == 2  # (1 + 3) / 2, as the metric has it


def test_fitted_to_mean_and_deviation_by_hand() -> None:
    task = Regression.fitted(split_of([[1, 5], [3, 5]]))
    assert task.center.tolist() == [2, 5]
    assert task.scale.tolist() == [1, 1]  # the second target never changes
    assert task.center.dtype == task.scale.dtype == torch.float32


def test_a_target_that_hardly_varies_beside_its_size_is_scaled_too() -> None:
    assert (
        Regression.fitted(split_of([[1000.5, -8.0], [1001.0, -8.5]])).scale.tolist() == [0.25] * 2
    )


@settings(derandomize=True, deadline=None, max_examples=60)
@given(
    st.floats(-1e6, 1e6, width=32),
    st.integers(1, 300),
    st.sampled_from([None, [1.0, 0.3], [7.0, 1e-3]]),
)
def test_a_constant_target_has_scale_one_whatever_it_is(
    value: float, rows: int, weights: list[float] | None
) -> None:
    split = split_of([[value]] * rows)
    if weights is not None:
        split = weighed(split, [weights[row % 2] for row in range(rows)])
    task = Regression.fitted(split)
    assert task.scale.tolist() == [1]
    assert task.center.tolist() == pytest.approx([value], rel=1e-6)


def test_a_weight_of_two_is_the_row_twice_when_fitted() -> None:
    split, times = split_of([[1.0], [2.0], [7.0]]), [1, 3, 0]
    heavy, often = (
        Regression.fitted(given)
        for given in (weighed(split, [5.0, 15.0, 0.0]), repeated(split, times))
    )
    torch.testing.assert_close(heavy.center, often.center)
    torch.testing.assert_close(heavy.scale, often.scale)


def test_a_transform_is_learned_and_undone() -> None:
    # ln y is 0, 2 and 4: mean 2, deviation sqrt(8 / 3).
    rows = split_of([[1.0], [math.exp(2)], [math.exp(4)]])
    task = Regression.fitted(rows, transform="log")
    assert task.center.tolist() == pytest.approx([2])
    assert task.scale.tolist() == pytest.approx([math.sqrt(8 / 3)])
    output = torch.tensor([[1.0], [0.0]])
    wanted = [math.exp(2 + math.sqrt(8 / 3)), math.exp(2)]
    assert task.predictions(output).flatten().tolist() == pytest.approx(wanted)
    # The loss is of standardised logarithms, the headline of the targets themselves.
    batch = batch_of([[math.exp(2)], [math.exp(2)]])
    assert task.loss(output, batch).item() == pytest.approx(1 / 2)
    apart = (wanted[0] - wanted[1]) ** 2
    assert task.headline_sum(output, *batch[1:3]).item() == pytest.approx(apart, rel=1e-5)
    assert task.baseline(rows).item() == pytest.approx((1 + math.exp(2) + math.exp(4)) / 3)


@pytest.mark.parametrize("shape", [(2,), (2, 2), (1, 1)])
def test_shapes_are_never_spread_silently(shape: tuple[int, ...]) -> None:
    sentence = r"^the model's output must have shape \(2, 1\), got"
    with pytest.raises(ShapeError, match=sentence):
        TASK.loss(torch.zeros(shape), batch_of([[1], [2]]))


def test_center_and_scale_travel_exactly() -> None:
    task = Regression(torch.tensor([1 / 3]), torch.tensor([0.1]))
    values = task.to_json()
    assert torch.equal(torch.tensor(values["center"]), task.center)
    assert torch.equal(torch.tensor(values["scale"]), task.scale)


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (1, "always the mean of the training rows, 1"),
        (5, "always the mean of the training rows, 1, 2, 3, 4, 5"),
        (7, "always the mean of the training rows, 1, 2, 3, 4, 5 and 2 more"),
    ],
)
def test_the_baseline_names_a_few_means(count: int, words: str) -> None:
    means = range(1, count + 1)
    rows = split_of([[mean - 1.0 for mean in means], [mean + 1.0 for mean in means]])
    assert Regression.fitted(rows).describe_baseline(rows, ()) == words


def test_normal_scores_are_learned_and_undone() -> None:
    # A fifth of the rows lies at each target: shares 0.1, 0.3 ... 0.9 of a normal distribution.
    rows = split_of([[1.0], [2.0], [4.0], [50.0], [1000.0]])
    task = Regression.fitted(rows, transform="quantile")
    assert task.normal_scores is not None
    wanted = [NormalDist().inv_cdf(share) for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
    assert task.normal_scores.scores[0].tolist() == pytest.approx(wanted, abs=1e-6)
    assert task.center.tolist() == pytest.approx([0], abs=1e-6)
    scores = torch.tensor(wanted)[:, None]
    output = (scores - task.center) / task.scale
    torch.testing.assert_close(task.predictions(output), rows.targets)
    assert task.loss(output, batch_of(rows.targets.tolist())).item() == pytest.approx(0, abs=1e-10)
    assert task.predictions(torch.tensor([[99.0], [-99.0]])).flatten().tolist() == [1000, 1]


def test_rows_that_do_not_count_have_no_part_in_normal_scores() -> None:
    rows = split_of([[1.0], [2.0], [4.0], [50.0], [1000.0]])
    task = Regression.fitted(weighed(rows, [1.0, 1.0, 1.0, 0.0, 0.0]), transform="quantile")
    assert task.normal_scores is not None
    assert task.normal_scores.knots.tolist() == [[1, 2, 4]]


def test_a_low_outlier_leaves_the_other_targets_apart() -> None:
    draw = torch.Generator().manual_seed(0)
    usual = torch.randn(1500, 1, generator=draw) * 2.4
    rows = split_of([*usual.tolist(), [-1e8]])
    task = Regression.fitted(rows, transform="quantile")
    found = task.predictions(torch.linspace(-2, 2, 100)[:, None])
    assert len(set(found.flatten().tolist())) == 100
    assert found.flatten().tolist() == pytest.approx(torch.linspace(-4.8, 4.8, 100), abs=0.7)


def test_weights_that_are_all_zero_are_refused_by_name() -> None:
    rows = weighed(split_of([[1.0], [2.0]]), [0.0, 0.0])
    with pytest.raises(DataError, match="weights must be >= 0 and not all zero"):
        Regression.fitted(rows, transform="quantile")
