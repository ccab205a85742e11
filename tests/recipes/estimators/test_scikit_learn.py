"""The estimators: parity with scikit-learn, in its pipelines and searches, classes and weights."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

import netwright as nw
from netwright.core.errors import ConfigError, DataError
from netwright.recipes.estimators.scikit_learn import NetClassifier, NetRegressor
from tests.repetition import for_each

Rows = tuple[NDArray[np.float64], NDArray[np.float64]]


@pytest.fixture(scope="module")
def reals() -> Rows:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(90, 4)) * [1, 10, 0.1, 3] + [0, 50, 2, -1]
    return inputs, inputs @ [1.0, 0.2, -5.0, 0.5] + rng.normal(size=90)


@pytest.fixture(scope="module")
def unequal() -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Classes of 60, 20 and 10 rows, by name."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], [60, 20, 10])
    return rng.normal(size=(90, 2)) + y[:, None], np.array(["few", "many", "some"])[(1, 2, 0),][y]


def weights_of(estimator: Any) -> torch.Tensor:
    return torch.cat([weight.flatten() for weight in estimator.model_.state_dict().values()])


def small(**settings: Any) -> Any:
    return NetClassifier(**{"hidden": (4,), "epochs": 2, "random_state": 0, **settings})


def small_regressor(**settings: Any) -> NetRegressor:
    return NetRegressor(**{"hidden": (4,), "epochs": 2, "random_state": 0, **settings})


def test_a_transform_of_targets_is_that_of_scikit_learn(reals: Rows) -> None:
    inputs, y = reals
    y = np.exp(y / 10)
    how: Any = {"hidden": (4,), "epochs": 3, "random_state": 0, "device": "cpu"}
    ours = NetRegressor("mlp", target_transform="log", **how).fit(inputs, y)
    theirs = TransformedTargetRegressor(
        NetRegressor("mlp", **how), func=np.log, inverse_func=np.exp
    )
    assert ours.predict(inputs) == pytest.approx(theirs.fit(inputs, y).predict(inputs), rel=1e-4)


@pytest.mark.parametrize("standardize", [True, False])
def test_least_squares_is_scikit_learns_linear_regression(reals: Rows, standardize: bool) -> None:
    inputs, y = reals
    ours = NetRegressor("least-squares", standardize=standardize).fit(inputs, y)
    theirs = LinearRegression().fit(inputs, y)
    assert ours.predict(inputs) == pytest.approx(theirs.predict(inputs), abs=1e-4)
    assert ours.score(inputs, y) == pytest.approx(theirs.score(inputs, y), abs=1e-6)


def test_ridge_is_scikit_learns_with_alpha_n_times_l2(reals: Rows) -> None:
    inputs, y = reals
    plain = NetRegressor("ridge", l2=0.5, standardize=False).fit(inputs, y)
    assert plain.predict(inputs) == pytest.approx(
        Ridge(alpha=0.5 * 90).fit(inputs, y).predict(inputs), abs=1e-4
    )
    scaled = NetRegressor("ridge", l2=0.5).fit(inputs, y)
    theirs = make_pipeline(StandardScaler(), Ridge(alpha=0.5 * 90)).fit(inputs, y)
    assert scaled.predict(inputs) == pytest.approx(theirs.predict(inputs), abs=1e-4)


def test_weighted_ridge_is_scikit_learns(reals: Rows) -> None:
    inputs, y = reals
    weights = np.random.default_rng(2).uniform(0.1, 3, size=90)
    ours = NetRegressor("ridge", l2=0.5, standardize=False).fit(inputs, y, sample_weight=weights)
    theirs = Ridge(alpha=0.5 * weights.sum()).fit(inputs, y, sample_weight=weights)
    assert ours.predict(inputs) == pytest.approx(theirs.predict(inputs), abs=1e-4)


@pytest.mark.parametrize("model", ["least-squares", "ridge"])
def test_a_weight_of_2_is_the_row_twice(reals: Rows, model: str) -> None:
    inputs, y = reals
    counts = np.arange(90) % 3
    weighted = NetRegressor(model, standardize=False).fit(inputs, y, sample_weight=counts)
    repeated = NetRegressor(model, standardize=False)
    repeated.fit(inputs.repeat(counts, axis=0), y.repeat(counts))
    assert weighted.predict(inputs) == pytest.approx(repeated.predict(inputs), rel=1e-6)


def test_softmax_and_logistic_come_to_scikit_learns_optimum(
    unequal: tuple[NDArray[np.float64], NDArray[np.str_]],
) -> None:
    theirs = make_pipeline(StandardScaler(), LogisticRegression(C=np.inf)).fit(*unequal)
    for model in ("softmax", "logistic"):
        ours = NetClassifier(model, optimizer="lbfgs", batch_size=90, epochs=40, random_state=0)
        ours.fit(*unequal)
        inputs = unequal[0]
        assert ours.predict_proba(inputs) == pytest.approx(theirs.predict_proba(inputs), abs=2e-3)


def test_a_net_learns_the_digits() -> None:
    inputs, y = load_digits(return_X_y=True)
    estimator = NetClassifier(hidden=(64,), epochs=8, lr=0.01, random_state=0)
    assert estimator.fit(inputs[::2], y[::2]).score(inputs[1::2], y[1::2]) > 0.93


def test_classes_are_sorted_and_predicted_as_they_came(unequal: Any) -> None:
    inputs, names = unequal
    estimator = small(epochs=30, lr=0.05).fit(inputs, names)
    assert estimator.classes_.tolist() == ["few", "many", "some"]
    probabilities = estimator.predict_proba(inputs)
    assert probabilities.shape == (90, 3)
    assert np.array_equal(estimator.predict(inputs), estimator.classes_[probabilities.argmax(1)])
    assert estimator.score(inputs, names) > 0.7


@for_each("labels", [(False, True), (1.0, 2.0), (-1, 1), ("no", "yes")])
def test_labels_of_every_kind_come_back(labels: tuple[Any, Any]) -> None:
    inputs = np.linspace(-1, 1, 40)[:, None]
    y = np.array(labels)[(inputs[:, 0] > 0).astype(int)]
    predicted = NetClassifier("logistic", lr=0.3, epochs=20, random_state=0).fit(inputs, y)
    assert predicted.predict(inputs).dtype == y.dtype
    assert predicted.score(inputs, y) > 0.95


def test_balanced_classes_are_scikit_learns_sample_weights(unequal: Any) -> None:
    inputs, names = unequal
    ours = small(class_weight="balanced").fit(inputs, names)
    theirs = small().fit(inputs, names, sample_weight=compute_sample_weight("balanced", names))
    assert torch.equal(weights_of(ours), weights_of(theirs))
    assert not torch.equal(weights_of(ours), weights_of(small().fit(inputs, names)))


def test_class_and_sample_weights_multiply(unequal: Any) -> None:
    inputs, names = unequal
    rows = np.random.default_rng(3).uniform(0.5, 2, size=90)
    by_class = {"many": 1.0, "some": 3.0, "few": 0.5}
    ours = small(class_weight=by_class).fit(inputs, names, sample_weight=rows)
    product = rows * np.array([by_class[name] for name in names])
    assert torch.equal(
        weights_of(ours), weights_of(small().fit(inputs, names, sample_weight=product))
    )


def test_class_weights_count_in_passes_that_lack_a_class(unequal: Any) -> None:
    """A class that is weighed but absent, and one that is there but not weighed."""
    inputs, names = unequal
    part = names != "some"
    ours = small(class_weight={"few": 3.0, "some": 2.0})
    ours.partial_fit(inputs[part], names[part], classes=["few", "many", "some"])
    theirs = small().partial_fit(
        inputs[part],
        names[part],
        classes=["few", "many", "some"],
        sample_weight=np.where(names[part] == "few", 3.0, 1.0),
    )
    assert torch.equal(weights_of(ours), weights_of(theirs))


def test_logarithms_of_probabilities_are_theirs_also_of_one_that_is_0(unequal: Any) -> None:
    inputs, y = unequal
    estimator = NetClassifier("softmax", epochs=1, random_state=0).fit(inputs, y)
    far = inputs * 1e4
    assert (estimator.predict_proba(far) == 0).any()
    logarithms = estimator.predict_log_proba(far)
    assert np.isneginf(logarithms).any()
    assert np.allclose(np.exp(logarithms), estimator.predict_proba(far), atol=1e-6)


def test_several_labels_a_row() -> None:
    inputs, y = make_multilabel_classification(n_samples=200, n_classes=3, random_state=0)
    estimator = NetClassifier(hidden=(16,), epochs=15, lr=0.02, random_state=0).fit(inputs, y)
    assert estimator.classes_.tolist() == [0, 1, 2]
    probabilities = estimator.predict_proba(inputs)
    assert np.array_equal(estimator.predict(inputs), (probabilities >= 0.5).astype(int))
    assert (estimator.predict(inputs) == y).mean() > 0.9
    again = NetClassifier(hidden=(16,), epochs=15, lr=0.02, random_state=0)
    again.fit(inputs, sparse.csr_array(y))
    assert np.array_equal(again.predict_proba(inputs), probabilities)


def test_several_labels_in_passes() -> None:
    inputs, y = make_multilabel_classification(n_samples=40, n_classes=3, random_state=0)
    passed = small().partial_fit(inputs, y, classes=[0, 1, 2])
    passed.partial_fit(inputs, y, classes=[0, 1, 2])
    assert torch.equal(weights_of(passed), weights_of(small().fit(inputs, y)))


def test_the_tags_say_which_models_take_labels_or_several_reals() -> None:
    told = {
        name: NetClassifier(name).__sklearn_tags__().classifier_tags.multi_label
        for name in ("mlp", "logistic", "softmax", "mpl")
    }
    assert told == {"mlp": True, "logistic": True, "softmax": False, "mpl": False}
    assert NetRegressor().__sklearn_tags__().target_tags.multi_output


def test_predictions_are_shaped_as_the_targets_were(reals: Rows) -> None:
    inputs, y = reals
    two = np.stack((y, -2 * y), axis=1)
    for targets in (y, y[:, None], two):
        predicted = NetRegressor("least-squares").fit(inputs, targets).predict(inputs)
        assert predicted.shape == targets.shape
        assert predicted.dtype == np.float64
    assert predicted[:, 1] == pytest.approx(-2 * predicted[:, 0], rel=1e-5)


def test_whole_numbers_are_reals_for_the_regressor(reals: Rows) -> None:
    inputs, y = reals
    whole = y.round().astype(int)
    ours = NetRegressor("least-squares").fit(inputs, whole)
    assert ours.predict(inputs) == pytest.approx(
        LinearRegression().fit(inputs, whole).predict(inputs), abs=1e-4
    )


def test_a_column_of_classes_is_read_with_a_warning(unequal: Any) -> None:
    inputs, names = unequal
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        estimator = small().fit(inputs, names[:, None])
    assert estimator.predict(inputs).shape == (90,)


def test_held_out_rows_stop_the_training(reals: Rows) -> None:
    estimator = NetRegressor(hidden=(8,), lr=0.05, epochs=300, val_size=0.2, patience=3)
    estimator.set_params(random_state=0).fit(*reals)
    assert 3 < len(estimator.history_.series("val/loss")) < 300


def test_early_stopping_is_a_tenth_held_out_and_ten_epochs_of_patience(reals: Rows) -> None:
    how: Any = {"hidden": (4,), "lr": 0.3, "epochs": 60, "random_state": 0, "device": "cpu"}
    early = NetRegressor(early_stopping=True, **how).fit(*reals)
    assert 10 < len(early.history_.series("val/loss")) < 60
    spelt = NetRegressor(val_size=0.1, patience=10, **how).fit(*reals)
    assert torch.equal(weights_of(early), weights_of(spelt))
    given = NetRegressor(early_stopping=True, val_size=0.2, patience=3, **how).fit(*reals)
    spelt = NetRegressor(val_size=0.2, patience=3, **how).fit(*reals)
    assert torch.equal(weights_of(given), weights_of(spelt))


def test_early_stopping_is_refused_where_nothing_is_held_out(reals: Rows) -> None:
    with pytest.raises(ConfigError, match=r"ridge has its own learning rule .* remove early_stop"):
        NetRegressor("ridge", early_stopping=True).fit(*reals)
    with pytest.raises(
        ConfigError, match="partial_fit holds no rows out: set early_stopping=False"
    ):
        NetRegressor(early_stopping=True).partial_fit(*reals)


def test_flags_are_flags_and_a_few_rows_hold_none_out() -> None:
    inputs, y = np.arange(3.0)[:, None], np.arange(3.0)
    with pytest.raises(ConfigError, match="early_stopping must be True or False, got 'yes'"):
        small_regressor(early_stopping="yes").fit(inputs, y)
    with pytest.raises(ConfigError, match="early_stopping holds out 10% of the rows, 3 are too"):
        small_regressor(early_stopping=True).fit(inputs, y)


def test_targets_outside_a_transform_are_refused_by_partial_fit_and_evaluate() -> None:
    inputs, y = np.arange(8.0)[:, None], np.arange(1.0, 9.0)
    estimator = small_regressor(target_transform="log").partial_fit(inputs, y)
    with pytest.raises(DataError, match="is -1 in row 0 of the rows given, target_transform log"):
        estimator.partial_fit(inputs, -y)
    run = nw.fit("mlp", data=(inputs, y), target_transform="log", epochs=1, quiet=True, save=False)
    with pytest.raises(DataError, match="is -1 in row 0 of the rows given, target_transform log"):
        run.evaluate((inputs, -y))


def test_weights_are_routed_through_searches_and_pipelines(unequal: Any) -> None:
    inputs, names = unequal
    weights = np.where(names == "few", 20.0, 1.0)
    with config_context(enable_metadata_routing=True):
        net = small(lr=0.01, device="cpu").set_fit_request(sample_weight=True)
        net.set_score_request(sample_weight=True)
        scale = StandardScaler().set_fit_request(sample_weight=False)
        search = GridSearchCV(make_pipeline(scale, net), {"netclassifier__dropout": [0.0]}, cv=2)
        search.fit(inputs, names, sample_weight=weights)
    scaled = StandardScaler().fit_transform(inputs)
    direct, without = (
        small(lr=0.01, device="cpu", dropout=0.0).fit(scaled, names, sample_weight=given)
        for given in (weights, None)
    )
    assert torch.equal(weights_of(search.best_estimator_[-1]), weights_of(direct))
    assert not torch.equal(weights_of(direct), weights_of(without))


def test_settings_are_searched_by_name(reals: Rows) -> None:
    inputs, y = reals
    pipeline = Pipeline([("scale", StandardScaler()), ("net", NetRegressor("ridge"))])
    grid = {"net__l2": [1e-4, 100.0], "net__standardize": [True, False]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(inputs, y)
    assert search.best_params_["net__l2"] == 1e-4
    assert search.best_score_ > 0.8
    assert search.best_estimator_["net"].get_params()["l2"] == 1e-4


def test_cross_validation_scores(reals: Rows) -> None:
    ours = cross_val_score(NetRegressor("least-squares"), *reals, cv=3)
    assert ours == pytest.approx(cross_val_score(LinearRegression(), *reals, cv=3), abs=1e-5)


def test_weights_go_through_a_pipeline(unequal: Any) -> None:
    inputs, names = unequal
    rows = np.random.default_rng(3).uniform(0.5, 2, size=90)
    pipeline = Pipeline([("net", small())]).fit(inputs, names, net__sample_weight=rows)
    alone = small().fit(inputs, names, sample_weight=rows)
    assert torch.equal(weights_of(pipeline["net"]), weights_of(alone))


SEARCH = """
import warnings
warnings.simplefilter("error")
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from netwright.recipes.estimators.scikit_learn import NetClassifier

net = NetClassifier(hidden=(8,), epochs=5, random_state=0)
pipeline = Pipeline([("scale", StandardScaler()), ("net", net)])
grid = {"net__hidden": [(4,), (16, 8)], "net__lr": [1e-6, 0.1]}
search = GridSearchCV(pipeline, grid, n_jobs=2, cv=2, error_score="raise")
search.fit(*load_iris(return_X_y=True))
print(search.best_params_["net__lr"], search.best_score_ > 0.8)
"""


@pytest.mark.slow
def test_a_search_on_two_processes_leaves_nothing_behind(tmp_path: Path) -> None:
    places = {name: str(tmp_path) for name in ("JOBLIB_TEMP_FOLDER", "TMPDIR")}
    places["TORCHINDUCTOR_CACHE_DIR"] = str(tmp_path.parent / "inductor")  # torch's, not ours
    environment = {**os.environ, **places, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SEARCH],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("0.1 True\n", "")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("model", ["least-squares", "ridge"])
def test_a_closed_form_has_no_passes(reals: Rows, model: str) -> None:
    estimator = NetRegressor(model)
    assert not hasattr(estimator, "partial_fit")
    with pytest.raises(AttributeError, match="no attribute 'partial_fit'") as caught:
        estimator.partial_fit(*reals)
    assert str(caught.value.__cause__) == f"{model} is trained on all rows at once: use fit"


@pytest.mark.parametrize(
    ("settings", "call", "sentence"),
    [
        ({}, {}, "classes must be given in the first call of partial_fit"),
        (
            {"class_weight": "balanced"},
            {"classes": ["few", "many", "some"]},
            "class_weight 'balanced' needs all rows, but partial_fit sees only a part; give a dict",
        ),
    ],
)
def test_refuses_a_first_pass(
    unequal: Any, settings: dict[str, Any], call: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        small(**settings).partial_fit(*unequal, **call)


def test_refuses_classes_that_change(unequal: Any) -> None:
    inputs, names = unequal
    estimator = small().fit(inputs, names)
    estimator.partial_fit(inputs, names, classes=["some", "many", "few"])
    with pytest.raises(
        ConfigError, match=r"^classes must stay \['few', 'many', 'some'\], got \['few', 'new'\]$"
    ):
        estimator.partial_fit(inputs, names, classes=["few", "new"])
    sentence = r"^targets have an unknown label 'new' in row 1; did you mean 'few'\?$"
    with pytest.raises(DataError, match=sentence):
        estimator.partial_fit(inputs[:2], ["few", "new"])


@for_each("given", ["balance", [1, 2], {"few": -1.0}, {"few": float("nan")}])
def test_refuses_class_weights_that_weigh_no_class(unequal: Any, given: Any) -> None:
    sentence = (
        "class_weight must be 'balanced', None, or a dict from labels to numbers >= 0, got "
        f"{given!r}"
    )
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        small(class_weight=given).fit(*unequal)


def test_numbers_in_any_form_are_read_as_scikit_learn_reads_them(unequal: Any) -> None:
    pandas = pytest.importorskip("pandas")
    inputs, names = unequal
    numbers = inputs.round()
    frame = pandas.DataFrame(numbers, columns=["a", "b"])
    wanted = small().fit(numbers, names).predict_proba(numbers)
    for form in (frame.astype("category"), frame.astype("Int64"), frame.astype(object)):
        found = small().fit(form, names).predict_proba(form)
        assert np.array_equal(found, wanted)
    with pytest.raises(ValueError, match="could not convert string to float: 'tall'"):
        small().fit(pandas.DataFrame({"a": ["tall"] * 90}, dtype="category"), names)


def test_refuses_class_weights_for_labels() -> None:
    inputs, y = make_multilabel_classification(n_samples=20, random_state=0)
    with pytest.raises(
        ConfigError,
        match=r"^class_weight is for single-label classification, the targets are "
        r"labels$",
    ):
        small(class_weight="balanced").fit(inputs, y)


def test_refuses_text_to_predict_as_reals(reals: Rows) -> None:
    with pytest.raises(DataError, match=r"^targets must be real numbers, got dtype"):
        NetRegressor("ridge").fit(reals[0], ["a"] * 90)
