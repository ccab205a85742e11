"""Sparse rows: the bits of the array that they stand for, of nw.fit, and never dense at once."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from torch import nn

import netwright as nw
from netwright.core.errors import ConfigError, ShapeError
from netwright.data import sparse_rows
from netwright.data.loading.stored import StoredSplit
from netwright.recipes.estimators import given_rows, passes
from netwright.recipes.estimators.given_rows import encoded_parts, takes_sparse
from netwright.recipes.estimators.scikit_learn import NetClassifier, NetRegressor
from tests.repetition import for_each

Rows = tuple[NDArray[np.float64], NDArray[np.int64]]
SETTINGS: dict[str, Any] = {"hidden": (4,), "dropout": 0.3}


@pytest.fixture(scope="module")
def counts() -> Rows:
    """Rows of which a fifth of the numbers is not 0, (60, 8)."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(60, 8)) * (rng.random((60, 8)) < 0.2)
    return inputs, (inputs[:, 0] + inputs[:, 1] > 0).astype(int)


@pytest.fixture(params=["small", "large"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A large matrix is read a batch at a time."""
    if request.param == "large":
        monkeypatch.setattr(sparse_rows, "MOST_DENSE", 10)
    return str(request.param)


def weights_of(model: nn.Module) -> torch.Tensor:
    return torch.cat([weight.flatten().cpu() for weight in model.state_dict().values()])


def net(**settings: Any) -> Any:
    return NetClassifier(**{**SETTINGS, "random_state": 7, **settings})


@for_each("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_a_sparse_matrix_is_learned_from_as_the_array_and_as_nw_fit_does(
    counts: Rows, size: str, make: Callable[[Any], Any]
) -> None:
    inputs, y = counts
    matrix = make(inputs)
    ours, dense = net(epochs=2).fit(matrix, y), net(epochs=2).fit(inputs, y)
    run = nw.fit(
        "mlp",
        (matrix, y),
        seed=7,
        epochs=2,
        val_size=0,
        test_size=0,
        quiet=True,
        save=False,
        **SETTINGS,
    )
    assert torch.equal(weights_of(ours.model_), weights_of(run.model))
    assert torch.equal(weights_of(ours.model_), weights_of(dense.model_))
    assert np.array_equal(ours.predict_proba(matrix), dense.predict_proba(inputs))
    assert ours.score(matrix, y) == dense.score(inputs, y)


def test_passes_over_a_sparse_matrix_are_epochs(
    counts: Rows, size: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def watched(prepared: Any, *given: Any, **settings: Any) -> Any:
        seen.append(isinstance(prepared.data.train, StoredSplit))
        return passes.learn_one_pass(prepared, *given, **settings)

    monkeypatch.setattr("netwright.recipes.estimators.base.learn_one_pass", watched)
    inputs, y = counts
    passed = net()
    for _ in range(3):
        passed.partial_fit(sparse.csr_array(inputs), y, classes=[0, 1])
    assert torch.equal(weights_of(passed.model_), weights_of(net(epochs=3).fit(*counts).model_))
    assert seen == [size == "large"] * 3


def test_weights_of_sparse_rows_count(counts: Rows, size: str) -> None:
    inputs, y = counts
    there = np.arange(60) % 4 != 0
    matrix = sparse.csr_array(inputs)
    weighted = net(epochs=2).fit(matrix, y, sample_weight=there)
    left_out = net(epochs=2).fit(inputs[there], y[there])
    assert weights_of(weighted.model_) == pytest.approx(weights_of(left_out.model_), abs=1e-6)


def test_texts_go_through_a_pipeline() -> None:
    texts = np.array(["a good film", "a bad film", "good, so good", "bad and sad"] * 8)
    labels = np.array(["yes", "no", "yes", "no"] * 8)
    pipeline = make_pipeline(TfidfVectorizer(), net(hidden=(), epochs=5, lr=0.1))
    assert cross_val_score(pipeline, texts, labels, cv=2, error_score="raise").tolist() == [1, 1]
    assert pipeline.fit(texts, labels).predict(["how good", "how sad"]).tolist() == ["yes", "no"]


def test_rules_that_take_all_rows_at_once_take_sparse_ones(counts: Rows, size: str) -> None:
    inputs, _ = counts
    for name in ("ridge", "kernel-regression"):
        ours = NetRegressor(name).fit(sparse.csr_array(inputs), inputs[:, 0])
        theirs = NetRegressor(name).fit(inputs, inputs[:, 0])
        assert np.array_equal(ours.predict(sparse.csr_array(inputs)), theirs.predict(inputs))


def test_only_a_part_of_a_sparse_matrix_is_dense_at_a_time(
    counts: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    inputs, y = counts
    encoder = net(epochs=1).fit(inputs, y)._encoder()
    monkeypatch.setattr(given_rows, "MOST_NUMBERS", 8 * 25)
    assert [len(part) for part in encoded_parts(sparse.csr_array(inputs), encoder)] == [25, 25, 10]
    assert [len(part) for part in encoded_parts(inputs, encoder)] == [60]
    monkeypatch.setattr(given_rows, "MOST_NUMBERS", 7)  # a row is more
    parts = list(encoded_parts(sparse.csr_array(inputs), encoder))
    assert torch.equal(torch.cat(parts), encoder.encode(inputs))


def test_the_tag_says_which_models_take_sparse_rows() -> None:
    told = {name: takes_sparse(name) for name in ("mlp", "ridge", "cnn", "lstm", "mpl")}
    assert told == {"mlp": True, "ridge": True, "cnn": False, "lstm": False, "mpl": False}
    assert NetClassifier(nn.Linear(8, 2)).__sklearn_tags__().input_tags.sparse
    assert not NetClassifier("cnn").__sklearn_tags__().input_tags.sparse


def test_a_model_of_images_refuses_sparse_rows(counts: Rows) -> None:
    matrix, y = sparse.csr_array(counts[0]), counts[1]
    with pytest.raises(ConfigError, match="cnn needs images, got a table of features"):
        NetClassifier("cnn").fit(matrix, y)
    images = np.zeros((60, 1, 4, 2)) + np.arange(60)[:, None, None, None]
    estimator = net(epochs=1).fit(images, y)
    sentence = "X must have shape (N, 1, 4, 2) as it had in fit, got (60, 8)"
    with pytest.raises(ShapeError, match=f"^{re.escape(sentence)}$"):
        estimator.predict(matrix)
