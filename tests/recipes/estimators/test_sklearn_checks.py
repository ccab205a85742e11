"""scikit-learn's own list of checks on the estimators, and those of them that cannot hold."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn

from netwright.data.spec import DataSpec
from netwright.models.catalog import MODELS
from netwright.recipes.estimators.scikit_learn import NetClassifier, NetRegressor

QUICK = [NetClassifier("logistic", epochs=10, lr=0.1)]


class Linear:
    """Makes a network of one's own; its name is the same in every process."""

    def __call__(self, spec: DataSpec) -> nn.Module:
        return nn.Linear(spec.num_features, spec.num_outputs)

    def __repr__(self) -> str:
        return "Linear()"


NETWORKS = [
    NetRegressor("ridge", standardize=False),
    NetClassifier(Linear(), epochs=15, lr=0.1),
    NetRegressor(Linear(), epochs=15, lr=0.1),
    NetClassifier("mlp", hidden=(16,), dropout=0.1, epochs=15, lr=0.02),
    NetRegressor("mlp", hidden=(16,), dropout=0.1, epochs=15, lr=0.02),
]
IN_BATCHES = "a row given twice stands in two batches, one of weight 2 in one: other steps"
FAILS = {
    "mlp": {"check_sample_weight_equivalence_on_dense_data": IN_BATCHES},
    "logistic": {"check_sample_weight_equivalence_on_dense_data": IN_BATCHES},
    "ridge": {},
    "own": {},
}
# Both compare numbers of float32 to 1e-7: they hold on one machine and not on another.
BY_ROUNDING = {"check_sample_weight_equivalence_on_dense_data", "check_methods_subset_invariance"}


def expected_failures(estimator: Any) -> dict[str, str]:
    return FAILS[estimator.model if isinstance(estimator.model, str) else "own"]


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    QUICK, expected_failed_checks=expected_failures
)
def test_scikit_learn_finds_the_estimator_right(
    estimator: BaseEstimator, check: Callable[[BaseEstimator], None]
) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    NETWORKS, expected_failed_checks=expected_failures
)
def test_scikit_learn_finds_networks_right(estimator: Any, check: Any) -> None:
    if isinstance(estimator.model, Linear) and check.func.__name__ in BY_ROUNDING:
        pytest.skip("it compares numbers of float32 to 1e-7")
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [NetClassifier(), NetRegressor()], expected_failed_checks=expected_failures
)
def test_scikit_learn_finds_the_defaults_right(estimator: BaseEstimator, check: Any) -> None:
    is_by_batch = check.func.__name__ == "check_methods_subset_invariance"
    if isinstance(estimator, NetRegressor) and is_by_batch:
        pytest.skip("it compares numbers of float32 to 1e-7, and rounding differs by machine")
    check(estimator)


WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
ACCURACY = "check_classifiers_train"
BY_SIGNS = "it reads the signs of its inputs, which do not tell these three blobs apart"
ROW_BY_ROW = "a row given twice is two steps, one of weight 2 a longer one"
# Models of the catalog at their defaults -> the checks that their definition forbids, and why.
AT_DEFAULTS: dict[str, dict[str, str]] = {
    "least-squares": {},
    "ridge": {},
    "gaussian-regression": {},
    "polynomial-regression": {WEIGHTS: "30 features have 5,455 monomials of degree 3: too many"},
    "logistic-newton": {},
    "softmax-newton": {},
    "kernel-regression": {WEIGHTS: "its width is chosen by leaving a row out, not its double"},
    "lda": {},
    "svm": {WEIGHTS: "libsvm stops within a tolerance, at another point for doubled rows"},
    "decision-tree": {
        "check_class_weight_classifiers": "leaves are pure, where weights have no say; its own "
        "trees scikit-learn gives a smallest weight of a leaf for this check"
    },
    "random-forest": {WEIGHTS: "rows are drawn, and one given twice is drawn as two"},
    "hist-boosting": {},
    "mcculloch-pitts": {
        WEIGHTS: "it tries all sign patterns, of at most 12 inputs, and the data has 30",
        ACCURACY: BY_SIGNS,
    },
    "perceptron": {WEIGHTS: ROW_BY_ROW},
    "averaged-perceptron": {WEIGHTS: ROW_BY_ROW},
    "rosenblatt": {},
    "hopfield": {ACCURACY: BY_SIGNS},
    "dense-memory": {
        WEIGHTS: "rows that are stored are drawn, and one given twice is drawn as two",
        ACCURACY: BY_SIGNS,
    },
    "modern-hopfield": {WEIGHTS: "its sharpness is chosen by leaving a row out, not its double"},
    "delta-rule": {WEIGHTS: ROW_BY_ROW},
    "logistic": {WEIGHTS: IN_BATCHES},
    "softmax": {WEIGHTS: IN_BATCHES},
    "linear-regression": {WEIGHTS: IN_BATCHES},
    "lasso": {},
    "rbm": {WEIGHTS: IN_BATCHES},
    "one-vs-rest": {WEIGHTS: ROW_BY_ROW},
    "one-vs-one": {WEIGHTS: ROW_BY_ROW},
    "mlp-plr": {WEIGHTS: IN_BATCHES},
    "table-resnet": {WEIGHTS: IN_BATCHES},
    "gradient-boosting": {
        WEIGHTS: "its trees are scikit-learn's, whose own gradient boosting fails it too",
        "check_class_weight_classifiers": "a hundred trees tell all rows apart, and where no row "
        "is wrong weights have no say",
    },
    "boosting": {
        "check_class_weight_classifiers": "a row that is wrong counts more in each round, however "
        "little it was to count: after fifty the classes count alike",
    },
    "stacking": {WEIGHTS: "a row given twice may stand in two of the folds that members answer"},
    "restarts": {WEIGHTS: IN_BATCHES},
    "ft-transformer": {WEIGHTS: IN_BATCHES},
    "bagging": {WEIGHTS: "rows are drawn, and one given twice is drawn as two"},
}
LONG = ("stacking", "restarts", "ft-transformer", "bagging")  # three to six seconds a fit
# Of these, smaller ones of the same kind are checked sooner.
_MEMBERS: dict[str, Any] = {"members": 2, "settings": {"hidden": (8,)}, "epochs": 15, "lr": 0.02}
SMALLER: dict[str, dict[str, Any]] = {
    "ft-transformer": {"width": 8, "heads": 2, "layers": 1, "hidden": 8, "epochs": 15, "lr": 0.02},
    "bagging": _MEMBERS,
    "restarts": _MEMBERS,
}


def at_defaults(names: Iterable[str]) -> list[BaseEstimator]:
    made: list[BaseEstimator] = []
    for name in names:
        targets = MODELS.load(name).targets
        made += [NetClassifier(name)] if "class" in targets else []
        made += [NetRegressor(name)] if "real" in targets else []
    return made


def check_but_rounding(estimator: Any, check: Any) -> None:
    """Rows in other batches or places are rounded otherwise; of ten networks it adds up."""
    name = check.func.__name__
    in_other_places = (
        estimator.model == "bagging" and name == "check_methods_sample_order_invariance"
    )
    if name == "check_methods_subset_invariance" or in_other_places:
        pytest.skip("it compares numbers of float32 to 1e-7, and rounding differs by machine")
    check(estimator)


def test_every_model_of_tables_is_checked() -> None:
    models = {name: MODELS.load(name) for name in MODELS}
    takes_tables = {
        name
        for name, model in models.items()
        if "features" in model.inputs and model.targets & {"class", "real"}
    }
    assert takes_tables == AT_DEFAULTS.keys() | {"mlp"}  # which has its own test


@pytest.mark.slow
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    at_defaults(name for name in AT_DEFAULTS if name not in LONG),
    expected_failed_checks=lambda estimator: AT_DEFAULTS[estimator.model],
)
def test_scikit_learn_finds_models_of_the_catalog_right(
    estimator: BaseEstimator, check: Any
) -> None:
    check_but_rounding(estimator, check)


@pytest.mark.slow
@pytest.mark.long
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    at_defaults(LONG), expected_failed_checks=lambda estimator: AT_DEFAULTS[estimator.model]
)
def test_scikit_learn_finds_models_right_that_take_long(
    estimator: BaseEstimator, check: Any
) -> None:
    check_but_rounding(estimator, check)


@pytest.mark.slow
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        kind(name, **small)
        for name, small in SMALLER.items()
        for kind in (NetClassifier, NetRegressor)
    ],
    expected_failed_checks=lambda estimator: AT_DEFAULTS[estimator.model],
)
def test_scikit_learn_finds_large_models_of_the_catalog_right(
    estimator: BaseEstimator, check: Any
) -> None:
    check_but_rounding(estimator, check)
