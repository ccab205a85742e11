"""Tables of words by hand: neighbours, what changed, the ends of features, and refusals."""

import pytest
import torch

from netwright.core.errors import DataError, ShapeError
from netwright.inspection.inside.word_tables import (
    measure_similar_words,
    measure_vector_dimensions,
    tabulate_words_by_epoch,
)

NAMES = ["left", "right", "up", "upper"]
VECTORS = torch.tensor([[-3.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.5, 4.0]])


def test_neighbours_come_by_their_cosine() -> None:
    view = measure_similar_words(VECTORS, NAMES, [2, 1])
    (up, near_up), (right, near_right) = view.lines  # type: ignore[attr-defined]
    assert (up, right) == ("up", "right")
    assert near_up[0].text == "upper 0.99"
    assert [cell.text.split()[0] for cell in near_right] == ["upper", "up", "left"]
    assert near_right[2].shade == pytest.approx(-1)
    assert view.table_rows()[0]["1."] == "upper 0.99"
    assert len(view.image("svg")) > 1000


def test_a_feature_has_words_at_both_ends() -> None:
    view = measure_vector_dimensions(VECTORS, NAMES)
    first, cells = view.lines[0]  # type: ignore[attr-defined]
    assert first == "feature 1"  # the one that varies most
    assert [cell.text for cell in cells] == ["left -1.00", "up 0.00", "upper 0.12", "right 1.00"]
    assert "need not have a meaning" in view.caption


def test_what_changed_between_epochs_is_counted() -> None:
    view = tabulate_words_by_epoch(
        ["up", "left"], [1, 5], [[["upper"], ["right"]], [["upper"], ["down"]]]
    )
    assert "1 of 2 columns changed" in view.caption
    assert [name for name, _ in view.lines] == ["epoch 1", "epoch 5"]  # type: ignore[attr-defined]
    alone = tabulate_words_by_epoch(["up"], [1], [[["upper"]]])
    assert "changed" not in alone.caption


def test_names_and_vectors_must_fit() -> None:
    with pytest.raises(ShapeError, match="vectors"):
        measure_similar_words(VECTORS, NAMES[:2], [0])
    with pytest.raises(DataError, match="got 1 of them"):
        measure_vector_dimensions(VECTORS[:1], NAMES[:1])
