"""The confusion view: counts by hand, parity with scikit-learn, and what can be read off it."""

import numpy as np
import pytest
import torch
from sklearn.metrics import confusion_matrix
from torch import Tensor

from netwright.core.errors import DataError
from netwright.inspection.predictions.confusion import Confusion, measure_confusion
from tests.inspection.drawn import HOSTILE, check_sound, words_on
from tests.repetition import for_each


def answers(num_examples: int, num_classes: int) -> tuple[Tensor, Tensor]:
    """Targets, and probabilities that are mostly right."""
    generator = torch.Generator().manual_seed(0)
    targets = torch.randint(0, num_classes, (num_examples,), generator=generator)
    logits = torch.randn(num_examples, num_classes, generator=generator)
    logits[torch.arange(num_examples), targets] += 2.0
    return targets, logits.softmax(dim=1)


def matrix(*rows: tuple[float, ...]) -> Confusion:
    names = tuple("abcdefghijklmnopqrstuvwxyz"[: len(rows)])
    return Confusion(class_names=names, counts=rows)


def test_rows_are_true_and_columns_predicted() -> None:
    probabilities = torch.tensor([[0.9, 0.1, 0.0], [0.2, 0.1, 0.7], [0.1, 0.8, 0.1]])
    view = measure_confusion(torch.tensor([0, 0, 1]), probabilities, ("a", "b", "c"))
    assert view.counts == ((1, 0, 1), (0, 1, 0), (0, 0, 0))


def test_caption_of_a_sample_says_that_it_is_one() -> None:
    targets, probabilities = answers(20, 2)
    view = measure_confusion(targets, probabilities, ("a", "b"), is_sample=True)
    assert " of 20 in a sample of the split are right (" in view.caption


def test_counts_are_those_of_scikit_learn() -> None:
    targets, probabilities = answers(200, 7)
    view = measure_confusion(targets, probabilities, tuple("abcdefg"))
    wanted = confusion_matrix(targets.numpy(), probabilities.argmax(dim=1).numpy())
    assert [list(row) for row in view.counts] == wanted.tolist()


def test_weights_are_summed() -> None:
    targets, probabilities = answers(50, 2)
    view = measure_confusion(targets, probabilities, ("a", "b"), torch.full((50,), 0.5))
    assert sum(map(sum, view.counts)) == 25.0


def test_caption_names_the_most_frequent_confusion() -> None:
    caption = matrix((90.0, 10.0, 0.0), (3.0, 0.0, 12.0), (1.0, 0.0, 4.0)).caption
    assert caption.startswith(
        '94 of 120 are right (78.3 %). Confused most: "b" predicted as "c", 12 of '
    )
    assert "12 of 15." in caption


def test_caption_says_where_nothing_is_confused() -> None:
    assert "100.0 %). Nothing is confused." in matrix((2.0, 0.0), (0.0, 3.0)).caption


def test_few_classes_show_counts_with_shares_and_empty_cells_nothing() -> None:
    words = words_on(matrix((1_930.0, 3.0), (0.0, 12.0)))
    assert {"1,930\n99.8 %", "3\n0.2 %", "12\n100.0 %"} <= set(words)
    assert not any(word.startswith("0\n") for word in words)


def test_more_classes_show_counts() -> None:
    targets, probabilities = answers(300, 10)
    view = measure_confusion(targets, probabilities, tuple("abcdefghij"))
    assert f"{view.counts[4][4]:.0f}" in words_on(view)
    assert "percent" not in view.caption


@pytest.mark.slow
def test_counts_too_long_for_their_cells_are_shown_as_percent_of_the_row() -> None:
    size = 20
    rows = tuple(
        tuple(8_000_000.0 if row == column else 1_000.0 for column in range(size))
        for row in range(size)
    )
    view = matrix(*rows)
    assert {"100", "<1"} <= set(words_on(view))
    assert view.caption.endswith("Numbers are percent of the row.")


@pytest.mark.parametrize(("count", "has_numbers"), [(30, True), (31, False)])
def test_very_many_classes_have_no_numbers(count: int, has_numbers: bool) -> None:
    targets, probabilities = answers(5 * count, count)
    view = measure_confusion(targets, probabilities, [f"n{index}" for index in range(count)])
    names = [f"n{index}" for index in range(count)]
    numbers = set(words_on(view)) - {*names, "true", "predicted"}
    assert bool(numbers) == has_numbers


def test_right_is_blue_and_wrong_is_orange_the_darker_the_larger_its_share() -> None:
    axes = matrix((75.0, 25.0), (0.0, 0.0)).plot().axes[0]
    red, green, blue = np.array(axes.images[0].get_array()).transpose(2, 0, 1)
    assert blue[0, 0] > red[0, 0]
    assert red[0, 1] > blue[0, 1]
    assert green[0, 0] < green[0, 1] < 1
    assert (red[1, 0], green[1, 0], blue[1, 0]) == (1, 1, 1)


@for_each("count", [2, 5, 12, 41, 100])
def test_every_number_of_classes_gives_a_sound_figure(count: int) -> None:
    targets, probabilities = answers(3 * count, count)
    names = [HOSTILE[index % 5] + str(index) for index in range(count)]
    view = measure_confusion(targets, probabilities, names)
    check_sound(view)
    assert max(view.size) < 9


def test_hostile_names_stay_text() -> None:
    targets, probabilities = answers(40, 5)
    words = words_on(measure_confusion(targets, probabilities, HOSTILE))
    assert {"<script>alert(1)<…", r"$\frac{", "(empty)", r"two lines\x00"} <= set(words)


def test_names_are_as_many_as_classes() -> None:
    targets, probabilities = answers(5, 3)
    with pytest.raises(DataError, match=r"^class_names must hold 3 names, got 2$"):
        measure_confusion(targets, probabilities, ("a", "b"))
