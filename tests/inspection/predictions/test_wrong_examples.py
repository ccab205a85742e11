"""Examples worth a look: chosen and ordered by hand, told in words, shown as pictures or bars."""

import math

import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError, DataError
from netwright.inspection.drawing.page import table
from netwright.inspection.predictions.wrong_examples import WrongExamples, measure_wrong_examples
from tests.inspection.drawn import HOSTILE, check_sound, words_on

NAMES = ("cat", "dog", "owl")
TARGETS = torch.tensor([0, 0, 0, 1, 2, 2])
PROBABILITIES = torch.tensor(
    [
        [0.90, 0.06, 0.04],  # right, surely
        [0.30, 0.60, 0.10],  # cat, said dog
        [0.01, 0.02, 0.97],  # cat, said owl
        [0.45, 0.50, 0.05],  # right, barely
        [0.28, 0.28, 0.44],  # right, with a larger lead
        [0.80, 0.15, 0.05],  # owl, said cat
    ]
)
FEATURES = torch.zeros(6, 4)


def measure(**options: object) -> WrongExamples:
    return measure_wrong_examples(FEATURES, TARGETS, PROBABILITIES, NAMES, **options)  # type: ignore[arg-type]


def test_the_surest_mistake_and_the_barest_success_come_first() -> None:
    view = measure()
    assert [one.row for one in view.mistakes] == [2, 5, 1]
    assert [one.row for one in view.barely_right] == [3, 4, 0]
    assert (view.num_wrong, view.num_examples) == (3, 6)


def test_an_example_by_hand() -> None:
    worst = measure().mistakes[0]
    assert (worst.true_name, worst.predicted_name, worst.runner_up_name) == ("cat", "owl", "dog")
    assert (worst.p_true, worst.p_predicted, worst.p_runner_up) == pytest.approx((0.01, 0.97, 0.02))
    assert worst.loss == pytest.approx(-math.log(0.01), rel=1e-6)
    assert worst.kind == "confident mistake"
    barest = measure().barely_right[0]
    assert (barest.true_name, barest.predicted_name, barest.runner_up_name) == ("dog", "dog", "cat")
    assert (barest.p_true, barest.p_predicted, barest.p_runner_up) == pytest.approx(
        (0.5, 0.5, 0.45)
    )
    assert barest.kind == "barely right"


def test_a_threshold_decides_what_is_wrong() -> None:
    """Above 0.2 the second is predicted: rows 1 and 3 are then wrong and barely right."""
    chances = torch.tensor([0.1, 0.4, 0.9, 0.3])
    view = measure_wrong_examples(
        torch.zeros(4, 2),
        torch.tensor([0, 0, 1, 1]),
        torch.stack((1 - chances, chances), dim=1),
        ("no", "yes"),
        threshold=0.2,
    )
    (mistake,) = view.mistakes
    assert (mistake.row, mistake.predicted_name, mistake.runner_up_name) == (1, "yes", "no")
    assert mistake.p_predicted == pytest.approx(0.4)
    assert [one.row for one in view.barely_right] == [0, 3, 2]
    assert "yes is predicted above probability 0.2" in view.caption


def test_examples_of_a_sample_are_named_by_their_rows_in_the_split() -> None:
    view = measure(rows=torch.arange(0, 60, 10))
    assert [one.row for one in view.mistakes] == [20, 50, 10]
    assert [one.row for one in view.barely_right] == [30, 40, 0]
    assert view.mistakes[0].p_predicted == measure().mistakes[0].p_predicted
    assert view.caption.startswith("Wrong: 3 of 6 examples (50.0 %), a sample of the split. ")


def test_the_caption_says_what_a_row_is() -> None:
    assert measure().caption == (
        "Wrong: 3 of 6 examples (50.0 %). Confident mistakes: the predicted class is wrong; the "
        "most confident comes first. Barely right: the smallest lead over the runner-up comes "
        "first. Rows "
        "are counted from 0 within the split."
    )


def test_a_probability_of_zero_has_a_finite_loss() -> None:
    view = measure_wrong_examples(
        FEATURES[:1], torch.tensor([1]), torch.tensor([[1.0, 0.0]]), ("a", "b")
    )
    assert view.mistakes[0].loss == pytest.approx(-math.log(torch.finfo(torch.float32).eps))


def test_no_more_than_asked_for() -> None:
    view = measure(count=2)
    assert [one.row for one in view.mistakes] == [2, 5]
    assert [one.row for one in view.barely_right] == [3, 4]
    assert "Confident mistakes: 2 of 3" in words_on(view)


def test_among_equals_the_first_row_comes_first() -> None:
    same = torch.full((5, 2), 0.5)
    view = measure_wrong_examples(FEATURES[:5], torch.tensor([0, 1, 0, 1, 1]), same, ("a", "b"))
    assert [one.row for one in view.mistakes] == [1, 3, 4]
    assert [one.row for one in view.barely_right] == [0, 2]
    assert {one.runner_up_name for one in view.mistakes} == {"b"}


def test_table_rows_hold_what_a_page_shows() -> None:
    rows = measure().table_rows()
    assert len(rows) == 6
    assert rows[0] == {
        "kind": "confident mistake",
        "row": "2",
        "true": "cat",
        "predicted": "owl",
        "runner-up": "dog",
        "p(true)": "1.0 %",
        "p(predicted)": "97.0 %",
        "p(runner-up)": "2.0 %",
        "loss": "4.605",
    }
    assert "<script>" not in table([{**rows[0], "true": "<script>"}])


def test_features_show_bars_of_the_true_class_and_of_its_rival() -> None:
    view = measure()
    words = words_on(view)
    assert {"row 2: cat, said owl", "row 3: dog, or cat", "runner-up"} <= set(words)
    mistakes, right = view.plot().axes
    lengths = [[bar.get_width() for bar in axes.patches] for axes in (mistakes, right)]  # type: ignore[attr-defined]
    assert lengths[0] == pytest.approx([0.01, 0.05, 0.3, 0.97, 0.8, 0.6])
    assert lengths[1] == pytest.approx([0.5, 0.44, 0.9, 0.45, 0.28, 0.06])


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 8, 8)])
def test_images_are_shown_with_their_story(shape: tuple[int, ...]) -> None:
    inputs = torch.rand(6, *shape, generator=torch.Generator().manual_seed(0))
    view = measure_wrong_examples(inputs, TARGETS, PROBABILITIES, NAMES)
    assert {"true cat\nsaid owl (97 %)\nrow 2", "dog (50 %)\nor cat (45 %)\nrow 3"} <= set(
        words_on(view)
    )
    mistakes, right = view.plot().axes
    assert len(mistakes.images) == len(right.images) == 3
    pixels = torch.tensor(view.mistakes[0].pixels)
    wanted = inputs[2].permute(1, 2, 0).squeeze(-1)
    assert pixels.shape == wanted.shape
    assert pixels.flatten()[wanted.argmax()] == 255
    check_sound(view)


def test_features_that_are_pixels_are_shown_as_images() -> None:
    inputs = torch.rand(6, 64, generator=torch.Generator().manual_seed(0))
    view = measure_wrong_examples(inputs, TARGETS, PROBABILITIES, NAMES, image_shape=(8, 8))
    assert len(view.mistakes[0].pixels or ()) == 8
    assert measure().mistakes[0].pixels is None


@pytest.mark.parametrize(
    ("probabilities", "panels", "caption"),
    [
        (torch.tensor([[0.9, 0.1], [0.2, 0.8]]), ["Barely right: 2"], "Wrong: 0 of 2 examples (0"),
        (torch.tensor([[0.1, 0.9], [0.8, 0.2]]), ["Confident mistakes: 2"], "Wrong: 2 of 2"),
    ],
)
def test_a_list_without_examples_is_not_drawn(
    probabilities: Tensor, panels: list[str], caption: str
) -> None:
    view = measure_wrong_examples(FEATURES[:2], torch.tensor([0, 1]), probabilities, ("a", "b"))
    assert [axes.get_title(loc="left") for axes in view.plot().axes] == panels
    assert view.caption.startswith(caption)
    assert ("Barely right:" in view.caption) == (panels[0].startswith("Barely"))
    check_sound(view)


@pytest.mark.parametrize("inputs", [torch.zeros(40, 4), torch.zeros(40, 3, 9, 30)])
def test_hostile_names_give_a_sound_figure(inputs: Tensor) -> None:
    generator = torch.Generator().manual_seed(0)
    probabilities = torch.rand(40, 5, generator=generator).softmax(dim=1)
    targets = torch.arange(40) % 5
    view = measure_wrong_examples(inputs, targets, probabilities, HOSTILE)
    check_sound(view)
    assert len(view.mistakes) == 12


def test_refusals() -> None:
    with pytest.raises(ConfigError, match=r"^count must be positive, got 0$"):
        measure(count=0)
    with pytest.raises(DataError, match=r"^inputs must be as many as targets, 6, got 5$"):
        measure_wrong_examples(FEATURES[:5], TARGETS, PROBABILITIES, NAMES)
    with pytest.raises(DataError, match=r"^class_names must hold 3 names, got 1$"):
        measure_wrong_examples(FEATURES, TARGETS, PROBABILITIES, ("a",))
    with pytest.raises(DataError, match=r"^probabilities must lie in \[0, 1\], got 9.7$"):
        measure_wrong_examples(FEATURES, TARGETS, 10 * PROBABILITIES, NAMES)
    with pytest.raises(DataError, match=r"^there must be at least 2 classes, got 1$"):
        measure_wrong_examples(FEATURES, 0 * TARGETS, torch.ones(6, 1), ("a",))
