"""scikit-learn's own list of checks on an estimator; on all others in a file of slow tests."""

from collections.abc import Callable

from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from netwright.models.catalog import MODELS
from netwright.recipes.estimators.scikit_learn import NetClassifier
from tests.recipes.estimators.checked_models import AT_DEFAULTS


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [NetClassifier("logistic", epochs=10, lr=0.1)],
    expected_failed_checks=lambda estimator: AT_DEFAULTS[estimator.model],
)
def test_scikit_learn_finds_the_estimator_right(
    estimator: BaseEstimator, check: Callable[[BaseEstimator], None]
) -> None:
    check(estimator)


def test_every_model_of_tables_is_checked() -> None:
    models = {name: MODELS.load(name) for name in MODELS}
    takes_tables = {
        name
        for name, model in models.items()
        if "features" in model.inputs and model.targets & {"class", "real"}
    }
    assert takes_tables == AT_DEFAULTS.keys() | {"mlp"}  # which has its own test
