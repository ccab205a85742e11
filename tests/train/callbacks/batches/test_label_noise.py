"""Noise on labels: how often, which classes, and how sure the best prediction then is."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.data.dataset import Split
from netwright.train.callbacks.batches.label_noise import LabelNoise
from netwright.train.evaluate import predict
from netwright.train.tasks.catalog import task_for
from tests.train.toy_runs import toy_data, toy_fit, toy_start, whole_batch


def noisy_labels(share: float, labels: torch.Tensor, *, epoch: int = 0) -> torch.Tensor:
    data = toy_data()
    state = toy_start()
    state.epoch = epoch
    state.batch = whole_batch(Split(inputs=torch.zeros(len(labels), 3), targets=labels))
    LabelNoise(share, data.spec, seed=0).on_batch_start(state)
    assert state.batch is not None
    targets: torch.Tensor = state.batch.targets
    return targets


def test_the_share_of_other_classes_is_the_one_asked_for_each_as_likely() -> None:
    count, share = 30_000, 0.3
    labels = torch.full((count,), 2)
    noisy = noisy_labels(share, labels)
    counts = noisy.bincount(minlength=3) / count
    assert counts.tolist() == pytest.approx([0.15, 0.15, 0.7], abs=4 * (0.21 / count) ** 0.5)
    assert noisy.dtype == labels.dtype


def test_labels_are_drawn_anew_in_each_epoch_and_are_given_again_for_the_same_place() -> None:
    labels = torch.arange(300) % 3
    assert torch.equal(noisy_labels(0.5, labels), noisy_labels(0.5, labels))
    assert not torch.equal(noisy_labels(0.5, labels), noisy_labels(0.5, labels, epoch=1))


@pytest.mark.covers("label-noise")
def test_logistic_regression_becomes_as_sure_as_its_labels_are() -> None:
    """Two points that could be told apart with certainty: noise leaves 1 - eps of it."""
    inputs = torch.tensor([[-1.0], [1.0]]).repeat(200, 1)
    train = Split(inputs=inputs, targets=torch.tensor([0, 1]).repeat(200))
    data = toy_data()
    spec = replace(data.spec, input_shape=(1,), num_outputs=2, class_names=("a", "b"))
    data = replace(data, spec=spec, train=train, val=None)
    sure = []
    for share in (0.0, 0.2):
        with seeded(0):
            net = nn.Linear(1, 2)
        toy_fit(net, data, epochs=60, batch_size=100, lr=0.1, label_noise=share, average="equal")
        right = predict(net, inputs[:2], task_for(data)).diagonal()
        sure.append(right.min().item())
        assert right.max().item() - right.min().item() < 0.02
    assert sure[0] > 0.95
    assert sure[1] == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize("target", ["labels", "real"])
def test_only_classes_have_other_classes(target: str) -> None:
    data = toy_data(target)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=f"^label_noise is for classes, the target is {target}$"):
        toy_fit(nn.Linear(3, 3), data, label_noise=0.1)


def test_accuracy_while_training_is_that_of_the_true_labels() -> None:
    data = toy_data(rows=200)
    with seeded(0):
        net = nn.Linear(3, 3)
    state = toy_fit(net, data, epochs=20, batch_size=40, lr=0.05, label_noise=0.4)
    assert state.history.latest("train/accuracy") > 0.75  # of the noisy ones 0.6 at the best
    assert state.history.latest("train/loss") > 0.9
