"""The curves of the schedules: their ends by hand, the plateau, and a sound picture."""

import pytest

from netwright.core.errors import UnknownNameError
from netwright.inspection.training.learning_rates import measure_learning_rates
from netwright.optimizers.schedules import SCHEDULES
from tests.inspection.drawn import check_sound, words_on


@pytest.mark.slow
def test_every_schedule_is_drawn_from_its_first_step_to_its_last() -> None:
    view = measure_learning_rates()
    assert view.names == tuple(SCHEDULES)
    assert {len(row) for row in view.shares} == {30 * 20 + 1}
    rates = dict(zip(view.names, view.shares, strict=True))
    assert set(rates["constant"]) == {1.0}
    assert rates["linear"][::150] == pytest.approx([1, 0.75, 0.5, 0.25, 0])
    assert rates["step"][::200] == pytest.approx([1, 0.1, 0.01, 0.001])
    assert rates["exponential"][20] == pytest.approx(0.95)
    assert {*SCHEDULES, "epochs", "share of the learning rate"} <= set(words_on(view))
    check_sound(view)


def test_the_plateau_schedule_sees_a_loss_that_stays_from_halfway_on() -> None:
    view = measure_learning_rates(["plateau"])
    # The best loss comes after epoch 15, five are put up with, the sixth is one too many.
    found = view.shares[0]
    assert (found[20 * 21 - 1], found[20 * 21]) == pytest.approx((1.0, 0.1))
    assert (found[20 * 27 - 1], found[20 * 27]) == pytest.approx((0.1, 0.01))
    assert "a loss that stops getting better halfway" in view.caption
    check_sound(view)


def test_a_warm_up_is_drawn_and_said() -> None:
    warm = measure_learning_rates(["linear"], epochs=2, steps_per_epoch=10, warmup=4)
    cold = measure_learning_rates(["linear"], epochs=2, steps_per_epoch=10)
    assert warm.shares[0][:5] == (0.25, 0.5, 0.75, 1.0, 1.0)
    assert "after 4 steps of warm-up" in warm.caption
    assert "warm-up" not in cold.caption


def test_an_unknown_schedule_is_refused() -> None:
    with pytest.raises(UnknownNameError, match=r"^unknown schedule 'stepp'; did you mean 'step'"):
        measure_learning_rates(["stepp"])
