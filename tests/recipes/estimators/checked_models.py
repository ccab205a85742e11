"""Which models scikit-learn's checks are asked of, and which of these their definition forbids."""

from collections.abc import Iterable
from typing import Any

from sklearn.base import BaseEstimator

from netwright.models.catalog import MODELS
from netwright.recipes.estimators.scikit_learn import NetClassifier, NetRegressor

IN_BATCHES = "a row given twice stands in two batches, one of weight 2 in one: other steps"
WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
WEIGHTS_OF_SPARSE = "check_sample_weight_equivalence_on_sparse_data"
ACCURACY = "check_classifiers_train"
BY_SIGNS = "it reads the signs of its inputs, which do not tell these three blobs apart"
ROW_BY_ROW = "a row given twice is two steps, one of weight 2 a longer one"
# Models of the catalog at their defaults -> the checks that their definition forbids, and why.
_FORBIDDEN: dict[str, dict[str, str]] = {
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


def of_sparse_too(forbidden: dict[str, str]) -> dict[str, str]:
    """The same check is asked of the same rows in a sparse matrix."""
    if WEIGHTS not in forbidden:
        return forbidden
    return {**forbidden, WEIGHTS_OF_SPARSE: forbidden[WEIGHTS]}


AT_DEFAULTS = {name: of_sparse_too(forbidden) for name, forbidden in _FORBIDDEN.items()}
# Half a second to six seconds a fit.
LONG = (
    *("stacking", "restarts", "ft-transformer", "bagging", "mlp-plr", "table-resnet"),
    *("boosting", "gradient-boosting"),
)
# Of these, smaller ones of the same kind are checked sooner.
_MEMBERS: dict[str, Any] = {"members": 2, "settings": {"hidden": (8,)}, "epochs": 15, "lr": 0.02}
SMALLER: dict[str, dict[str, Any]] = {
    "ft-transformer": {"width": 8, "heads": 2, "layers": 1, "hidden": 8, "epochs": 15, "lr": 0.02},
    "mlp-plr": {"hidden": (8,), "frequencies": 4, "width": 4, "epochs": 15, "lr": 0.02},
    "table-resnet": {"width": 16, "hidden": 16, "layers": 1, "epochs": 15, "lr": 0.02},
    "bagging": _MEMBERS,
    "restarts": _MEMBERS,
    "boosting": {"members": 15},
    "gradient-boosting": {"stages": 30},
}


def at_defaults(names: Iterable[str]) -> list[BaseEstimator]:
    made: list[BaseEstimator] = []
    for name in names:
        targets = MODELS.load(name).targets
        made += [NetClassifier(name)] if "class" in targets else []
        made += [NetRegressor(name)] if "real" in targets else []
    return made
