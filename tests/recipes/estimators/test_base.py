"""What the estimators share: settings by name, the seed, no rows and no files left behind."""

import pickle
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import cross_val_score

import netwright as nw
from netwright.core.errors import ConfigError, DataError, ShapeError
from netwright.recipes.estimators import base
from netwright.recipes.estimators.scikit_learn import NetClassifier, NetRegressor
from netwright.recipes.fitting import training
from netwright.train.trainer import Trainer
from netwright.train.watching.layer_norms import LayerNorms

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]


@pytest.fixture(scope="module")
def blobs() -> Rows:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    return rng.normal(size=(60, 2)) + np.stack((y, -y), axis=1), y


def small(**settings: Any) -> Any:
    return NetClassifier(**{"hidden": (4,), "epochs": 2, "random_state": 0, **settings})


def weights_of(model: torch.nn.Module) -> torch.Tensor:
    return torch.cat([weight.flatten().cpu() for weight in model.state_dict().values()])


def test_params_are_arguments_and_given_settings() -> None:
    estimator = NetClassifier("mlp", hidden=(3,), lr=0.1)
    assert estimator.get_params() == {
        "model": "mlp",
        "class_weight": None,
        "val_size": "auto",
        "early_stopping": False,
        "importances": False,
        "random_state": None,
        "run_folder": None,
        "hidden": (3,),
        "lr": 0.1,
    }
    assert "class_weight" not in NetRegressor().get_params()


def test_set_params_takes_arguments_and_settings() -> None:
    estimator = NetClassifier(hidden=(3,))
    assert estimator.set_params(model="softmax", hidden=(4, 4), epochs=7) is estimator
    params = estimator.get_params()
    assert (params["model"], params["hidden"], params["epochs"]) == ("softmax", (4, 4), 7)
    assert estimator.model == "softmax"


def test_a_clone_has_the_params_and_nothing_learned(blobs: Rows) -> None:
    estimator = small(dropout=0.1).fit(*blobs)
    twin = clone(estimator)
    assert twin.get_params() == estimator.get_params()
    assert not hasattr(twin, "model_")
    twin.set_params(hidden=(9,))
    assert estimator.get_params()["hidden"] == (4,)


def test_a_shallow_copy_sets_its_own_params() -> None:
    import copy

    estimator = small()
    copy.copy(estimator).set_params(epochs=9)
    assert estimator.get_params()["epochs"] == 2


def test_the_text_names_what_was_given() -> None:
    assert repr(NetClassifier(hidden=(3,))) == "NetClassifier(hidden=(3,))"
    assert repr(NetRegressor("ridge", l2=0.1)) == "NetRegressor(l2=0.1, model='ridge')"


def test_the_diagram_shows_parameters_and_what_was_learned(blobs: Rows) -> None:
    estimator = small()
    assert "Not fitted" in estimator._repr_html_()
    page = estimator.fit(*blobs)._repr_html_()
    assert "(4,)" in page
    assert "history_" in page


def test_a_number_is_the_seed_of_nw_fit(blobs: Rows, tmp_path: Path) -> None:
    """The same recipe on the same arrays: the same bits."""
    settings: dict[str, Any] = {"hidden": (4,), "epochs": 3, "dropout": 0.3}
    run = nw.fit(
        "mlp", blobs, seed=7, val_size=0, test_size=0, out=tmp_path / "run", quiet=True, **settings
    )
    numbers: tuple[Any, Any] = (7, np.int64(7))
    for number in numbers:
        estimator = NetClassifier("mlp", random_state=number, **settings).fit(*blobs)
        assert torch.equal(weights_of(estimator.model_), weights_of(run.model))
        told = estimator.history_.as_dict()
        assert told == {key: run.history.series(key) for key in ("train/loss", "train/accuracy")}


def test_held_out_rows_are_those_of_nw_fit(blobs: Rows, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"hidden": (4,), "epochs": 4, "val_size": 0.3, "split_seed": 5}
    run = nw.fit("mlp", blobs, seed=7, test_size=0, out=tmp_path / "run", quiet=True, **settings)
    estimator = NetClassifier(random_state=7, **settings).fit(*blobs)
    assert torch.equal(weights_of(estimator.model_), weights_of(run.model))
    assert len(estimator.history_.series("val/loss")) == 4


def test_by_default_all_rows_are_learned_from(blobs: Rows) -> None:
    estimator = small().fit(*blobs)
    assert estimator.history_.keys() == ["train/loss", "train/accuracy"]
    assert [row.samples for row in estimator.history_] == [60, 60, 120, 120]


def test_a_generator_gives_the_seed_and_moves_on(blobs: Rows) -> None:
    def two_fits(state: Any) -> list[torch.Tensor]:
        estimator = small(random_state=state)
        return [weights_of(estimator.fit(*blobs).model_).clone() for _ in range(2)]

    first, second = two_fits(np.random.RandomState(3))
    again, _ = two_fits(np.random.RandomState(3))
    assert torch.equal(first, again)
    assert not torch.equal(first, second)


def test_without_a_random_state_numpys_own_is_used(blobs: Rows) -> None:
    fits = []
    for seed in (1, 1, 2):
        np.random.seed(seed)
        fits.append(weights_of(small(random_state=None).fit(*blobs).model_))
    assert torch.equal(fits[0], fits[1])
    assert not torch.equal(fits[0], fits[2])


def test_a_row_of_weight_0_is_not_there(blobs: Rows) -> None:
    inputs, y = blobs
    there = np.arange(60) % 4 != 0
    left_out = small().fit(inputs[there], y[there])
    weighted = small().fit(inputs, y, sample_weight=3.0 * there)
    assert weights_of(left_out.model_) == pytest.approx(weights_of(weighted.model_), abs=1e-6)
    assert (weighted.history_.rows[-1].samples, len(left_out.classes_)) == (90, 3)


def test_a_class_without_weight_stays_a_class(blobs: Rows) -> None:
    inputs, y = blobs
    estimator = small(epochs=30, lr=0.05).fit(inputs, y, sample_weight=y < 2)
    assert estimator.classes_.tolist() == [0, 1, 2]
    assert set(estimator.predict(inputs)) == {0, 1}
    assert estimator.predict_proba(inputs).shape == (60, 3)


def test_fits_in_threads_take_turns(blobs: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """All draw from torch's one generator: together they would draw each other's numbers."""
    at_work, overlaps = [0], []

    def watched(*given: Any, **settings: Any) -> Any:
        at_work[0] += 1
        overlaps.append(at_work[0])
        time.sleep(0.01)  # the other thread would come in here
        try:
            return train(*given, **settings)
        finally:
            at_work[0] -= 1

    wanted = [small(random_state=seed, dropout=0.5).fit(*blobs) for seed in range(3)]
    train = training.train
    monkeypatch.setattr(base, "train", watched)
    with ThreadPoolExecutor(3) as threads:
        found = list(
            threads.map(lambda seed: small(random_state=seed, dropout=0.5).fit(*blobs), range(3))
        )
    assert overlaps == [1, 1, 1]
    for one, other in zip(wanted, found, strict=True):
        assert torch.equal(weights_of(one.model_), weights_of(other.model_))


def test_what_is_kept_does_not_grow_with_the_rows(blobs: Rows) -> None:
    inputs, y = blobs
    sizes = [
        len(pickle.dumps(small(epochs=1).fit(np.tile(inputs, (n, 1)), np.tile(y, n))))
        for n in (1, 100)
    ]
    assert sizes[1] - sizes[0] < 1000


def test_a_pickle_predicts_the_same_bits(blobs: Rows) -> None:
    inputs, y = blobs
    for estimator in (small(batch_norm=True), NetRegressor("ridge")):
        estimator.fit(inputs, y)
        again = pickle.loads(pickle.dumps(estimator))
        assert torch.equal(weights_of(estimator.model_), weights_of(again.model_))
        assert np.array_equal(estimator.predict(inputs), again.predict(inputs))


def test_many_rows_are_predicted_a_part_at_a_time(
    blobs: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    estimator = small().fit(*blobs)
    whole = estimator.predict_proba(blobs[0])
    monkeypatch.setattr("netwright.recipes.estimators.given_rows.MOST_ROWS", 7)
    assert estimator.predict_proba(blobs[0]) == pytest.approx(whole, abs=1e-6)


def test_only_a_run_folder_that_is_asked_for_is_written(
    blobs: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    inputs, y = blobs
    small().fit(inputs, y)
    small().partial_fit(inputs, y, classes=[0, 1, 2])
    NetRegressor("ridge").fit(inputs, y)
    assert not list(tmp_path.iterdir())
    asked = small(run_folder="one", device="cpu").fit(inputs, y)
    opened = nw.open_run("one")
    assert np.array_equal(opened.predict(inputs), asked.predict(inputs))
    assert np.array_equal(opened.predict_proba(inputs), asked.predict_proba(inputs))
    assert opened.history.as_dict() == asked.history_.as_dict()
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_only_a_run_folder_needs_measures_at_the_end(
    blobs: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = []

    def results(*given: Any) -> dict[str, Any]:
        measured.append(given)
        return {"metrics": {}}

    monkeypatch.setattr(training, "_results", results)
    settings: dict[str, Any] = {"epochs": 1, "random_state": 0}
    NetClassifier("logistic", **settings).fit(*blobs)
    assert not measured
    NetClassifier("logistic", run_folder=tmp_path / "run", **settings).fit(*blobs)
    assert len(measured) == 1


def test_layers_are_watched_and_settings_rehearsed_only_for_a_run_folder(
    blobs: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr(Trainer, "rehearse", lambda *_: done.append("rehearsed"))
    monkeypatch.setattr(LayerNorms, "take_gradients", lambda _: done.append("watched"))
    small(epochs=1).fit(*blobs)
    assert not done
    small(epochs=1, doctor=True).fit(*blobs)
    assert done == ["watched"] * 2
    small(epochs=1, run_folder=tmp_path / "run").fit(*blobs)
    assert done == ["watched"] * 2 + ["rehearsed"] + ["watched"] * 2


def test_a_setting_that_does_not_fit_is_refused_without_a_rehearsal_too(blobs: Rows) -> None:
    with pytest.raises(ConfigError, match="momentum"):
        small(optimizer="adam", optimizer_options={"momentum": 0.5}).fit(*blobs)


def test_a_frame_names_features_and_target(blobs: Rows, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(blobs[0], columns=["height", "width"])
    kinds = pandas.Series(np.array(["a", "b", "c"])[blobs[1]], name="kind")
    estimator = small(run_folder=tmp_path / "run").fit(frame, kinds)
    assert estimator.feature_names_in_.tolist() == ["height", "width"]
    spec = nw.open_run(tmp_path / "run").spec
    assert spec.feature_names == ("height", "width")
    assert spec.target_names == ("kind",)
    assert spec.class_names == ("a", "b", "c")
    with pytest.raises(ValueError, match="feature names should match"):
        estimator.predict(frame[["width", "height"]])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"hiden": 3}, "unknown setting 'hiden'; did you mean 'hidden'?"),
        ({"model": "mpl"}, "unknown model 'mpl'; did you mean 'mlp'?"),
        (
            {"model": 3},
            "model must be a name, an nn.Module or a function that returns one, got int",
        ),
        (
            {"model": "ridge"},
            "ridge predicts real, got a target of kind 'class'; for a table of features and "
            "targets of kind 'class' there are mlp, mlp-plr, table-resnet, ...",
        ),
        ({"seed": 3}, "'seed' is not a setting of NetClassifier: give random_state"),
        ({"out": "x"}, "'out' is not a setting of NetClassifier: give run_folder"),
        ({"run_folder": 3}, "run_folder must be a path, got 3"),
        (
            {"track": "tensorboard"},
            "track writes inside a run folder: give run_folder, or remove track",
        ),
        (
            {"random_state": -1},
            "random_state must be a whole number from 0 to 2**32 - 1, a RandomState or None, "
            "got -1",
        ),
        ({"data": 3}, "'data' is not a setting of NetClassifier: give X and y to fit"),
        ({"kind": "real"}, "'kind' is not a setting of NetClassifier: it is the estimator's own"),
        (
            {"test_size": 0.2},
            "'test_size' is not a setting of NetClassifier: hold rows out before fit",
        ),
        (
            {"patience": 3},
            "patience needs 'val/loss', but arrays has no val split: set val_size, or "
            "monitor=train/loss",
        ),
        ({"val_size": 2}, "data.val_size must be less than 1.0, got 2"),
        (
            {"batch_size": 99, "val_size": 0.0},
            "batch_size 99 is more than the 60 training rows of arrays; use 60 or fewer",
        ),
        ({"max_iter": 3}, "'max_iter' is not a setting of NetClassifier: give epochs"),
        ({"standardize": 3}, "data.standardize must be true or false, got 3"),
    ],
)
def test_refuses_at_fit_in_one_sentence(
    blobs: Rows, settings: dict[str, Any], sentence: str
) -> None:
    estimator = NetClassifier(**settings)
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        estimator.fit(*blobs)
    assert not hasattr(estimator, "model_")


def test_settings_of_the_data_go_by_their_exact_names_too(blobs: Rows) -> None:
    exact = small(**{"data.standardize": False, "train.lr": 0.1}).fit(*blobs)
    short = small(standardize=False, lr=0.1).fit(*blobs)
    assert torch.equal(weights_of(exact.model_), weights_of(short.model_))
    with pytest.raises(ConfigError, match=r"unknown setting .data\.standardize"):
        small(**{"data.standardize": False, "standardize": True}).fit(*blobs)


def test_refuses_a_run_folder_for_passes(blobs: Rows) -> None:
    estimator = small(run_folder="one")
    with pytest.raises(ConfigError, match=r"^partial_fit writes no run folder, got 'one'$"):
        estimator.partial_fit(*blobs, classes=[0, 1, 2])


def test_refuses_one_class_after_weighing(blobs: Rows) -> None:
    inputs, y = blobs
    with pytest.raises(DataError, match=r"^arrays has only one class in its training rows, '1'$"):
        small().fit(inputs, y, sample_weight=y == 1)


def test_every_fold_of_a_cross_validation_has_a_run_folder(blobs: Rows, tmp_path: Path) -> None:
    scores = cross_val_score(small(run_folder=tmp_path / "net"), *blobs, cv=2, error_score="raise")
    assert len(scores) == 2
    assert sorted(folder.name for folder in tmp_path.iterdir()) == ["net", "net-002"]


@pytest.fixture(scope="module")
def digits() -> Rows:
    """Pictures of 0 and 1, (200, 1, 8, 8)."""
    inputs, y = load_digits(n_class=2, return_X_y=True)
    return (inputs[:200] / 16).reshape(-1, 1, 8, 8), y[:200]


def tiny_cnn() -> Any:
    settings: dict[str, Any] = {"channels": (4,), "hidden": (8,), "epochs": 8, "lr": 0.01}
    return NetClassifier("cnn", random_state=0, device="cpu", **settings)


@pytest.mark.slow
def test_images_are_learned_from_and_cross_validated(digits: Rows) -> None:
    assert cross_val_score(tiny_cnn(), *digits, cv=2, error_score="raise").min() > 0.9
    estimator = tiny_cnn().fit(*digits)
    assert estimator.n_features_in_ == 1  # channels: as scikit-learn counts, the second axis
    by_hand = nw.fit(
        "cnn",
        digits,
        channels=(4,),
        hidden=(8,),
        epochs=8,
        lr=0.01,
        val_size=0,
        test_size=0,
        seed=0,
        device="cpu",
        quiet=True,
        out=None,
    )
    assert np.array_equal(estimator.predict_proba(digits[0]), by_hand.predict_proba(digits[0]))


def test_images_are_learned_from_in_passes_and_as_reals(digits: Rows) -> None:
    inputs, y = digits
    estimator = tiny_cnn()
    for _ in range(8):
        estimator.partial_fit(inputs, y, classes=[0, 1])
    assert estimator.score(inputs, y) > 0.9
    reals = NetRegressor("cnn", channels=(4,), hidden=(8,), epochs=5, lr=0.01, random_state=0)
    assert reals.fit(inputs, y).score(inputs, y) > 0.5


def test_images_may_have_their_channels_last(digits: Rows) -> None:
    inputs, y = digits
    last = np.moveaxis(inputs, 1, -1)
    first, other = tiny_cnn().fit(inputs, y), tiny_cnn().fit(last, y)
    assert np.array_equal(other.predict_proba(last), first.predict_proba(inputs))
    with pytest.raises(ShapeError, match=r"^X must have shape \(N, 8, 8, 1\) as it had in fit"):
        other.predict(inputs)


@pytest.mark.parametrize("shape", [(5, 1, 8, 7), (5, 3, 8, 8), (5, 64), (5, 8, 8)])
def test_refuses_images_of_another_shape_than_the_first(
    digits: Rows, shape: tuple[int, ...]
) -> None:
    estimator = tiny_cnn().partial_fit(*digits, classes=[0, 1])
    sentence = f"X must have shape (N, 1, 8, 8) as it had in fit, got {shape}"
    other, y = np.zeros(shape), np.arange(5) % 2
    for method in (estimator.predict, estimator.predict_proba):
        with pytest.raises(ShapeError, match=f"^{re.escape(sentence)}$"):
            method(other)
    for method in (estimator.score, estimator.partial_fit):
        with pytest.raises(ShapeError, match=f"^{re.escape(sentence)}$"):
            method(other, y)


def test_a_recurrent_model_learns_from_series_of_floats(tmp_path: Path) -> None:
    series = np.random.default_rng(0).normal(size=(60, 7, 3)).astype(np.float32)
    settings: dict[str, Any] = {"hidden": 4, "epochs": 1, "random_state": 0}
    classifier = NetClassifier("lstm", **settings).fit(series, np.arange(60) % 2)
    assert classifier.predict_proba(series).shape == (60, 2)
    regressor = NetRegressor("lstm", **settings).fit(series, series[:, -1, 0])
    assert regressor.predict(series).shape == (60,)
    sentence = "X must have shape (N, 7, 3) as it had in fit, got (60, 7, 2)"
    with pytest.raises(ShapeError, match=f"^{re.escape(sentence)}$"):
        regressor.predict(series[..., :2])
    run = nw.fit(
        "lstm", (series, series[:, -1, 0]), hidden=4, epochs=1, out=tmp_path / "run", quiet=True
    )
    assert run.spec.inputs == "series"


def test_refuses_inputs_that_are_neither_features_nor_images(blobs: Rows) -> None:
    inputs, y = blobs
    sentence = "inputs must have shape (N, F), (N, T, F) or (N, C, I, J), got (60, 2, 1, 1, 1)"
    with pytest.raises(ShapeError, match=f"^{re.escape(sentence)}$"):
        small().fit(inputs[..., None, None, None], y)
    sentence = "cnn needs images, got a table of features"
    with pytest.raises(ConfigError, match=f"^{sentence}; for a table of features and targets"):
        NetClassifier("cnn").fit(inputs, y)
