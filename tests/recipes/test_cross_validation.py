"""The result of cross-validation: its mean, its honest interval, its words."""

import json
import math

import pytest

from netwright.recipes.cross_validation import COVERAGE, CrossValidation, Fold


def result(*scores: float, repeats: int = 1) -> CrossValidation:
    k = len(scores) // repeats
    folds = tuple(
        Fold(
            repeat=place // k + 1,
            fold=place % k + 1,
            trained_on=80,
            held_out=20,
            metrics={"accuracy": score},
            baseline={"accuracy": 0.5},
            seconds=0.25,
        )
        for place, score in enumerate(scores)
    )
    return CrossValidation(
        recipe={"model": {"name": "mlp"}, "data": {"name": "table", "path": "/home/me/x.csv"}},
        data="x.csv",
        rows=100,
        metric="accuracy",
        better="higher",
        stratified=True,
        folds=folds,
        notes=("mind this",),
    )


def test_interval_is_that_of_nadeau_and_bengio_worked_by_hand() -> None:
    found = result(0.8, 0.9, 0.7, 0.8, 0.8)
    std = math.sqrt(0.02 / 4)
    half = 2.776445105 * std * math.sqrt(1 / 5 + 20 / 80)  # t of 4 degrees, 97.5 %
    assert found.mean == pytest.approx(0.8)
    assert found.std == pytest.approx(std)
    assert found.interval == pytest.approx((0.8 - half, 0.8 + half))


def test_more_repeats_never_bring_the_interval_below_what_one_split_leaves_open() -> None:
    few, many = result(*[0.7, 0.9] * 2), result(*[0.7, 0.9] * 200)
    assert few.interval is not None
    assert many.interval is not None
    half = (many.interval[1] - many.interval[0]) / 2
    assert half > 1.96 * many.std * math.sqrt(20 / 80)
    assert half < (few.interval[1] - few.interval[0]) / 2


def test_equal_scores_have_no_interval_since_their_spread_is_not_known() -> None:
    found = result(1.0, 1.0, 1.0)
    assert found.interval is None
    assert found.sentence == "accuracy 1 (std 0 over 3 folds); trivial baseline 0.5"
    assert found.to_json()["interval"] is None


def test_words_and_numbers() -> None:
    found = result(0.8, 0.9, 0.7, 0.8, repeats=2)
    assert found.setting == "mlp on 100 rows of x.csv: 2 folds, class by class, 2 times"
    assert str(found).splitlines() == [found.setting, found.sentence, COVERAGE, "mind this"]
    assert repr(found).startswith("CrossValidation(mlp on 100 rows")
    assert found.table_rows()[2]["repeat"] == "2"
    assert "0.9" in found._repr_html_()


def test_json_is_plain_and_names_no_folder() -> None:
    shown = json.loads(json.dumps(result(0.8, 0.9).to_json()))
    assert shown["recipe"]["data"]["path"] == "x.csv"
    assert (shown["mean"], shown["format"], len(shown["folds"])) == (pytest.approx(0.85), 1, 2)
