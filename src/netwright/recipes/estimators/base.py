# ruff: noqa: N803, N806 - scikit-learn calls the inputs X
"""What the estimators share: settings by name, learning in the way of `nw.fit`, and going on.

Shapes: N rows, T steps, F features, C channels, I/J image height and width, K outputs.
"""

import warnings
from abc import ABC, abstractmethod
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from torch import Tensor, nn

from netwright.core.config import parse
from netwright.core.devices import device_of
from netwright.core.errors import ConfigError, ShapeError
from netwright.core.learner import Learner
from netwright.core.seeding import ONE_AT_A_TIME
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.arrays import ArraysConfig, Names, from_arrays
from netwright.data.dataset import Split
from netwright.data.raw_arrays import column_names
from netwright.data.targets import ArrayTarget
from netwright.models.catalog import MODELS
from netwright.models.ensembles.ensemble import Ensemble
from netwright.recipes.estimators.column_importances import check_has_columns, column_importances
from netwright.recipes.estimators.given_rows import encoded_parts, encoded_rows, takes_sparse
from netwright.recipes.estimators.held_out import ValSize, count_rows, held_out_share
from netwright.recipes.estimators.instead import INSTEAD
from netwright.recipes.estimators.passes import KeepTrainingState, TrainingState, learn_one_pass
from netwright.recipes.fitting.fit import put_together, resolve
from netwright.recipes.fitting.own_model import build_own_model
from netwright.recipes.fitting.prepared import Prepared
from netwright.recipes.fitting.training import train
from netwright.recipes.plan.given_settings import given_to
from netwright.recipes.plan.named_recipe import OwnModel
from netwright.recipes.plan.unused_settings import unused_notes
from netwright.recipes.saved.run_folder import claim_folder
from netwright.train.evaluate import predict
from netwright.train.own.parts import check_copied, take_all_own
from netwright.train.settings import DEFAULT_OPTIMIZER
from netwright.train.tasks.regression import check_given
from netwright.train.watching.history import History

Rows = tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]  # inputs, targets, weights

# Read as they are; what else stands for numbers, such as categories 1 and 2, becomes the first.
NUMBERS = tuple(
    map(np.dtype, ("f8", "f4", "f2", "?", *("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")))
)
# As scikit-learn's MLPClassifier has it: n_iter_no_change.
EARLY_PATIENCE = 10
DATA_SETTINGS = ("standardize", "factor", "split_seed")


def learns_by_passes(estimator: "NetEstimator") -> bool:
    """Whether `partial_fit` is there; a model that takes all rows at once says why it is not."""
    model = estimator.model
    if isinstance(model, str) and issubclass(MODELS.load(model), Learner | Ensemble):
        raise AttributeError(f"{estimator.model} is trained on all rows at once: use fit")
    return True


class NetEstimator(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """The abstract kind; `NetClassifier` and `NetRegressor` say what the arguments are."""

    model_: nn.Module
    history_: History
    feature_importances_: NDArray[np.float64]
    _prepared: Prepared  # without its rows
    _given_shape: tuple[int, ...]  # of one input, its channels first or last
    _training_state: TrainingState | None

    def __init__(
        self,
        model: str | OwnModel = "mlp",
        *,
        val_size: ValSize = "auto",
        early_stopping: bool = False,
        importances: bool = False,
        random_state: int | np.random.RandomState | None = None,
        run_folder: str | Path | None = None,
        **settings: Any,
    ) -> None:
        self.model, self.val_size = model, val_size
        self.early_stopping, self.importances = early_stopping, importances
        self.random_state, self.run_folder = random_state, run_folder
        self._settings = settings

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self.model)
        return tags

    @abstractmethod
    def _read_targets(self, y: NDArray[Any], *, first: bool, classes: Any) -> NDArray[Any]:
        """Check the targets; the first ones say what there is to predict."""

    @abstractmethod
    def _kind(self) -> tuple[ArrayTarget, Names]:
        """What there is to predict, with the names of its classes."""

    def _weigh(self, y: NDArray[Any], weights: NDArray[Any] | None) -> NDArray[Any] | None:
        """How much each row counts in the end."""
        return weights

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor, and the settings that were given."""
        return {**super().get_params(deep), **self._settings}

    def set_params(self, **params: Any) -> Self:
        """Set arguments and settings; `fit` looks whether there is such a setting."""
        own = {name: params.pop(name) for name in self._get_param_names() if name in params}
        super().set_params(**own)
        self._settings = {**self._settings, **params}  # a new one: a shallow copy keeps its own
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from scratch.

        Args:
            X: features (N, F), which may be a sparse matrix (of TF-IDF is learned better with
                standardize=False, which does not make rare words loud), series (N, T, F), or images
                (N, C, I, J) or (N, I, J, C).
            y: targets (N,), or (N, K) for several labels or reals.
            sample_weight: how much each row counts (N,); one with 0 counts as not there.
        """
        with ONE_AT_A_TIME:
            return self._learn(X, y, sample_weight)

    def _learn(self, X: Any, y: Any, sample_weight: Any) -> Self:
        held_out = self._held_out(y)
        prepared = self._prepare(X, y, sample_weight, val_size=held_out)
        self._check_fit(prepared)
        unused = unused_notes(prepared.recipe, prepared.model, prepared.unused)
        for note in unused:  # nothing is printed here, and there may be no folder
            warnings.warn(note, UserWarning, stacklevel=3)
        folder = None if self.run_folder is None else claim_folder(Path(self.run_folder))
        keep = KeepTrainingState()
        run = train(
            prepared,
            out=folder,
            extra=[keep],
            quiet=True,
            keep_folder=folder is not None,
            measures=False,
        )
        if self.importances:
            self.feature_importances_ = column_importances(prepared)
        elif hasattr(self, "feature_importances_"):  # of another fit
            del self.feature_importances_
        by_passes = not isinstance(run.model, Learner | Ensemble)
        self._settle(prepared, run.history, keep.training_state if by_passes else None)
        return self

    def _held_out(self, y: Any) -> float:
        """The share of the rows that is not learned from."""
        for name in ("early_stopping", "importances"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ConfigError(f"{name} must be True or False, got {getattr(self, name)!r}")
        return held_out_share(
            self.val_size,
            early_stopping=self.early_stopping,
            model=self.model,
            settings=self._settings,
            rows=count_rows(y),
        )

    def _check_fit(self, prepared: Prepared) -> None:
        """Refuse, before anything is learned, what this model or this data does not have."""
        if self.early_stopping and isinstance(prepared.model, Learner):
            raise ConfigError(
                f"{self.model} has its own learning rule and ends by itself: remove early_stopping"
            )
        if self.importances:
            check_has_columns(prepared.data.spec)

    def _go_on(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """One pass over these rows, on from where the model stands."""
        if self.run_folder is not None:
            raise ConfigError(f"partial_fit writes no run folder, got {str(self.run_folder)!r}")
        if self.early_stopping:
            raise ConfigError("partial_fit holds no rows out: set early_stopping=False, or use fit")
        if hasattr(self, "model_"):
            prepared, before = self._with_rows(X, y, sample_weight), self._training_state
            check_given(prepared.task, prepared.data.train.targets, prepared.data.spec)
        else:
            prepared = self._prepare(
                X, y, sample_weight, classes=classes, val_size=0.0, is_part=True
            )
            before = None
        given = given_to("train", self._settings)
        training_state = learn_one_pass(
            prepared,
            before,
            batch_size=given.get("batch_size"),
            has_length=any(given.get(name) is not None for name in ("epochs", "max_steps")),
        )
        self._settle(prepared, History(list(training_state["history"])), training_state)
        return self

    def _prepare(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        classes: Any = None,
        val_size: float,
        is_part: bool = False,
    ) -> Prepared:
        """Make the recipe for these rows: their encoding, an untrained model, its task."""
        if not isinstance(self.run_folder, str | Path | None):
            raise ConfigError(f"run_folder must be a path, got {self.run_folder!r}")
        target_names = column_names(y)
        X, y, weights = self._read(X, y, sample_weight, first=True, classes=classes)
        kind, names = self._kind()
        settings = self._checked_settings()
        if is_part and "optimizer" not in given_to("train", settings):
            settings["train.optimizer"] = DEFAULT_OPTIMIZER  # a part's optimum is not that of all
        names_given = {one: one if one in settings else f"data.{one}" for one in DATA_SETTINGS}
        for_data = {
            one: settings.pop(given) for one, given in names_given.items() if given in settings
        }
        for_data |= {"kind": kind, "val_size": val_size, "test_size": 0.0}
        data = from_arrays(
            X,
            y,
            config=parse(ArraysConfig, for_data, "data"),
            names=replace(
                names,
                features=tuple(getattr(self, "feature_names_in_", ())),
                targets=target_names,
            ),
            weights=weights,
            is_part=is_part,
        )
        own, settings = take_all_own(settings)
        check_copied(own, type(self).__name__)
        seed, model = self._seed(), self.model
        if not isinstance(model, str):
            model = build_own_model(model, data.spec, seed)
        recipe = resolve(model, data, seed=seed, **settings)
        writes = self.run_folder is not None
        return put_together(*recipe, own=own, is_part=is_part, rehearses=writes)

    def _with_rows(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        """The recipe at hand with new rows, encoded as the first ones were."""
        X, y, weights = self._read(X, y, sample_weight, first=False, classes=None)
        data, encoder = self._prepared.data, self._encoder()
        counted = None if weights is None else torch.tensor(weights, dtype=torch.float32)
        rows = encoded_rows(X, encoder.encode_targets(y), counted, encoder)
        return replace(self._prepared, data=replace(data, train=rows))

    def _encoder(self) -> ArrayEncoder:
        """How the rows that were learned from are encoded."""
        return cast(ArrayEncoder, self._prepared.data.preprocessor)

    def _read(self, X: Any, y: Any, sample_weight: Any, *, first: bool, classes: Any) -> Rows:
        """Arrays that scikit-learn finds right; rows of weight 0 are left out."""
        numeric = is_regressor(self)
        X, y = self._validated(X, y, first=first, multi_output=True, y_numeric=numeric)
        y = y.toarray() if issparse(y) else y  # type: ignore[attr-defined]
        y = self._read_targets(y, first=first, classes=classes)
        weights = sample_weight
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        weights = self._weigh(y, weights)
        if weights is None or weights.all():
            return X, y, weights
        there = weights > 0
        return X[there], y[there], weights[there]

    def _validated(self, *arrays: Any, first: bool, **how: Any) -> Any:
        """X, or X and y, that scikit-learn finds right; each input is shaped as the first ones."""
        wanted = () if first else self._given_shape
        if len(wanted) > 1:  # scikit-learn looks at its first dimension alone
            got = tuple(np.shape(arrays[0]))
            if got[1:] != wanted:
                shape = ", ".join(map(str, wanted))
                raise ShapeError(f"X must have shape (N, {shape}) as it had in fit, got {got}")
        how = {"accept_sparse": "csr", "allow_nd": True, "dtype": NUMBERS, **how}
        found = validate_data(self, *arrays, reset=first, **how)
        if first:
            read = found[0] if isinstance(found, tuple) else found  # what is given may be no array
            self._given_shape = tuple(read.shape[1:])
        return found

    def _settle(
        self, prepared: Prepared, history: History, training_state: TrainingState | None
    ) -> None:
        """Keep what new rows need; let go of the training rows."""
        data = prepared.data
        none = Split(inputs=torch.empty(0, *data.spec.input_shape), targets=torch.empty(0))
        self._prepared = replace(prepared, data=replace(data, train=none, val=None))
        self.model_ = prepared.model.cpu()  # a pickle of it opens where there is no accelerator
        self.history_, self._training_state = history, training_state

    def _predictions(self, X: Any) -> Tensor:
        """Probabilities (N, C) or reals (N, K)."""
        check_is_fitted(self, "model_")
        X = self._validated(X, first=False)
        device, task = device_of(self.model_), self._prepared.task
        parts = encoded_parts(X, self._encoder())
        return torch.cat([predict(self.model_, part.to(device), task) for part in parts])

    def _seed(self) -> int:
        """The number that was given itself, as in `nw.fit`; else one from the generator."""
        try:
            generator = check_random_state(self.random_state)
        except ValueError:
            wanted = "a whole number from 0 to 2**32 - 1, a RandomState or None"
            raise ConfigError(f"random_state must be {wanted}, got {self.random_state!r}") from None
        if isinstance(self.random_state, Integral):
            return int(self.random_state)
        return int(generator.randint(np.iinfo(np.int32).max))

    def _checked_settings(self) -> dict[str, Any]:
        """A copy of the settings; what an estimator has another way for is refused."""
        for name, advice in INSTEAD.items():
            if name in self._settings:
                raise ConfigError(f"{name!r} is not a setting of {type(self).__name__}: {advice}")
        if self.run_folder is None and given_to("train", self._settings).get("track"):
            raise ConfigError("track writes inside a run folder: give run_folder, or remove track")
        settings, given = dict(self._settings), given_to("train", self._settings)
        if self.early_stopping and "patience" not in given:
            settings["train.patience"] = EARLY_PATIENCE
        if self.run_folder is None and "doctor" not in given:
            settings["train.doctor"] = False  # what it finds stands in the report, there is none
        return settings
