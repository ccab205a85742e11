# ruff: noqa: N803 - scikit-learn calls the inputs X
"""scikit-learn estimators over every model of the catalog: X and y in, arrays out.

    NetClassifier("mlp", hidden=(64,), epochs=20).fit(X, y).predict_proba(X)
    NetClassifier("cnn", epochs=20).fit(images, y).score(images, y)        images (N, C, I, J)
    NetRegressor("lstm", epochs=20).fit(series, y).predict(series)         series (N, T, F)
    NetClassifier(lambda spec: nn.Linear(spec.num_features, spec.num_outputs)).fit(X, y)
    GridSearchCV(NetRegressor("ridge"), {"l2": [1e-3, 1e-1]}).fit(X, y)

They learn in the way of `nw.fit`, with the same settings by the same names, and give the same bits
for the same seed. They write nothing unless a run folder is asked for, and keep no training rows,
but for models that are made of their examples (kernel-regression, svm, the memories).

Shapes: N rows, T steps, F features, C classes, labels or channels, I/J image height and width, K
reals.
Source: Buitinck et al., "API design for machine learning software" (2013).
"""

from collections.abc import Mapping
from math import inf
from numbers import Real
from pathlib import Path
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from netwright.core.errors import ConfigError
from netwright.core.seeding import ONE_AT_A_TIME
from netwright.data.arrays import Names
from netwright.data.targets import ArrayTarget, names_of_classes, type_of_classes
from netwright.metrics.labels import is_yes
from netwright.models.catalog import MODELS
from netwright.recipes.estimators.base import NetEstimator, learns_by_passes
from netwright.recipes.estimators.held_out import ValSize
from netwright.recipes.plan.named_recipe import OwnModel
from netwright.train.tasks.classification import Classification

ClassWeight = Mapping[Any, float] | Literal["balanced"] | None


class NetClassifier(ClassifierMixin, NetEstimator):  # type: ignore[misc]
    """Classes, or several labels a row, by any model of the catalog that predicts them.

    Args:
        model: its name: "mlp", "logistic", "softmax" ...; or a module of your own, of which each
            `fit` trains a copy; or a function that makes one, of nothing or of a `DataSpec` with
            `num_features` and `num_outputs`.
        class_weight: label -> weight, or "balanced": every class counts the same.
        val_size: share of the rows held out to keep the best weights by; with `patience` training
            stops when they get no better. "auto" is 0.1 of 50 rows or more for a network where
            nothing says how long to train (no epochs, max_steps, max_time, patience), else 0: all
            rows are learned from.
        early_stopping: hold out 10 % of the rows, where `val_size` is 0 or "auto", and stop when
            they get no better for 10 epochs, where `patience` is not given.
        importances: measure `feature_importances_` at the end of `fit`.
        random_state: of weights, order and dropout; a number gives the same bits as `nw.fit` with
            it as seed.
        run_folder: where `fit` leaves an ordinary run folder; where it is taken, as in
            cross-validation, NAME-002 and so on. By default nothing is written.
        **settings: of training (epochs, lr, patience ...), of the model (hidden, dropout ...) or of
            the data (standardize ...), each by its name, as in `nw.fit`; also a loss, metrics, an
            optimizer, a schedule or groups of parameters of your own.

    Attributes:
        classes_: the classes (C,) in the order of the probabilities; for labels their numbers.
        model_: the trained module.
        history_: all that was measured while training.
        feature_importances_: with `importances`, how much the loss rises when a column is shuffled
            (F,), on the rows held out if there are any, else on those learned from.
        n_features_in_: F; of images the number of channels, of series that of steps.
        feature_names_in_: the columns, where X was a frame.
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        model: str | OwnModel = "mlp",
        *,
        class_weight: ClassWeight = None,
        val_size: ValSize = "auto",
        early_stopping: bool = False,
        importances: bool = False,
        random_state: int | np.random.RandomState | None = None,
        run_folder: str | Path | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(
            model,
            val_size=val_size,
            early_stopping=early_stopping,
            importances=importances,
            random_state=random_state,
            run_folder=run_folder,
            **settings,
        )
        self.class_weight = class_weight

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = not isinstance(self.model, str) or (
            self.model in MODELS and "labels" in MODELS.load(self.model).targets
        )
        return tags

    @available_if(learns_by_passes)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One pass over these rows, on from the last call or from `fit`.

        The first call fixes the settings and how inputs are encoded.

        Args:
            X: features (N, F), sparse or not, series (N, T, F), or images (N, C, I, J).
            y: targets (N,), or (N, C) for labels.
            classes: all that there will be; needed in the first call.
            sample_weight: how much each row counts (N,).
        """
        if self.class_weight == "balanced":
            raise ConfigError(
                "class_weight 'balanced' needs all rows, but partial_fit sees only a part; give a "
                "dict"
            )
        first, given = not hasattr(self, "model_"), classes is not None
        if first and not given:
            raise ConfigError("classes must be given in the first call of partial_fit")
        if given and not first and not np.array_equal(np.unique(classes), self.classes_):
            raise ConfigError(f"classes must stay {self.classes_.tolist()}, got {list(classes)}")
        with ONE_AT_A_TIME:
            return self._go_on(X, y, sample_weight, classes)

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row (N,); for labels 0 or 1 each (N, C)."""
        probabilities = self._predictions(X)
        if self._several:
            return is_yes(probabilities).long().numpy()
        task = cast(Classification, self._prepared.task)
        likeliest: NDArray[Any] = self.classes_[task.decide(probabilities).numpy()]
        return likeliest

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Probabilities (N, C), in the order of `classes_`."""
        probabilities: NDArray[np.float32] = self._predictions(X).numpy()
        return probabilities

    def predict_log_proba(self, X: Any) -> NDArray[np.float32]:
        """The logarithms of the probabilities (N, C); of one too small for float32 -inf."""
        with np.errstate(divide="ignore"):
            logarithms: NDArray[np.float32] = np.log(self.predict_proba(X))
        return logarithms

    def _read_targets(self, y: NDArray[Any], *, first: bool, classes: Any) -> NDArray[Any]:
        check_classification_targets(y)
        several = y.ndim > 1 and type_of_target(y) == "multilabel-indicator"
        if not several:
            y = column_or_1d(y, warn=True)
        if first:
            self._several = several
            if several:
                self.classes_ = np.arange(y.shape[1])
            else:
                self.classes_ = np.unique(y if classes is None else classes)
        return y

    def _kind(self) -> tuple[ArrayTarget, Names]:
        if self._several:
            return "labels", Names()
        names, class_type = names_of_classes(self.classes_), type_of_classes(self.classes_)
        return "class", Names(classes=names, class_type=class_type)

    def _weigh(self, y: NDArray[Any], weights: NDArray[Any] | None) -> NDArray[Any] | None:
        if self.class_weight is None:
            return weights
        if self._several:
            raise ConfigError(
                "class_weight is for single-label classification, the targets are labels"
            )
        _check_class_weight(self.class_weight)
        places = np.searchsorted(self.classes_, y)
        if self.class_weight == "balanced":  # by weights, not rows: 2 is a row twice
            sums = np.bincount(places, weights, minlength=len(self.classes_))
            of_class = sums.sum() / (np.count_nonzero(sums) * np.where(sums, sums, 1.0))
        else:
            of_class = compute_class_weight(self.class_weight, classes=self.classes_, y=y)
        of_row: NDArray[Any] = of_class[places]
        return of_row if weights is None else of_row * weights


def _check_class_weight(given: Any) -> None:
    """Refuse what weighs no class: another word, a list without labels, a number below 0."""
    is_word = isinstance(given, str) and given == "balanced"
    is_dict = isinstance(given, Mapping) and all(
        isinstance(weight, Real) and 0 <= float(weight) < inf for weight in given.values()
    )
    if not (is_word or is_dict):
        raise ConfigError(
            "class_weight must be 'balanced', None, or a dict from labels to numbers >= 0, got "
            f"{given!r}"
        )


class NetRegressor(RegressorMixin, NetEstimator):  # type: ignore[misc]
    """One or several reals, by any model of the catalog that predicts them.

    Args:
        model: its name: "mlp", "ridge", "least-squares" ...; or one of your own, as `NetClassifier`
            takes it.
        val_size: share of the rows held out to keep the best weights by; with `patience` training
            stops when they get no better. "auto" is 0.1 of 50 rows or more for a network where
            nothing says how long to train (no epochs, max_steps, max_time, patience), else 0: all
            rows are learned from.
        early_stopping: hold out 10 % of the rows, where `val_size` is 0 or "auto", and stop when
            they get no better for 10 epochs, where `patience` is not given.
        importances: measure `feature_importances_` at the end of `fit`.
        random_state: of weights, order and dropout; a number gives the same bits as `nw.fit` with
            it as seed.
        run_folder: where `fit` leaves an ordinary run folder; where it is taken, as in
            cross-validation, NAME-002 and so on. By default nothing is written.
        **settings: of training (epochs, lr, patience ...), of the model (hidden, l2 ...) or of the
            data (standardize ...), each by its name, as in `nw.fit`.

    Attributes:
        model_: the trained module.
        history_: all that was measured while training.
        feature_importances_: with `importances`, how much the loss rises when a column is shuffled
            (F,), on the rows held out if there are any, else on those learned from.
        n_features_in_: F; of images the number of channels, of series that of steps.
        feature_names_in_: the columns, where X was a frame.
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @available_if(learns_by_passes)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One pass over these rows, on from the last call or from `fit`.

        The first call fixes the settings and how inputs and targets are scaled: its rows should
        vary about as much as those to come.

        Args:
            X: features (N, F), sparse or not, series (N, T, F), or images (N, C, I, J).
            y: targets (N,) or (N, K).
            sample_weight: how much each row counts (N,).
        """
        with ONE_AT_A_TIME:
            return self._go_on(X, y, sample_weight)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Reals for each row, shaped as the targets were: (N,) or (N, K)."""
        reals: NDArray[np.float64] = self._predictions(X).double().numpy()
        return reals[:, 0] if self._flat else reals

    def _read_targets(self, y: NDArray[Any], *, first: bool, classes: Any) -> NDArray[Any]:
        if first:
            self._flat = y.ndim == 1
        return y

    def _kind(self) -> tuple[ArrayTarget, Names]:
        return "real", Names()
