"""Normal scores of targets: against NumPy's interpolation, there and back; refusals."""

import numpy as np
import pytest
import torch

from netwright.core.errors import DataError
from netwright.losses.normal_scores import (
    TOGETHER,
    NormalScores,
    bend,
    bend_all,
    check_scores,
    stacked_scores,
)

CURVES = [((1.0, 2.0, 100.0), (-1.0, 0.0, 1.0)), ((0.0, 5.0), (-0.5, 0.5))]


def test_lines_are_those_of_numpy_and_level_beyond_the_ends() -> None:
    found = stacked_scores(CURVES)
    values = torch.linspace(-20, 150, 40)[:, None].expand(-1, 2)
    bent, back = bend(values, *found), bend(bend(values, *found), found.scores, found.knots)
    for place, (knots, scores) in enumerate(CURVES):
        column = values[:, place].numpy()
        wanted = np.interp(column, knots, scores)
        np.testing.assert_allclose(bent[:, place], wanted, atol=1e-6)
        inside = np.clip(column, knots[0], knots[-1])
        np.testing.assert_allclose(back[:, place], inside, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("outliers", [(-1e8,), (1e8,), (-1e8, 1e8), (-1e8, -9e7, -8e7)])
def test_outliers_take_no_digits_from_the_other_targets(outliers: tuple[float, ...]) -> None:
    draw = np.random.default_rng(0)
    usual = draw.normal(scale=2.4, size=150)
    knots = np.sort(np.array([*usual, *outliers], np.float32)).tolist()
    scores = np.linspace(-3, 3, len(knots), dtype=np.float32).tolist()
    found = stacked_scores([(knots, scores), ((-1.0, 1.0), (-1.0, 1.0))])  # one filled up, too
    values = torch.tensor(knots)[:, None].expand(-1, 2)
    bent = bend(values, *found)
    np.testing.assert_allclose(bent[:, 0], scores, atol=1e-6)
    back = bend(bent, found.scores, found.knots)
    np.testing.assert_allclose(back[:, 0], knots, rtol=1e-5, atol=1e-5)
    between = torch.tensor(usual, dtype=torch.float32)[:, None].expand(-1, 2)
    halves = bend(bend(between + 1e-3, *found), found.scores, found.knots)[:, 0]
    inside = (between[:, 0] > usual.min()) & (between[:, 0] < usual.max() - 1e-3)
    np.testing.assert_allclose(halves[inside], between[inside, 0] + 1e-3, atol=1e-4)


def test_tiny_targets_go_there_and_back() -> None:
    knots = np.array([1, 2, 5, 9], np.float32) * np.float32(1e-33)
    found = stacked_scores([(knots.tolist(), (-1.0, -0.25, 0.25, 1.0))])
    values = torch.tensor([1.5, 2, 3.5, 9], dtype=torch.float32)[:, None] * 1e-33
    bent = bend(values, *found)
    assert bent.flatten().tolist() == pytest.approx([-0.625, -0.25, 0, 1], abs=1e-6)
    back = bend(bent, found.scores, found.knots)
    assert (back / 1e-33).flatten().tolist() == pytest.approx([1.5, 2, 3.5, 9], rel=1e-5)


def test_what_is_no_number_stays_none_and_one_knot_is_one_answer() -> None:
    found = stacked_scores(CURVES)
    bent = bend(torch.tensor([[float("nan"), float("inf")]]), *found)
    assert bent[0, 0].isnan() and bent[0, 1] == 0.5
    assert bend(torch.tensor([[1.0], [9.0]]), *stacked_scores([((4.0,), (0.0,))])).tolist() == [
        [0],
        [0],
    ]


def test_many_rows_are_bent_some_at_a_time() -> None:
    found = stacked_scores(CURVES)
    values = torch.linspace(0, 100, 2 * (TOGETHER + 3)).reshape(-1, 2)
    assert torch.equal(bend_all(values, *found), bend(values, *found))


def test_what_no_training_gives_is_refused() -> None:
    good = stacked_scores(CURVES)
    check_scores(good, 2)
    falling = NormalScores(good.knots, -good.scores)
    shorter = NormalScores(good.knots[:, :2], good.scores)
    for wrong, outputs in ((good, 1), (falling, 2), (shorter, 2)):
        with pytest.raises(DataError, match=f"rising knots and scores of {outputs} reals"):
            check_scores(wrong, outputs)
