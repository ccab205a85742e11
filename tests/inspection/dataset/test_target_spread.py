"""The spread of targets: shares, means and deviations by hand, one scale for all splits."""

import pytest
import torch

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.dataset.target_spread import MOST_OUTPUTS, measure_target_spread
from netwright.inspection.drawing.wording import legend_name
from tests.inspection.drawn import HOSTILE, check_sound, words_on
from tests.repetition import for_each

SPLITS = {"train": torch.tensor([[0.0], [0.0], [2.0], [2.0]]), "test": torch.tensor([[10.0]])}


def test_numbers_by_hand() -> None:
    (output,) = measure_target_spread(SPLITS, ("price",)).outputs
    assert output.edges == (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)
    assert output.shares == {"train": (0.5, 0.5, 0, 0, 0), "test": (0, 0, 0, 0, 1.0)}
    assert output.means == {"train": 1.0, "test": 10.0}
    assert output.deviations == {"train": 1.0, "test": 0.0}


def test_caption_gives_mean_and_deviation_of_the_first_split() -> None:
    caption = measure_target_spread(SPLITS, ("price",)).caption
    assert caption.startswith('Mean and standard deviation in train: "price" 1 and 1.')


def test_bins_are_as_many_as_the_largest_split_allows() -> None:
    splits = {"train": torch.arange(10.0)[:, None], "test": torch.arange(400.0)[:, None]}
    (output,) = measure_target_spread(splits, ("y",)).outputs
    assert len(output.edges) == 21 + 1


@for_each(("count", "panels"), [(1, 1), (2, 2), (3, 3), (6, MOST_OUTPUTS)])
def test_one_panel_a_target_and_no_empty_one(count: int, panels: int) -> None:
    values = torch.randn(20, count, generator=torch.Generator().manual_seed(0))
    view = measure_target_spread({"train": values, "test": values[:3]}, tuple("abcdef"[:count]))
    assert len(view.plot().axes) == panels
    assert [one.means["train"] for one in view.outputs] == pytest.approx(
        values.double().mean(dim=0)[:panels].tolist()
    )
    left_out = "The first 4 of 6 targets are shown."
    assert view.caption.endswith(left_out) == (count > MOST_OUTPUTS)


@pytest.mark.slow
def test_hostile_names_and_constants_give_a_sound_figure() -> None:
    view = measure_target_spread({"train": torch.ones(3, 4)}, HOSTILE[:4])
    check_sound(view)
    assert {"train", "<script>alert(1)</script>", r"$\frac{", "(empty)"} <= set(words_on(view))


def test_a_split_that_begins_with_an_underscore_is_in_the_legend() -> None:
    (legend,) = measure_target_spread({"_old": torch.tensor([[1.0], [2.0]])}, ("y",)).plot().legends
    assert [text.get_text() for text in legend.get_texts()] == [legend_name("_old")]


def test_refusals() -> None:
    with pytest.raises(DataError, match=r"^splits must have at least one split, got none$"):
        measure_target_spread({}, ("y",))
    with pytest.raises(ShapeError, match=r"^the targets of train must have shape \(N, 2\)"):
        measure_target_spread(SPLITS, ("y", "z"))
    with pytest.raises(
        DataError, match=r"^the targets of train must be finite, got inf at \[0, 0\]"
    ):
        measure_target_spread({"train": torch.tensor([[torch.inf]])}, ("y",))
    with pytest.raises(ShapeError, match=r"^the targets of train must not be empty"):
        measure_target_spread({"train": torch.ones(0, 1)}, ("y",))
