"""Feature importance: bars in order, a map of pixels, trees that never split."""

import pytest
import torch

from netwright.core.errors import ShapeError
from netwright.data.spec import DataSpec
from netwright.inspection.attribution.feature_importance import (
    MOST_BARS,
    FeatureImportance,
    PixelImportance,
    measure_feature_importance,
)
from tests.inspection.drawn import HOSTILE, check_sound, words_on
from tests.repetition import for_each


def features(*names: str, count: int | None = None) -> DataSpec:
    return DataSpec(
        inputs="features", input_shape=(count or len(names),), target="class", feature_names=names
    )


def images(*shape: int) -> DataSpec:
    return DataSpec(inputs="image", input_shape=shape, target="class")


def test_the_largest_comes_first() -> None:
    view = measure_feature_importance(torch.tensor([0.2, 0.5, 0.3]), features("a", "b", "c"))
    assert isinstance(view, FeatureImportance)
    assert view.names == ("b", "c", "a")
    assert view.shares == pytest.approx((0.5, 0.3, 0.2))
    assert view.caption.startswith(
        'Each feature\'s share of the total gain of all splits (3). "b" gained most, 50.0 %.'
    )
    lengths = [bar.get_width() for bar in view.plot().axes[0].patches]  # type: ignore[attr-defined]
    assert lengths == pytest.approx([0.5, 0.3, 0.2])


def test_few_of_many_are_shown_and_features_without_names_have_numbers() -> None:
    shares = torch.arange(50.0) / 1225
    view = measure_feature_importance(shares, features(count=50))
    assert isinstance(view, FeatureImportance)
    assert len(view.names) == MOST_BARS
    assert view.names[:2] == ("feature 50", "feature 49")
    assert f"({MOST_BARS} of 50)" in view.caption


def test_channels_of_an_image_are_added() -> None:
    shares = torch.tensor([[[0.0, 0.1], [0.2, 0.0]], [[0.0, 0.3], [0.4, 0.0]]])
    view = measure_feature_importance(shares.flatten(), images(2, 2, 2))
    assert isinstance(view, PixelImportance)
    assert [list(row) for row in view.shares] == [
        pytest.approx([0.0, 0.4]),
        pytest.approx([0.6, 0.0]),
    ]
    assert "row 2, column 1 gained most, 60.0 %; 2 of 4 were never used." in view.caption


@pytest.mark.parametrize("spec", [features("a", "b"), images(1, 1, 2)], ids=("bars", "pixels"))
def test_trees_that_never_split_are_told(spec: DataSpec) -> None:
    view = measure_feature_importance(torch.zeros(2), spec)
    assert view.caption.startswith("There is no split: every ")
    check_sound(view)


@pytest.mark.parametrize("count", [1, 5, 100])
def test_every_number_of_features_gives_a_sound_figure(count: int) -> None:
    names = [f"{HOSTILE[place % 5]}{place}" for place in range(count)]
    view = measure_feature_importance(torch.full((count,), 1 / count), features(*names))
    check_sound(view)
    assert "share of the gain" in words_on(view)


@for_each("shape", [(1, 8, 8), (3, 28, 28), (1, 1, 40), (1, 40, 1)])
def test_every_shape_of_image_gives_a_sound_figure(shape: tuple[int, ...]) -> None:
    count = torch.Size(shape).numel()
    shares = torch.rand(count, generator=torch.Generator().manual_seed(0))
    check_sound(measure_feature_importance(shares / shares.sum(), images(*shape)))


def test_importances_of_other_features_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"^importances must have shape \(2\), got \(3,\)$"):
        measure_feature_importance(torch.ones(3), features("a", "b"))
