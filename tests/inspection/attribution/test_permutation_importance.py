"""Permutation importance: what is not read counts nothing; parity with scikit-learn."""

from dataclasses import replace

import pytest
import torch
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression
from torch import Tensor

from netwright.core.errors import ConfigError, ShapeError
from netwright.data.spec import DataSpec
from netwright.inspection.attribution import permutation_importance as here
from netwright.inspection.attribution.permutation_importance import measure_permutation_importance
from tests.inspection.drawn import check_sound

REALS = DataSpec(
    inputs="features",
    input_shape=(3,),
    target="real",
    num_outputs=1,
    feature_names=("a", "b", "c"),
)
CLASSES = replace(REALS, target="class", num_outputs=2, feature_names=("n", "c=x", "c=y"))


def rows(n: int = 200) -> Tensor:
    return torch.randn(n, 3, generator=torch.Generator().manual_seed(0))


def test_a_column_that_is_not_read_counts_nothing_and_one_that_is_twice_its_share() -> None:
    x = rows(400)
    y = 3 * x[:, :1] + x[:, 1:2]
    view = measure_permutation_importance(lambda x: 3 * x[:, :1] + x[:, 1:2], x, y, REALS)
    assert view.names == ("a", "b", "c")
    assert (view.rises[2], view.spreads[2], view.loss) == (0, 0, 0)
    # Shuffling adds twice the variance that comes from the column: 9 and 1 of 10.
    assert view.rises[:2] == pytest.approx((1.8, 0.2), rel=0.15)


def test_it_is_scikit_learns_up_to_the_shuffles() -> None:
    x = rows(300)
    y = x @ torch.tensor([[1.0], [-2], [0.5]]) + 0.1 * rows(300)[:, :1].flip(0)
    model = LinearRegression().fit(x.numpy(), y.numpy())
    found = measure_permutation_importance(
        lambda x: torch.from_numpy(model.predict(x.numpy())), x, y, REALS, repeats=30
    )
    theirs = permutation_importance(model, x.numpy(), y.numpy(), n_repeats=30, random_state=0)
    ours = dict(zip(found.names, found.rises, strict=True))
    assert [ours[name] for name in "abc"] == pytest.approx(theirs.importances_mean, rel=0.06)


def test_the_features_of_a_category_are_shuffled_together_under_its_name() -> None:
    spec = replace(CLASSES, feature_groups=(0, 1, 1))
    x = torch.cat((rows(90)[:, :1], torch.eye(2).repeat(45, 1)), dim=1)
    seen: list[Tensor] = []

    def predict(x: Tensor) -> Tensor:
        seen.append(x)
        return torch.where(x[:, 1:] > 0, 0.9, 0.1)

    view = measure_permutation_importance(predict, x, x[:, 2].long(), spec)
    assert view.names == ("c", "n")
    assert view.rises[0] > 0.5
    assert view.rises[1] == 0
    assert all(bool((one[:, 1:].sum(1) == 1).all()) for one in seen)  # no row is of two categories
    assert view.loss == pytest.approx(-torch.tensor(0.9).log().item())


def test_many_columns_are_asked_about_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(here, "PREDICTIONS", 3 * 5 * 60)
    view = measure_permutation_importance(lambda x: x[:, :1], rows(), rows()[:, :1], REALS)
    assert view.num_rows == 60
    monkeypatch.setattr(here, "PREDICTIONS", 1)
    view = measure_permutation_importance(lambda x: x[:, :1], rows(), rows()[:, :1], REALS)
    assert view.num_rows == here.FEWEST_ROWS


def test_rows_without_weight_are_not_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(here, "FEWEST_ROWS", 10)
    monkeypatch.setattr(here, "PREDICTIONS", 10)
    x, counts = rows(400), torch.zeros(400)
    counts[1:40:2] = 1
    y = x[:, :1]
    view = measure_permutation_importance(lambda x: 2 * x[:, :1], x, y, REALS, weights=counts)
    assert view.num_rows == 10
    kept = x[counts > 0]
    alone = measure_permutation_importance(lambda x: 2 * x[:, :1], kept, kept[:, :1], REALS)
    assert (view.loss, view.rises) == (alone.loss, alone.rises)


def test_the_seed_decides_and_bad_values_are_refused() -> None:
    def measured(seed: int) -> tuple[float, ...]:
        given = (rows(), rows()[:, :1])
        return measure_permutation_importance(lambda x: x[:, :1], *given, REALS, seed=seed).rises

    assert measured(1) == measured(1) != measured(2)
    with pytest.raises(ConfigError, match="repeats must be positive"):
        measure_permutation_importance(lambda x: x, rows(), rows(), REALS, repeats=0)
    with pytest.raises(ShapeError, match="inputs must have shape"):
        measure_permutation_importance(lambda x: x, rows()[:, :2], rows(), REALS)


def test_it_draws_what_it_says() -> None:
    view = measure_permutation_importance(lambda x: x[:, :1], rows(), rows()[:, :1], REALS)
    check_sound(view)
    assert view.table_rows()[0]["column"] == "a"
