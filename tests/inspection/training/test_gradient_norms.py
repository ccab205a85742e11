"""The curve of gradient norms: its sums by hand, layers that did not learn, and a sound picture."""

import pytest

from netwright.core.errors import DataError
from netwright.inspection.training.gradient_flow import TrainedGradients
from netwright.inspection.training.gradient_norms import MOST_LAYERS, measure_gradient_norms
from tests.inspection.drawn import check_sound, words_on

TRAINED = TrainedGradients(
    layers=("hidden", "frozen", "head"),
    steps=(1, 2, 1000),
    norms=((3.0, 6.0, 0.0), (None, None, None), (4.0, 8.0, 0.5)),
)


def test_the_whole_is_as_long_as_its_layers_together() -> None:
    view = measure_gradient_norms(TRAINED)
    assert view.whole == pytest.approx((5.0, 10.0, 0.5))
    assert view.norms == TRAINED.norms


def test_it_tells_where_the_norm_began_peaked_and_ended() -> None:
    caption = measure_gradient_norms(TRAINED).caption
    assert "at 3 watched steps: 5 at step 1, at most 10 at step 2, 0.5 at step 1,000." in caption
    assert "of 2 of 3 layers" in caption  # one never learned
    rising = TrainedGradients(layers=("a",), steps=(1, 9), norms=((1.0, 2.0),))
    assert "steps: 1 at step 1, at most 2 at step 9. " in measure_gradient_norms(rising).caption


def test_a_layer_that_never_learned_has_no_row() -> None:
    rows = measure_gradient_norms(TRAINED).table_rows()
    assert [row["layer"] for row in rows] == ["all layers", "hidden", "head"]
    assert rows[1] == {"layer": "hidden", "first": "3", "largest": "6", "last": "0"}


def test_it_is_drawn_with_a_line_a_layer() -> None:
    view = measure_gradient_norms(TRAINED)
    assert {"step", "norm", "hidden", "head", "all layers"} <= set(words_on(view))
    assert "frozen" not in words_on(view)
    check_sound(view)


def test_of_many_layers_some_are_drawn_from_the_first_to_the_last() -> None:
    names = tuple(f"layer {place}" for place in range(20))
    trained = TrainedGradients(layers=names, steps=(1, 2), norms=((1.0, 2.0),) * 20)
    view = measure_gradient_norms(trained)
    drawn = {name for name in words_on(view) if name in names}
    assert {"layer 0", "layer 19"} <= drawn
    assert len(drawn) == MOST_LAYERS
    assert f"of {MOST_LAYERS} of 20 layers" in view.caption


def test_gradients_that_are_all_nothing_are_drawn_too() -> None:
    check_sound(
        measure_gradient_norms(TrainedGradients(layers=("a",), steps=(1, 2), norms=((0.0, 0.0),)))
    )


def test_one_step_is_no_curve() -> None:
    single = TrainedGradients(layers=("a",), steps=(1,), norms=((1.0,),))
    with pytest.raises(DataError, match="a curve takes 2 steps or more, got 1"):
        measure_gradient_norms(single)
