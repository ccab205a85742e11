"""The result of cross-validation: its mean, its honest interval, its words."""

import json
import math
from dataclasses import replace

import pytest

from netwright.recipes.judging.cross_validation import COVERAGE, CrossValidation, Fold


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


def test_the_interval_is_cut_to_the_range_of_the_metric_and_says_so() -> None:
    high = result(1.0, 0.9, 1.0, 1.0, 0.8)
    assert high.interval is not None
    assert 0.5 < high.interval[0] < high.interval[1] == 1.0
    assert f"{high.interval[0]:.4g} to 1, clipped to the metric's range);" in high.sentence
    assert "cut" not in result(0.5, 0.6, 0.5, 0.5).sentence
    folds = tuple(
        replace(fold, metrics={"rmse": score}, baseline={"rmse": 9.0})
        for fold, score in zip(result(0.1, 5.0, 0.2).folds, (0.1, 5.0, 0.2), strict=True)
    )
    errors = replace(high, metric="rmse", better="lower", folds=folds)
    assert errors.interval is not None
    assert errors.interval[0] == 0.0
    assert errors.interval[1] > 5.0


def test_words_and_numbers() -> None:
    found = result(0.8, 0.9, 0.7, 0.8, repeats=2)
    assert found.setting == "mlp on 100 rows of x.csv: 2 folds, stratified, 2 times"
    assert str(found).splitlines() == [found.setting, found.sentence, COVERAGE, "mind this"]
    assert repr(found).startswith("CrossValidation(mlp on 100 rows")
    assert found.table_rows()[2]["repeat"] == "2"
    assert "0.9" in found._repr_html_()


def test_json_is_plain_and_names_no_folder() -> None:
    shown = json.loads(json.dumps(result(0.8, 0.9).to_json()))
    assert shown["recipe"]["data"]["path"] == "x.csv"
    assert (shown["mean"], shown["format"], len(shown["folds"])) == (pytest.approx(0.85), 1, 2)
