# ruff: noqa: N803, N806 - scikit-learn calls the inputs X
"""T28: what scikit-learn asks of an estimator, asked of every model that learns from a table."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from sklearn.utils.validation import validate_data

import netwright as nw
from netwright.core.config import describe
from netwright.core.learner import Learner
from netwright.models.catalog import MODELS
from netwright.recipes.estimators import base as estimator_base
from netwright.recipes.estimators.base import NetEstimator
from netwright.train.settings import TrainConfig
from tests.faults.estimator_checks import (
    CHECKS,
    CLASSES,
    REALS,
    Array,
    Check,
    Subject,
    X,
    fitting_twice_is_fitting_once,
    inputs_are_never_changed,
)
from tests.faults.scenario import Figures, Scenario

QUICK = {"epochs": 2, "batch_size": 10, "random_state": 0}
SMALL: dict[str, dict[str, Any]] = {
    "mlp": {"hidden": (4,)},
    "rbm": {"units": 8},
    "random-forest": {"trees": 5},
    "gradient-boosting": {"stages": 5},
    "hist-boosting": {"stages": 5},
    "restarts": {"members": 2, "settings": {"hidden": [4]}},
    "bagging": {"members": 2, "settings": {"hidden": [4]}},
    "boosting": {"members": 3},
    "stacking": {
        "folds": 2,
        "of": ("mlp", "decision-tree"),
        "settings": {"mlp": {"hidden": [4]}},
    },
}
# By gradients, in closed form, by a rule of its own, of trees, and of several.
ONE_OF_EACH_KIND = ("mlp", "ridge", "perceptron", "random-forest", "bagging")
SKIPPED = "skipped (a model with a rule of its own watches no measure and freezes no part)"
UNREAD = ("monitor", "freeze")  # by such a rule
OWN_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "model": (3, "no such value"),
    "val_size": ("no such value", -0.1, 1.0, float("nan")),
    "random_state": ("no such value", -1),
    "run_folder": (3,),
}


def subjects(names: Iterable[str] = MODELS) -> Iterator[Subject]:
    """Every model of features, as a classifier and as a regressor where it is one."""
    for name in names:
        kind = MODELS.load(name)
        if "features" not in kind.inputs:  # rows of a table are no images
            continue
        quick = (
            {"random_state": 0} if learns_by_itself(name) else QUICK
        )  # others would be a warning
        settings = {**quick, **SMALL.get(name, {})}
        if "class" in kind.targets:
            make = partial(nw.NetClassifier, name, **settings)
            yield Subject(name=f"classifier {name}", make=make, y=CLASSES, is_classifier=True)
        if "real" in kind.targets:
            make = partial(nw.NetRegressor, name, **settings)
            yield Subject(name=f"regressor {name}", make=make, y=REALS, is_classifier=False)


def argument_is_refused(one: Subject, *, name: str, value: Any) -> None:
    """A wrong value of an argument is refused by `fit`, which names the argument."""
    with pytest.raises((ValueError, TypeError), match=rf"{name}|no such value"):
        one.make().set_params(**{name: value}).fit(X, one.y)


def argument_checks(one: Subject) -> Iterator[Check]:
    """A wrong type and a wrong value for each argument and each setting of the model."""
    kind = MODELS.load(str(one.make().model))
    own = dict(OWN_ARGUMENTS)
    if one.is_classifier:
        own["class_weight"] = (3, "no such value")
    for name, values in own.items():
        for value in values:
            yield partial(argument_is_refused, name=name, value=value)
    yield from setting_checks(field.name for field in describe(kind.settings))
    yield from setting_checks(["standardize", "factor"])


def setting_checks(names: Iterable[str]) -> Iterator[Check]:
    """A wrong type and a wrong value for each of these settings."""
    for name, value in product(names, (object(), "no such value")):
        yield partial(argument_is_refused, name=name, value=value)


def learns_by_itself(model: str) -> bool:
    """Whether a model does without the settings of training by gradients."""
    return issubclass(MODELS.load(model), Learner) or model == "boosting"  # of trees


def has_meaning(one: Subject, check: Check) -> bool:
    """Whether a check can be asked: what a rule of its own does not read may have any name."""
    by_itself = learns_by_itself(str(one.make().model))
    keywords = check.keywords if isinstance(check, partial) else {}
    unread = [{"name": name, "value": "no such value"} for name in UNREAD]
    return not (by_itself and keywords in unread)


def failures(one: Subject, first: int = 0, step: int = 1) -> Iterator[str | None]:
    """What is wrong with an estimator, check by check: "" where it passes, None for a skip.

    Of the checks of the settings of training, `step` - 1 of `step` may be left out.
    """
    training = list(setting_checks(field.name for field in describe(TrainConfig)))
    for check in (*CHECKS, *argument_checks(one), *training[first::step]):
        if not has_meaning(one, check):
            yield None
            continue
        try:
            check(one)
            yield ""
        except (Exception, pytest.fail.Exception) as error:
            yield f"{one.name}: {check}: {error}"


def measure(folder: Path, step: int = 1, names: Iterable[str] = MODELS) -> Figures:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        found = {
            one.name: list(failures(one, number % step, step))
            for number, one in enumerate(subjects(names))
        }
    every = [failure for ones in found.values() for failure in ones]
    return Figures(
        n=len(every) - every.count(None),
        passed=every.count(""),
        counts={
            "classes": len(found),
            "checks a class, at least": min(map(len, found.values())),
            SKIPPED: every.count(None),
            "files left behind": len(list(folder.iterdir())),
        },
    )


SCENARIO = Scenario(
    code="T28", title="estimator checks on every model", measure=measure, least={"classes": 7}
)


@pytest.mark.parametrize(
    "names", [pytest.param(("mlp",), marks=pytest.mark.slow), ("perceptron",)], ids=" ".join
)
def test_a_model_by_gradients_and_one_by_its_own_rule_pass_every_check(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    figures = measure(tmp_path, step=5, names=names)
    assert figures.passed == figures.n > 70
    assert figures.counts["files left behind"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("names", [ONE_OF_EACH_KIND, tuple(MODELS)], ids=len)
def test_every_model_passes_every_check(names: tuple[str, ...], tmp_path: Path) -> None:
    # One code reads the settings of training for all models.
    figures = measure(tmp_path, step=5, names=names)
    assert SCENARIO.is_green(figures), figures
    assert figures.n >= 400
    assert figures.counts[SKIPPED] <= 0.02 * figures.n
    assert figures.counts["files left behind"] == 0


def test_planted_bug_of_inputs_that_are_changed_in_place_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def greedy(self: Any, X: Array, *targets: Array, **options: Any) -> Any:
        X -= X.mean(axis=0)
        return validate_data(self, X, *targets, **options)

    monkeypatch.setattr(estimator_base, "validate_data", greedy)
    with pytest.raises(AssertionError):
        inputs_are_never_changed(next(subjects()))


def test_planted_bug_of_a_seed_that_is_not_used_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter(range(100))
    monkeypatch.setattr(NetEstimator, "_seed", lambda self: next(numbers))
    with pytest.raises(AssertionError):
        fitting_twice_is_fitting_once(next(subjects()))


@pytest.mark.slow
def test_planted_bug_of_settings_that_nobody_checks_is_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(NetEstimator, "_checked_settings", lambda self: {"epochs": 2})
    ridge = next(one for one in subjects() if one.name == "regressor ridge")
    assert sum(map(bool, failures(ridge))) > 50
