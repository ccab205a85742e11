"""Trees, forests and boosting: scikit-learn's answers, and what makes each of them work."""

from typing import Any

import numpy as np
import pytest
import torch
from sklearn import ensemble, tree

from netwright.data.dataset import Split
from netwright.inspection.attribution.feature_importance import FeatureImportance, PixelImportance
from netwright.models.baselines import trees
from netwright.models.baselines.training_rows import fit_estimator
from netwright.models.baselines.trees import RandomForest, RandomForestConfig
from tests.models.baselines.fitted import TABLES, arrays, fitted, spec_of, table, weighted
from tests.repetition import for_each

REFERENCES: dict[str, Any] = {
    "decision-tree": (tree.DecisionTreeClassifier, tree.DecisionTreeRegressor),
    "random-forest": (ensemble.RandomForestClassifier, ensemble.RandomForestRegressor),
    "gradient-boosting": (
        ensemble.GradientBoostingClassifier,
        ensemble.GradientBoostingRegressor,
    ),
    "hist-boosting": (
        ensemble.HistGradientBoostingClassifier,
        ensemble.HistGradientBoostingRegressor,
    ),
}
SMALL: dict[str, dict[str, Any]] = {
    "decision-tree": {"max_depth": 6, "min_samples_leaf": 2},
    "random-forest": {"trees": 10, "max_depth": 7, "max_features": 0.3},
    "gradient-boosting": {"stages": 12, "learning_rate": 0.3, "max_depth": 2},
    "hist-boosting": {"stages": 30, "learning_rate": 0.3, "max_leaves": 5, "min_samples_leaf": 7},
}
AS_THEIRS = {"trees": "n_estimators", "stages": "n_estimators", "max_leaves": "max_leaf_nodes"}


def reference(name: str, data: Split, settings: dict[str, Any], seed: int) -> Any:
    named = {**AS_THEIRS, "stages": "max_iter"} if name == "hist-boosting" else AS_THEIRS
    theirs = {named.get(key, key): value for key, value in settings.items()}
    x, y, weights = arrays(data)
    kind = REFERENCES[name][0 if data.targets.ndim == 1 else 1]
    return kind(**theirs, random_state=seed).fit(x, y, sample_weight=weights)


@for_each("name", REFERENCES)
@for_each("rows", TABLES)
def test_answers_are_those_of_scikit_learn(name: str, rows: str) -> None:
    data, spec = table(rows)
    data = weighted(data)
    ours = fitted(name, data, spec, seed=3, **SMALL[name])(data.inputs)
    theirs = reference(name, data, SMALL[name], seed=3)
    x = arrays(data)[0]
    if spec.target == "real":
        np.testing.assert_allclose(ours[:, 0], theirs.predict(x), rtol=2e-6)
    else:
        np.testing.assert_allclose(ours.softmax(1), theirs.predict_proba(x), atol=1e-6)
        assert ours.argmax(dim=1).tolist() == theirs.predict(x).tolist()


@pytest.mark.parametrize("name", REFERENCES)
def test_defaults_are_those_of_scikit_learn(name: str) -> None:
    data, spec = table("iris")
    binary = data.take((data.targets > 0).nonzero()[:, 0])  # class 0 is never seen
    ours = fitted(name, binary, spec)(data.inputs).softmax(dim=1)
    theirs = reference(name, binary, {}, seed=0)
    np.testing.assert_allclose(ours[:, 1:], theirs.predict_proba(arrays(data)[0]), atol=1e-6)
    assert float(ours[:, 0].max()) < 1e-20


def test_a_forest_on_many_rows_grows_in_steps_and_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, spec = table("iris")
    whole = fitted("random-forest", data, spec, seed=3, trees=7)
    monkeypatch.setattr(trees, "ROWS_A_STEP", 2 * len(data.inputs))
    firsts: set[int] = set()

    def fit(estimator: Any, rows: Any) -> Any:
        fitted = fit_estimator(estimator, rows)
        firsts.add(id(fitted.estimators_[0]))
        return fitted

    monkeypatch.setattr(trees, "fit_estimator", fit)
    forest: Any = RandomForest.build(RandomForestConfig(trees=7), spec)
    grown, told = [], []
    for numbers in forest.fit_steps(data, 3):
        grown.append(len(forest.trees.roots))
        told.append(list(numbers))
    assert grown == [2, 4, 6, 7]  # an interrupted forest answers with those that it has
    assert told == [[], [], [], ["loss"]]
    assert len(firsts) == 1  # which is kept, not grown again
    assert torch.equal(forest(data.inputs), whole(data.inputs))
    assert torch.equal(forest.importances, whole.importances)


@pytest.mark.parametrize("name", REFERENCES)
def test_several_reals_of_an_image_are_learned_each(name: str) -> None:
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(40, 1, 2, 3, generator=numbers)
    y = torch.stack((x[:, 0, 0, 0] > 0, 100 * x[:, 0, 1, 2]), dim=1)
    spec = spec_of(1, 2, 3, target="real", outputs=2, inputs="image")
    data = Split(inputs=x, targets=y)
    # of 40 rows, leaves of 20 are none at all
    model = fitted(name, data, spec, **({"min_samples_leaf": 2} if name == "hist-boosting" else {}))
    missed = (model(x) - y).square().mean(dim=0) / y.var(dim=0)
    assert missed.tolist() == pytest.approx([0.0, 0.0], abs=0.2)
    assert isinstance(model.own_views(data)["feature-importance"], PixelImportance)


@pytest.mark.parametrize("name", [name for name in REFERENCES if name != "hist-boosting"])
def test_importances_are_those_of_scikit_learn_and_are_shown(name: str) -> None:
    data, spec = table("wine")
    model = fitted(name, data, spec, **SMALL[name])
    theirs = reference(name, data, SMALL[name], seed=0).feature_importances_
    np.testing.assert_allclose(model.importances, theirs, atol=1e-6)
    view = model.own_views(data)["feature-importance"]
    assert isinstance(view, FeatureImportance)
    assert view.shares[0] == pytest.approx(theirs.max())


@pytest.mark.parametrize("name", ["random-forest", "gradient-boosting", "hist-boosting"])
def test_a_fitted_model_comes_back_from_its_state(name: str) -> None:
    data, spec = table("iris")
    model = fitted(name, data, spec, **SMALL[name])
    again = type(model).build(model.config, spec)
    again.load_state_dict(model.state_dict())
    assert torch.equal(again(data.inputs), model(data.inputs))


@pytest.mark.covers("decision-tree")
def test_two_questions_tell_exclusive_or() -> None:
    corners = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    data = Split(inputs=corners, targets=torch.tensor([0, 1, 1, 0]))
    exact = fitted("decision-tree", data, spec_of(2, outputs=2), max_depth=2)
    assert exact(corners).argmax(dim=1).tolist() == [0, 1, 1, 0]

    x, classes = corners.repeat(100, 1), data.targets.repeat(100)
    flipped = torch.rand(400, generator=torch.Generator().manual_seed(0)) < 0.03
    told = Split(inputs=x, targets=classes ^ flipped.long())
    noisy = fitted("decision-tree", told, spec_of(2, outputs=2), max_depth=3)
    assert bool(flipped.any())
    assert float((noisy(x).argmax(dim=1) == told.targets).float().mean()) >= 0.95
    assert torch.equal(noisy(x).argmax(dim=1), classes)


@pytest.mark.covers("random-forest")
def test_a_forest_beats_its_tree_and_its_trees_agree_less_than_bagged_ones() -> None:
    numbers = torch.Generator().manual_seed(0)
    x = torch.randn(1200, 10, generator=numbers)
    y = (x[:, :3].sum(dim=1) + torch.randn(1200, generator=numbers) > 0).long()
    train, test = Split(inputs=x[:300], targets=y[:300]), Split(inputs=x[300:], targets=y[300:])
    spec = spec_of(10, outputs=2)
    forest = fitted("random-forest", train, spec, trees=30)
    bagged = fitted("random-forest", train, spec, trees=30, max_features=1.0)
    single = fitted("decision-tree", train, spec)

    def accuracy(model: Any) -> float:
        return float((model(test.inputs).argmax(dim=1) == test.targets).float().mean())

    def agreement(model: Any) -> float:
        """The mean correlation of two trees."""
        trees = model.trees(test.inputs)[..., 1].T  # (T, N)
        correlations = torch.corrcoef(trees)
        return float((correlations.sum() - len(trees)) / (len(trees) * (len(trees) - 1)))

    assert accuracy(forest) >= accuracy(single)
    assert agreement(forest) < agreement(bagged)


def test_a_single_class_is_answered_by_a_tree() -> None:
    data, spec = table("iris")
    first = data.take((data.targets == 0).nonzero()[:, 0])
    logits = fitted("decision-tree", first, spec)(data.inputs)
    assert set(logits.argmax(dim=1).tolist()) == {0}


def test_a_seed_of_64_bits_is_taken() -> None:
    data, spec = table("iris")
    first, again, other = (
        fitted("random-forest", data, spec, seed=seed, trees=2)(data.inputs)
        for seed in (2**40 + 1, 2**40 + 1, 2**40 + 2)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
