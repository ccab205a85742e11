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
