"""Baselines through the doors: run folders that predict the same, and scikit-learn's own tools."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import cross_val_score

import netwright as nw

CLASSIFIERS: dict[str, dict[str, Any]] = {
    "lda": {},
    "svm": {},
    "decision-tree": {},
    "random-forest": {"trees": 10},
    "gradient-boosting": {"stages": 10},
    "hist-boosting": {"stages": 10},
    "kernel-regression": {},
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_run_is_saved_and_opened_and_predicts_the_same(name: str, tmp_path: Path) -> None:
    run = nw.fit(name, "iris", out=tmp_path / "run", quiet=True, **CLASSIFIERS[name])
    flowers = load_iris().data[::7]
    again = nw.open_run(tmp_path / "run")
    np.testing.assert_array_equal(again.predict(flowers), run.predict(flowers))
    assert again.evaluate()["accuracy"] == run.results["metrics"]["accuracy"] > 0.85


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_estimators_are_cross_validated(name: str) -> None:
    inputs, targets = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[targets]
    model = nw.NetClassifier(name, random_state=0, **CLASSIFIERS[name])
    assert cross_val_score(model, inputs, names, cv=3).min() > 0.9
    if name != "lda":
        regressor = nw.NetRegressor(name, random_state=0, **CLASSIFIERS[name])
        scores = cross_val_score(regressor, *load_diabetes(return_X_y=True), cv=3)
        assert scores.min() > (-0.5 if name == "decision-tree" else 0.2)  # one tree learns by heart
