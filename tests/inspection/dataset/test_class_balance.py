"""Class balance: shares by hand, captions that say what matters, labels, many classes."""

import pytest
import torch

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.dataset.class_balance import measure_class_balance
from netwright.inspection.drawing.wording import legend_name
from tests.inspection.drawn import HOSTILE, check_sound, words_on

SPLITS = {"train": torch.tensor([0, 0, 0, 1]), "test": torch.tensor([0, 1])}


def test_shares_by_hand() -> None:
    view = measure_class_balance(SPLITS, ("no", "yes", "never"))
    assert view.shares == {"train": (0.75, 0.25, 0.0), "test": (0.5, 0.5, 0.0)}


def test_caption_names_the_commonest_the_rarest_and_the_widest_gap() -> None:
    splits = {"train": torch.tensor([0, 0, 0, 1, 2, 2]), "test": torch.tensor([0, 1, 1])}
    assert measure_class_balance(splits, ("no", "yes", "maybe")).caption == (
        'In train the commonest class is "no" with 50.0 %, the rarest "yes" with 16.7 %. '
        'The splits differ most in "yes", by 50.0 percentage points.'
    )


def test_caption_says_where_all_are_the_same() -> None:
    balanced = {"train": torch.tensor([0, 1]), "test": torch.tensor([1, 0])}
    caption = measure_class_balance(balanced, ("a", "b")).caption
    assert caption == "In train every class makes up 50.0 %."


def test_labels_have_shares_of_their_own() -> None:
    labels = torch.tensor([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    view = measure_class_balance({"train": labels}, ("rain", "snow"))
    assert view.shares == {"train": (0.75, 0.25)}
    assert view.caption == (
        'In train the commonest label is "rain" with 75.0 %, the rarest "snow" with 25.0 %. '
        "An example may have several labels, or none."
    )


def test_bars_of_a_class_stand_side_by_side_around_its_name() -> None:
    axes = measure_class_balance(SPLITS, ("no", "yes")).plot().axes[0]
    train, test = (shape.get_data() for shape in axes.patches)  # type: ignore[attr-defined]
    assert train.edges.tolist() == pytest.approx([-0.4, 0.0, 0.6, 1.0])
    assert test.edges.tolist() == pytest.approx([0.0, 0.4, 1.0, 1.4])
    assert train.values.tolist() == [0.75, 0.0, 0.25]
    assert test.values.tolist() == [0.5, 0.0, 0.5]


@pytest.mark.parametrize("count", [1, 2, 5, 12, 100])
def test_every_number_of_classes_gives_a_sound_figure(count: int) -> None:
    names = [HOSTILE[index % 5] + str(index) for index in range(count)]
    splits = {name: torch.arange(count) for name in ("train", "val", "test", "a stranger")}
    view = measure_class_balance(splits, names)
    check_sound(view)
    assert {"train", "a stranger", "share of the examples"} <= set(words_on(view))


def test_a_split_that_begins_with_an_underscore_is_in_the_legend() -> None:
    (legend,) = measure_class_balance({"_old": SPLITS["train"]}, ("no", "yes")).plot().legends
    assert [text.get_text() for text in legend.get_texts()] == [legend_name("_old")]


def test_refusals() -> None:
    with pytest.raises(DataError, match=r"^splits must have at least one split, got none$"):
        measure_class_balance({}, ("a",))
    with pytest.raises(ShapeError, match=r"^the targets of test must not be empty"):
        measure_class_balance({**SPLITS, "test": torch.tensor([])}, ("no", "yes"))
    with pytest.raises(DataError, match=r"^the targets of train must lie in \[0, 1\), got 1$"):
        measure_class_balance(SPLITS, ("no",))
    with pytest.raises(
        ShapeError, match=r"^the targets of test must have shape \(N\), got \(1, 2\)$"
    ):
        measure_class_balance({**SPLITS, "test": torch.tensor([[0, 1]])}, ("no", "yes"))
    with pytest.raises(DataError, match=r"^targets must be 0 or 1, got 2.0$"):
        measure_class_balance({"train": torch.tensor([[0.0, 2.0]])}, ("no", "yes"))
    with pytest.raises(DataError, match=r"^class_names must hold 2 names, got 1$"):
        measure_class_balance({"train": torch.tensor([[0.0, 1.0]])}, ("no",))
