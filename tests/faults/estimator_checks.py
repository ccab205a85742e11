"""What scikit-learn asks of an estimator: checks that pass without an error.

A check takes a way to make an estimator and targets that it can learn. scikit-learn's own list is
run elsewhere, on four of the models; these are few and quick, for all models.

Shapes: N rows, F features.
"""

import copy
import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from netwright.recipes.estimators.base import NetEstimator

Array = NDArray[Any]
Make = Callable[..., NetEstimator]
Check = Callable[["Subject"], None]

NEED_TWO = ("stacking", "table-resnet")  # one row is held out; of one batch norm has no spread

X = np.random.RandomState(0).randn(30, 4).round(2)
CLASSES = np.where(X[:, 0] + X[:, 1] > 0, "yes", "no")
REALS = X @ np.array([1.0, -2.0, 0.5, 0.0]) + 3


@dataclass(frozen=True, kw_only=True)
class Subject:
    """An estimator under test, and targets that it can learn from X."""

    name: str
    make: Make
    y: Array
    is_classifier: bool

    def fitted(self, inputs: Any = X, **settings: Any) -> NetEstimator:
        return self.make(**settings).fit(inputs, self.y[: len(inputs)])

    @cached_property
    def learned(self) -> NetEstimator:
        """One fitted on X, once for all checks that only read it."""
        return self.fitted()

    def outputs(self, inputs: Any = X, estimator: NetEstimator | None = None) -> Array:
        """Probabilities or reals of an estimator, or of the one learned from X."""
        estimator = self.learned if estimator is None else estimator
        call = estimator.predict_proba if self.is_classifier else estimator.predict
        return np.asarray(call(inputs), dtype=np.float64)


def check_refused(action: Callable[[], Any]) -> None:
    """The action has to be refused as a wrong value, in words."""
    with pytest.raises((ValueError, TypeError), match=r"\w+ \w+") as refusal:
        action()
    assert "torch" not in str(refusal.value).lower()


def with_value(value: float) -> Array:
    changed = X.copy()
    changed[3, 1] = value
    return changed


def fit_refuses_nan(one: Subject) -> None:
    check_refused(lambda: one.fitted(with_value(np.nan)))


def fit_refuses_infinity(one: Subject) -> None:
    check_refused(lambda: one.fitted(with_value(np.inf)))


def predict_refuses_nan(one: Subject) -> None:
    check_refused(lambda: one.outputs(with_value(np.nan)))


def predict_refuses_infinity(one: Subject) -> None:
    check_refused(lambda: one.outputs(with_value(-np.inf)))


def fit_refuses_missing_targets(one: Subject) -> None:
    targets = one.y.astype(object)
    targets[3] = None if one.is_classifier else np.nan
    check_refused(lambda: one.make().fit(X, targets))


def fit_refuses_no_rows(one: Subject) -> None:
    check_refused(lambda: one.fitted(X[:0]))


def predict_refuses_no_rows(one: Subject) -> None:
    check_refused(lambda: one.outputs(X[:0]))


def one_row_is_refused_or_learned(one: Subject) -> None:
    if one.is_classifier or one.make().model in NEED_TWO:
        check_refused(lambda: one.fitted(X[:1], batch_size=None))
    else:
        assert np.isfinite(one.fitted(X[:1], batch_size=None).predict(X)).all()


def one_feature_is_enough(one: Subject) -> None:
    assert np.isfinite(one.outputs(X[:, :1], one.fitted(X[:, :1]))).all()


def one_class_is_refused_and_one_real_learned(one: Subject) -> None:
    targets = np.full_like(one.y, one.y[0])
    if one.is_classifier:
        check_refused(lambda: one.make().fit(X, targets))
    else:
        assert np.isfinite(one.make().fit(X, targets).predict(X)).all()


def a_flat_input_is_refused(one: Subject) -> None:
    check_refused(lambda: one.fitted(X[:, 0]))
    check_refused(lambda: one.outputs(X[:, 0]))


def complex_numbers_are_refused(one: Subject) -> None:
    check_refused(lambda: one.fitted(X + 1j))


def text_is_refused(one: Subject) -> None:
    check_refused(lambda: one.fitted(np.full(X.shape, "a lot", dtype=object)))


def sparse_inputs_are_refused(one: Subject) -> None:
    check_refused(lambda: one.fitted(csr_array(X)))


def lengths_that_differ_are_refused(one: Subject) -> None:
    check_refused(lambda: one.make().fit(X, one.y[:-1]))


def objects_that_are_numbers_are_numbers(one: Subject) -> None:
    assert np.array_equal(one.outputs(X, one.fitted(X.astype(object))), one.outputs())


def whole_numbers_are_numbers(one: Subject) -> None:
    whole = (X * 10).astype(np.int16)
    same = one.outputs(whole, one.fitted(whole))
    assert np.allclose(same, one.outputs(whole, one.fitted(whole.astype(np.float64))), rtol=1e-4)


def yes_and_no_are_numbers(one: Subject) -> None:
    truth = X > 0
    same = one.outputs(truth, one.fitted(truth))
    assert np.allclose(same, one.outputs(truth, one.fitted(truth.astype(np.float64))), rtol=1e-4)


def half_precision_is_read_exactly(one: Subject) -> None:
    half = X.astype(np.float16)
    same = one.outputs(half, one.fitted(half))
    assert np.allclose(same, one.outputs(half, one.fitted(half.astype(np.float32))), rtol=1e-4)


def read_only_memory_is_enough(one: Subject) -> None:
    locked, targets = X.copy(), one.y.copy()
    locked.flags.writeable = targets.flags.writeable = False
    assert np.array_equal(one.outputs(locked, one.make().fit(locked, targets)), one.outputs())


def memory_in_any_order_is_the_same(one: Subject) -> None:
    backwards_with_gaps = np.repeat(X[::-1], 2, axis=1)[::-1, ::2]
    for inputs in (np.asfortranarray(X), backwards_with_gaps):
        assert np.array_equal(one.outputs(inputs, one.fitted(inputs)), one.outputs())


def other_features_are_refused(one: Subject) -> None:
    for inputs in (X[:, :-1], np.hstack([X, X])):
        with pytest.raises(ValueError, match="features"):
            one.outputs(inputs)


def predicting_before_fit_is_refused(one: Subject) -> None:
    with pytest.raises(NotFittedError):
        one.outputs(X, one.make())


def arguments_are_never_changed(one: Subject) -> None:
    estimator = one.make(optimizer_options={"eps": 1e-7})
    before = copy.deepcopy(estimator.get_params())
    with warnings.catch_warnings():  # a rule of its own does not use it, and says so
        warnings.filterwarnings(
            "ignore", message=".* not use optimizer_options", category=UserWarning
        )
        estimator.fit(X, one.y).predict(X)
    assert estimator.get_params() == before


def inputs_are_never_changed(one: Subject) -> None:
    inputs, targets, weights = X.copy(), one.y.copy(), np.ones(len(X))
    one.make().fit(inputs, targets, sample_weight=weights).predict(inputs)
    assert np.array_equal(inputs, X) and np.array_equal(targets, one.y) and (weights == 1).all()


def making_one_does_no_work(one: Subject) -> None:
    before = torch.get_rng_state()
    estimator = one.make(lr="no number", no_such_setting=object())
    assert torch.equal(torch.get_rng_state(), before)
    assert not [name for name in vars(estimator) if name.endswith("_")]


def the_generators_stay_where_they_were(one: Subject) -> None:
    before, numbers = torch.get_rng_state(), str(np.random.get_state(legacy=True))
    one.outputs(X, one.fitted())
    assert torch.equal(torch.get_rng_state(), before)
    assert str(np.random.get_state(legacy=True)) == numbers


def fitting_twice_is_fitting_once(one: Subject) -> None:
    estimator = one.fitted()
    first = one.outputs(X, estimator)
    assert np.array_equal(one.outputs(X, estimator.fit(X, one.y)), first)


def the_order_of_rows_does_not_matter(one: Subject) -> None:
    order = np.random.RandomState(1).permutation(len(X))
    assert np.allclose(one.outputs(X[order]), one.outputs()[order], rtol=1e-5, atol=1e-6)


def a_row_alone_is_the_row_among_others(one: Subject) -> None:
    alone = np.concatenate([one.outputs(X[row : row + 1]) for row in range(len(X))])
    assert np.allclose(alone, one.outputs(), rtol=1e-5, atol=1e-6)


def a_pickle_gives_the_same_bits(one: Subject) -> None:
    again = pickle.loads(pickle.dumps(one.learned))
    assert np.array_equal(one.outputs(X, again), one.outputs())


def a_clone_is_the_same_unfitted(one: Subject) -> None:
    twin = clone(one.learned)
    assert twin.get_params() == one.learned.get_params()
    assert not hasattr(twin, "model_")
    assert np.array_equal(one.outputs(X, twin.fit(X, one.y)), one.outputs())


def its_text_names_it(one: Subject) -> None:
    estimator = one.make()
    assert repr(estimator).startswith(f"{type(estimator).__name__}(")
    assert repr(one.learned) == repr(estimator)


CHECKS: tuple[Check, ...] = (
    fit_refuses_nan,
    fit_refuses_infinity,
    predict_refuses_nan,
    predict_refuses_infinity,
    fit_refuses_missing_targets,
    fit_refuses_no_rows,
    predict_refuses_no_rows,
    one_row_is_refused_or_learned,
    one_feature_is_enough,
    one_class_is_refused_and_one_real_learned,
    a_flat_input_is_refused,
    complex_numbers_are_refused,
    text_is_refused,
    sparse_inputs_are_refused,
    lengths_that_differ_are_refused,
    objects_that_are_numbers_are_numbers,
    whole_numbers_are_numbers,
    yes_and_no_are_numbers,
    half_precision_is_read_exactly,
    read_only_memory_is_enough,
    memory_in_any_order_is_the_same,
    other_features_are_refused,
    predicting_before_fit_is_refused,
    arguments_are_never_changed,
    inputs_are_never_changed,
    making_one_does_no_work,
    the_generators_stay_where_they_were,
    fitting_twice_is_fitting_once,
    the_order_of_rows_does_not_matter,
    a_row_alone_is_the_row_among_others,
    a_pickle_gives_the_same_bits,
    a_clone_is_the_same_unfitted,
    its_text_names_it,
)
