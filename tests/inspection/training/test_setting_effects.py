"""Settings against values: one panel a setting, the best trial marked."""

import pytest

from netwright.core.errors import DataError
from netwright.inspection.training.setting_effects import SearchedSetting, measure_setting_effects

LR = SearchedSetting(name="train.lr", values=(0.1, 0.01, 0.001), ends=(1e-4, 1.0), is_log=True)
HIDDEN = SearchedSetting(name="model.hidden", values=(0.0, 1.0, 1.0), choices=("64", "128,64"))


def test_one_panel_a_setting_over_all_that_was_searched() -> None:
    view = measure_setting_effects(
        [0.5, 0.25, 0.75], [LR, HIDDEN], metric="val/loss", better="lower"
    )
    first, second = view.plot().axes
    assert (first.get_xscale(), first.get_xlim()) == ("log", (1e-4, 1.0))
    assert [label.get_text() for label in second.get_xticklabels()] == ["64", "128,64"]
    best = first.lines[1]
    assert (best.get_xdata()[0], best.get_ydata()[0]) == (0.01, 0.25)  # type: ignore[index]


def test_the_best_is_the_highest_where_higher_is_better_and_rows_grow_with_settings() -> None:
    view = measure_setting_effects([0.5, 0.9, 0.7], [LR] * 4, metric="acc", better="higher")
    axes = view.plot().axes
    assert len(axes) == 6  # the last two are empty
    assert axes[0].lines[1].get_ydata()[0] == 0.9  # type: ignore[index]
    assert (
        view.size[1] > measure_setting_effects([1.0] * 3, [LR], metric="a", better="lower").size[1]
    )


def test_what_does_not_fit_together_is_refused() -> None:
    with pytest.raises(DataError, match=r"^train\.lr must have a value in each of the 2 trials, "):
        measure_setting_effects([1.0, 2.0], [LR], metric="a", better="lower")
    with pytest.raises(DataError, match="need a complete trial and a setting, got none"):
        measure_setting_effects([], [LR], metric="a", better="lower")


def test_whole_numbers_have_whole_ticks() -> None:
    layers = SearchedSetting(name="layers", values=(1.0, 2.0, 2.0), ends=(1.0, 2.0), is_whole=True)
    view = measure_setting_effects([0.5, 0.9, 0.7], [layers], metric="acc", better="higher")
    ticks = view.plot().axes[0].get_xticks()
    assert [tick for tick in ticks if 1 <= tick <= 2] == [1.0, 2.0]
