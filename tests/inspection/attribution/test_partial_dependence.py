"""Partial dependence: means and intervals worked by hand, units, categories, and refusals."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.data.spec import DataSpec
from netwright.inspection.attribution.partial_dependence import (
    Dependence,
    PartialDependence,
    measure_partial_dependence,
)
from netwright.inspection.drawing.figure_style import styled
from tests.inspection.drawn import check_sound, words_on

NUMBERS = torch.Generator().manual_seed(0)
X = torch.cat(
    (
        torch.randn(200, 2, generator=NUMBERS),
        torch.eye(3)[torch.randint(3, (200,), generator=NUMBERS)],
    ),
    dim=1,
)
SPEC = DataSpec(
    inputs="features",
    input_shape=(5,),
    target="real",
    num_outputs=1,
    target_names=("y",),
    feature_names=("a", "b", "c=red", "c=blue", "c=green"),
    feature_groups=(0, 1, 2, 2, 2),
)
UNITS = (torch.tensor([10.0, 0, 0, 0, 0]).double(), torch.tensor([2.0, 1, 1, 1, 1]).double())


def additive(rows: Tensor) -> Tensor:
    """3 a + b, and 1, 2 or 4 by the category."""
    return (3 * rows[:, 0] + rows[:, 1] + rows[:, 2:] @ torch.tensor([1.0, 2.0, 4.0]))[:, None]


def measure(columns: tuple[str, ...] = ()) -> PartialDependence:
    return measure_partial_dependence(additive, X, SPEC, UNITS, columns=columns)


def test_a_line_is_a_line_in_the_column_s_own_units() -> None:
    view = measure(("a",))
    (one,) = view.columns
    values, means = torch.tensor(one.values), torch.tensor(one.means[0])
    slope = (means[1:] - means[:-1]) / (values[1:] - values[:-1])
    torch.testing.assert_close(slope, torch.full_like(slope, 1.5))  # 3 a unit of 2
    ends = torch.tensor([0.05, 0.95]).double()
    low, high = X[:, 0].double().quantile(ends, interpolation="nearest").tolist()
    assert [one.values[0], one.values[-1]] == pytest.approx([10 + 2 * low, 10 + 2 * high])
    others = additive(X)[:, 0] - 3 * X[:, 0]  # what rows have besides the column
    half = 1.96 * float(others.double().std(correction=0)) / 200**0.5
    assert one.halves[0] == pytest.approx([half] * len(values), rel=1e-5)


def test_categories_have_each_of_their_values() -> None:
    (one,) = measure(("c",)).columns
    assert one.categories == ("red", "blue", "green")
    means = one.means[0]
    assert [means[1] - means[0], means[2] - means[0]] == pytest.approx([1, 3])
    assert one.reach == pytest.approx(3)


def test_columns_and_categories_may_have_an_equals_sign_in_their_names() -> None:
    names = ("a", "b", "c=d=red", "c=d=x=1", "c=d=green")
    spec = replace(SPEC, feature_names=names)
    (one,) = measure_partial_dependence(additive, X, spec, UNITS, columns=("c=d",)).columns
    assert one.categories == ("red", "x=1", "green")


def test_what_moves_the_answer_most_comes_first() -> None:
    view = measure()
    assert [one.name for one in view.columns] == ["a", "b", "c"]
    assert '"a" moves it most' in view.caption
    assert len(view.table_rows()) == 3
    check_sound(view)
    check_sound(measure(("c",)))


def test_columns_of_one_name_are_measured_apart() -> None:
    names = ("a", "a", "c=red", "c=blue", "c=green")
    view = measure_partial_dependence(additive, X, replace(SPEC, feature_names=names), UNITS)
    first, second = (one.reach for one in view.columns if one.name == "a")
    assert [first, second] == [one.reach for one in measure(("a", "b")).columns]


def test_unknown_columns_are_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match="there is no column 'd' to learn from; there are a, b"):
        measure(("d",))
    with pytest.raises(ConfigError, match="nothing to move"):
        measure_partial_dependence(additive, X[:1], SPEC, UNITS, columns=("a",))


def test_intervals_of_probabilities_end_at_0_and_1_and_say_of_what_they_are() -> None:
    number = Dependence(
        name="a",
        values=(0.0, 1.0),
        categories=(),
        means=((0.1, 0.95),),
        halves=((0.3, 0.2),),
        reach=0.85,
    )
    category = replace(number, values=(), categories=("x", "y"), means=((0.0, 1 + 1e-7),))
    view = PartialDependence(
        columns=(number, category), outputs=("yes",), is_class=True, num_columns=2, num_rows=9
    )
    check_sound(view)
    assert "mean probability of yes" in words_on(view)
    with styled():
        left, right = view.plot().axes
    heights = np.asarray(left.collections[0].get_paths()[0].vertices)[:, 1]
    assert (heights.min(), heights.max()) == (0.0, 1.0)
    assert right.dataLim.ymax <= 1 + 1e-6


def test_several_outputs_have_a_legend_beside_the_panels() -> None:
    spec = replace(
        SPEC, target="class", num_outputs=3, target_names=(), class_names=("u", "v", "w")
    )
    logits = torch.tensor([[1.0], [0.0], [-1.0]])
    view = measure_partial_dependence(
        lambda rows: (rows[:, :1] @ logits.T).softmax(dim=1), X, spec, UNITS, columns=("a", "b")
    )
    with styled():
        figure = view.plot()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["u", "v", "w"]
    assert all(axes.get_legend() is None for axes in figure.axes)
