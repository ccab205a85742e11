"""One pass a call: k calls are a run of k epochs, through copies and pickles; what is refused."""

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from netwright.core.errors import ConfigError, DataError
from netwright.recipes.estimators.scikit_learn import NetClassifier, NetRegressor
from netwright.train.settings import TrainConfig

SETTINGS: dict[str, Any] = {"hidden": (8,), "dropout": 0.3, "lr": 0.01, "random_state": 3}


@pytest.fixture(scope="module")
def blobs() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    y = np.arange(70) % 3
    return rng.normal(size=(70, 2)) + np.stack((y, -y), axis=1), y


def weights_of(estimator: Any) -> torch.Tensor:
    return torch.cat([weight.flatten() for weight in estimator.model_.state_dict().values()])


def after_passes(estimator: Any, rows: tuple[Any, Any], count: int) -> Any:
    for _ in range(count):
        estimator.partial_fit(*rows, classes=[0, 1, 2])
    return estimator


@pytest.mark.parametrize("optimizer", ["adam", "momentum", "lbfgs"])
def test_k_calls_are_a_fit_of_k_epochs_bit_for_bit(blobs: Any, optimizer: str) -> None:
    """Order, dropout and the optimizer's memory all go on."""
    settings = {**SETTINGS, "optimizer": optimizer}
    passed = after_passes(NetClassifier(**settings), blobs, 3)
    fitted = NetClassifier(**settings, epochs=3).fit(*blobs)
    assert torch.equal(weights_of(passed), weights_of(fitted))
    assert passed.history_.as_dict() == fitted.history_.as_dict()
    rows = [(row.step, row.epoch, row.samples) for row in passed.history_]
    assert rows == [(row.step, row.epoch, row.samples) for row in fitted.history_]


def test_the_clock_goes_on(blobs: Any) -> None:
    times = [row.time for row in after_passes(NetClassifier(**SETTINGS), blobs, 6).history_]
    assert times == sorted(times)
    assert times[0] < times[-1]


def test_dropout_rests_between_passes(blobs: Any) -> None:
    assert not after_passes(NetClassifier(**SETTINGS), blobs, 1).model_.training


def test_passes_go_on_from_a_fit(blobs: Any) -> None:
    begun = NetClassifier(**SETTINGS, epochs=2).fit(*blobs)
    whole = NetClassifier(**SETTINGS, epochs=3).fit(*blobs)
    assert torch.equal(weights_of(begun.partial_fit(*blobs)), weights_of(whole))


def test_a_warm_up_goes_on_over_the_calls(blobs: Any) -> None:
    passed = after_passes(NetClassifier(**SETTINGS, warmup=7), blobs, 3)
    whole = NetClassifier(**SETTINGS, warmup=7, epochs=3).fit(*blobs)
    assert torch.equal(weights_of(passed), weights_of(whole))


def test_a_fit_begins_anew(blobs: Any) -> None:
    estimator = NetClassifier(**SETTINGS, epochs=1)
    first = weights_of(after_passes(estimator, blobs, 1)).clone()
    assert torch.equal(weights_of(after_passes(estimator, blobs, 1).fit(*blobs)), first)


@pytest.mark.parametrize("same", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_goes_on_alone_and_in_the_same_way(blobs: Any, same: Any) -> None:
    estimator = after_passes(NetClassifier(**SETTINGS), blobs, 2)
    before = weights_of(estimator).clone()
    other = after_passes(same(estimator), blobs, 2)
    assert torch.equal(weights_of(estimator), before)
    assert torch.equal(weights_of(after_passes(estimator, blobs, 2)), weights_of(other))
    assert len(other.history_) == len(estimator.history_) == 8


def test_passes_leave_the_callers_random_numbers_alone(blobs: Any) -> None:
    torch.manual_seed(5)
    wanted = torch.rand(2)
    torch.manual_seed(5)
    after_passes(NetClassifier(**SETTINGS), blobs, 2)
    assert torch.equal(torch.rand(2), wanted)


def test_new_rows_are_encoded_as_the_first_were(blobs: Any) -> None:
    """Rows that come later do not move the mean and the scale."""
    inputs, y = blobs
    estimator = after_passes(NetClassifier(**SETTINGS), blobs, 1)
    encoder = estimator._prepared.data.preprocessor
    estimator.partial_fit(inputs * 100, y)
    assert estimator._prepared.data.preprocessor is encoder
    assert encoder.mean == pytest.approx(inputs.mean(axis=0))


def test_passes_over_parts_learn_the_whole() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(400, 3))
    y = inputs @ [1.0, -2.0, 0.5] + 4
    estimator = NetRegressor("linear-regression", lr=0.05, random_state=0)
    for _ in range(5):
        for part in range(0, 400, 100):
            estimator.partial_fit(inputs[part : part + 100], y[part : part + 100])
    assert estimator.score(inputs, y) > 0.999


@pytest.mark.parametrize(("given", "steps"), [(None, [1, 1, 2, 3]), (4, [3, 1, 10, 18])])
def test_the_batch_follows_the_rows(blobs: Any, given: int | None, steps: list[int]) -> None:
    """Ten rows, one row, forty, seventy: never more a batch than there are rows."""
    estimator = NetClassifier(**SETTINGS, batch_size=given)
    made = 0
    for rows, count in zip((10, 1, 40, 70), steps, strict=True):
        after_passes(estimator, (blobs[0][:rows], blobs[1][:rows]), 1)
        made += count
        assert estimator.history_.rows[-1].step == made


def test_weights_of_a_later_call_count(blobs: Any) -> None:
    """As shares of the rows' sum, and a row of weight 0 is not there."""
    inputs, y = blobs
    there = y != 2

    def after(*rows: Any, sample_weight: Any = None) -> torch.Tensor:
        estimator = after_passes(NetClassifier(**SETTINGS), blobs, 1)
        return weights_of(estimator.partial_fit(*rows, sample_weight=sample_weight))

    plain = after(inputs, y)
    assert torch.equal(after(inputs, y, sample_weight=np.full(70, 4)), plain)
    assert not torch.equal(after(inputs, y, sample_weight=1 + there), plain)
    assert torch.equal(after(inputs, y, sample_weight=there), after(inputs[there], y[there]))


def test_a_class_may_come_later(blobs: Any) -> None:
    inputs, y = blobs
    two = y < 2
    estimator = after_passes(NetClassifier(**SETTINGS), (inputs[two], y[two]), 1)
    assert after_passes(estimator, blobs, 1).predict_proba(inputs).shape == (70, 3)


def test_a_later_call_may_hold_one_class(blobs: Any) -> None:
    inputs, y = blobs
    estimator = after_passes(NetClassifier(**SETTINGS), blobs, 1)
    estimator.partial_fit(inputs[y == 1], y[y == 1])
    assert estimator.predict_proba(inputs).shape == (70, 3)


def test_refuses_other_features_later(blobs: Any) -> None:
    inputs, y = blobs
    estimator = after_passes(NetClassifier(**SETTINGS), blobs, 1)
    with pytest.raises(ValueError, match="X has 1 features, but NetClassifier is expecting 2"):
        estimator.partial_fit(inputs[:, :1], y)


def test_refuses_an_average_that_needs_a_last_pass(blobs: Any) -> None:
    estimator = NetClassifier(**SETTINGS, average="equal")
    sentence = "average must be 'none' with partial_fit, which has no last epoch, got 'equal'"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        estimator.partial_fit(*blobs, classes=[0, 1, 2])


@pytest.mark.parametrize("length", [{"epochs": 3}, {"max_steps": 9}])
def test_a_schedule_is_spread_over_the_calls(blobs: Any, length: dict[str, int]) -> None:
    settings = {**SETTINGS, "schedule": "cosine", **length}
    passed = after_passes(NetClassifier(**settings), blobs, 3)
    constant = after_passes(NetClassifier(**SETTINGS), blobs, 3)
    assert not torch.equal(weights_of(passed), weights_of(constant))
    if "epochs" in length:
        whole = NetClassifier(**settings).fit(*blobs)
        assert torch.equal(weights_of(passed), weights_of(whole))


def test_past_the_end_of_a_schedule_its_last_rate_stays(blobs: Any) -> None:
    estimator = after_passes(NetClassifier(**SETTINGS, schedule="cosine", epochs=2), blobs, 2)
    before = weights_of(estimator).clone()  # its last rate is 0
    assert torch.equal(weights_of(estimator.partial_fit(*blobs)), before)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"schedule": "cosine"},
            "schedule 'cosine' needs its length with partial_fit: give epochs, the number of "
            "calls, or max_steps",
        ),
        (
            {"schedule": "plateau", "epochs": 3},
            "partial_fit takes the schedules that follow from the step, got 'plateau'",
        ),
    ],
)
def test_refuses_a_schedule_without_its_length(
    blobs: Any, settings: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        NetClassifier(**SETTINGS, **settings).partial_fit(*blobs, classes=[0, 1, 2])


def test_refuses_a_batch_size_that_is_none(blobs: Any) -> None:
    estimator = after_passes(NetClassifier(**SETTINGS), blobs, 1).set_params(batch_size=0)
    with pytest.raises(ConfigError, match=r"^batch_size must be greater than 0, got 0$"):
        estimator.partial_fit(*blobs)


def test_one_row_left_for_batch_norm_is_refused(blobs: Any) -> None:
    inputs, targets = blobs
    estimator = NetClassifier(**SETTINGS, batch_norm=True)
    estimator.partial_fit(inputs, targets, classes=[0, 1, 2])
    sentence = "batch norm cannot normalise one row: batch_size 32 leaves a last batch of one "
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}of the 33 training rows; use "):
        estimator.partial_fit(inputs[:33], targets[:33])
    with pytest.raises(ConfigError, match=r"^batch norm cannot .*: use at least 2 training rows$"):
        estimator.partial_fit(inputs[:1], targets[:1])


def test_the_first_rows_of_a_stream_may_be_of_one_class(blobs: Any) -> None:
    inputs, targets = blobs
    estimator = NetClassifier(**SETTINGS)
    for label in (2, 0, 1):  # sorted by class, as files often are
        rows = targets == label
        estimator.partial_fit(inputs[rows], targets[rows], classes=[0, 1, 2])
    assert estimator.predict_proba(inputs).shape == (70, 3)
    with pytest.raises(DataError, match=r"^arrays has only one class in its training rows, '2'$"):
        NetClassifier(**SETTINGS).fit(inputs[targets == 2], targets[targets == 2])


def test_the_first_rows_of_a_stream_may_be_closer_than_single_precision_tells() -> None:
    """Of these alone a `fit` would learn steps; those to come are further apart."""
    inputs = np.random.default_rng(0).normal(size=(200, 2))
    y = 1e6 + inputs @ [3.0, -2.0]
    first = 1e6 + inputs[:4, 0] / 1e3
    with pytest.raises(DataError, match="single precision goes in steps of "):
        NetRegressor(**SETTINGS).fit(inputs[:4], first)
    estimator = NetRegressor(**{**SETTINGS, "dropout": 0.0}).partial_fit(inputs[:4], first)
    for _ in range(30):
        estimator.partial_fit(inputs, y)
    assert estimator.score(inputs, y) > 0.9


def test_exact_names_and_a_whole_config_of_training_are_heeded_in_each_pass(blobs: Any) -> None:
    settings = {name: value for name, value in SETTINGS.items() if name != "lr"}
    short = NetClassifier(**settings, lr=0.05, optimizer="sgd", batch_size=7)
    exact: dict[str, Any] = {"train.lr": 0.05, "train.optimizer": "sgd", "train.batch_size": 7}
    whole = TrainConfig(lr=0.05, optimizer="sgd", batch_size=7)
    wanted = after_passes(short, blobs, 2)
    for estimator in (NetClassifier(**settings, **exact), NetClassifier(**settings, train=whole)):
        got = after_passes(estimator, blobs, 2)
        assert got.history_.rows[-1].step == wanted.history_.rows[-1].step
        assert torch.equal(weights_of(got), weights_of(wanted))
