"""The law of weights: 2 is a row twice, 0 a row that is not there; from the raw rows on."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import netwright as nw
from netwright.core.errors import NetwrightError
from tests.repetition import for_each

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [1, 5, 0.1] + [0, 3, -1]
REALS = X @ [1, 0.3, 4.0] + np.sin(X[:, 0]) + 0.3 * RNG.normal(size=60)
CLASSES = (X[:, 0] + 0.5 * RNG.normal(size=60) > 0.2).astype(int) + (X[:, 1] > 5)
WEIGHTS = RNG.integers(0, 4, 60)
REPEATED = np.repeat(np.arange(60), WEIGHTS)
NEW = RNG.normal(size=(20, 3)) * [1, 5, 0.1] + [0, 3, -1]
FULL_BATCH = {"epochs": 5, "lr": 0.05, "optimizer": "sgd", "weight_decay": 0.01}


def answers(estimator: Any, y: Any, rows: Any, weights: Any = None) -> Any:
    estimator.fit(X[rows], y[rows], sample_weight=None if weights is None else weights[rows])
    return estimator.predict(NEW) if y is REALS else estimator.predict_proba(NEW)


def gap(kind: Any, y: Any, model: str, **settings: Any) -> float:
    """How far a model with weights is from one with repeated rows, in what it says of new rows."""
    by_steps = "epochs" in settings
    sizes = ({"batch_size": int((WEIGHTS > 0).sum())}, {"batch_size": len(REPEATED)})
    weighted, repeated = (
        kind(model, random_state=0, **settings, **(size if by_steps else {})) for size in sizes
    )
    everything = np.arange(60)
    said = answers(weighted, y, everything, WEIGHTS)
    return float(np.abs(said - answers(repeated, y, REPEATED)).max())


@for_each(
    ("model", "settings", "tolerance"),
    [
        ("least-squares", {}, 1e-5),
        ("ridge", {"l2": 0.1}, 1e-5),
        ("lasso", {}, 1e-5),
        ("polynomial-regression", {}, 1e-5),
        ("decision-tree", {}, 1e-5),
        ("kernel-regression", {"width": 0.7}, 1e-4),
        ("svm", {"C": 0.3}, 0.02),  # libsvm ends at a tolerance of its own
        ("linear-regression", FULL_BATCH, 1e-5),
        ("mlp", {**FULL_BATCH, "dropout": 0.0, "hidden": (8,)}, 1e-5),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_of_reals(model: str, settings: dict[str, Any], tolerance: float) -> None:
    assert gap(nw.NetRegressor, REALS, model, **settings) < tolerance


@for_each("class_weight", [None, "balanced", {0: 1.0, 1: 3.0, 2: 0.5}])
@for_each(
    ("model", "settings"),
    [
        ("lda", {}),
        ("logistic-newton", {}),
        ("decision-tree", {}),
        ("softmax", FULL_BATCH),
        ("mlp", {**FULL_BATCH, "dropout": 0.0, "hidden": (8,)}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_of_classes(model: str, settings: dict[str, Any], class_weight: Any) -> None:
    assert gap(nw.NetClassifier, CLASSES, model, class_weight=class_weight, **settings) < 1e-5


def test_of_a_table_with_gaps_and_rare_categories(tmp_path: Path) -> None:
    colours = np.array(["red", "green", "blue", "grey", "pink"])[RNG.integers(0, 5, 60)]
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(
        colour=colours,
        day=pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 900, 60), "D"),
        y=REALS,
        part="train",
        w=WEIGHTS,
    )
    frame.loc[::7, "a"] = np.nan
    frame.loc[WEIGHTS == 0, "b"] = 1e6  # of rows that are not there
    tail = frame.tail(6).assign(part="test", w=1)
    weighted = pd.concat([frame, tail])
    repeated = pd.concat([frame.iloc[REPEATED], tail]).drop(columns="w")
    settings: dict[str, Any] = {
        "target": "y",
        "split_column": "part",
        "max_categories": 3,
        "val_size": 0,
        "quiet": True,
    }
    runs = [
        nw.fit("ridge", weighted, out=tmp_path / "weighted", weight_column="w", **settings),
        nw.fit("ridge", repeated, out=tmp_path / "repeated", **settings),
    ]
    features = [run.preprocessor.to_json()["features"] for run in runs]
    ours, theirs = (flat(part) for part in features)
    assert ours.keys() == theirs.keys()
    for path, leaf in theirs.items():
        wanted = pytest.approx(leaf, rel=1e-12) if isinstance(leaf, float) else leaf
        assert ours[path] == wanted, path
    said = [run.predict(repeated) for run in runs]
    np.testing.assert_allclose(said[0], said[1], rtol=1e-5)


def flat(tree: Any) -> dict[str, Any]:
    """All leaves of a tree by their path."""
    if not isinstance(tree, dict | list):
        return {"": tree}
    parts = tree.items() if isinstance(tree, dict) else enumerate(tree)
    return {f"{name}.{path}": leaf for name, part in parts for path, leaf in flat(part).items()}


def test_of_a_series() -> None:
    x = RNG.normal(size=(60, 4, 2)) + 3
    found = []
    for weights, rows in ((WEIGHTS, np.arange(60)), (None, REPEATED)):
        estimator = nw.NetRegressor("gru", hidden=4, epochs=1)
        estimator.fit(x[rows], REALS[rows], sample_weight=weights)
        found.append(estimator._prepared.data.preprocessor.units())
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_weights_that_are_refused_are_refused_as_before(tmp_path: Path) -> None:
    for wrong in (np.where(np.arange(60) == 3, -1.0, 1.0), np.zeros(60)):
        sentence = "the train weights of arrays must be >= 0 and not all zero"
        with pytest.raises(NetwrightError, match=sentence):
            nw.fit("ridge", (X, REALS, wrong), out=tmp_path, val_size=0, test_size=0)
