"""Squared, absolute and Huber's loss: worked by hand, beside torch's, and what they are best at."""

import pytest
import torch
from torch.nn import functional as F

from netwright.core.errors import ConfigError, ShapeError
from netwright.core.seeding import generator
from netwright.losses.regression import absolute_error, huber, squared_error

OUTPUTS = torch.tensor([[0.0, 1.0], [3.0, -1.0]])
TARGETS = torch.tensor([[0.5, 1.0], [0.0, 1.0]])


def test_worked_by_hand() -> None:
    assert squared_error(OUTPUTS, TARGETS).tolist() == [0.125, 6.5]
    assert absolute_error(OUTPUTS, TARGETS).tolist() == [0.25, 2.5]
    assert huber(OUTPUTS, TARGETS).tolist() == [0.0625, 2.0]  # 1/8 and 0; 2.5 and 1.5


def test_as_torch_computes_them() -> None:
    rng = generator(0)
    outputs, targets = torch.randn(2, 50, 3, generator=rng, dtype=torch.float64) * 2
    for ours, theirs in (
        (squared_error, F.mse_loss),
        (absolute_error, F.l1_loss),
        (huber, F.huber_loss),
    ):
        torch.testing.assert_close(ours(outputs, targets, "mean"), theirs(outputs, targets))


@pytest.mark.parametrize("delta", [0.25, 1.5])
def test_hubers_delta_is_torchs(delta: float) -> None:
    outputs, targets = torch.randn(2, 50, 3, generator=generator(0), dtype=torch.float64) * 2
    for reduction in ("mean", "sum"):
        wanted = F.huber_loss(outputs, targets, reduction=reduction, delta=delta)
        parts = 3 if reduction == "sum" else 1  # an example is the mean over its three reals
        found = parts * huber(outputs, targets, reduction, delta=delta)
        torch.testing.assert_close(found, wanted)
    with pytest.raises(ConfigError, match=r"^delta must be positive, got -1$"):
        huber(outputs, targets, delta=-1)


def test_best_constants_are_mean_and_median() -> None:
    targets = torch.tensor([[0.0], [1.0], [2.0], [3.0], [100.0]], dtype=torch.float64)
    constants = torch.linspace(-5, 105, 1101, dtype=torch.float64)  # every 0.1
    best = {
        loss: constants[
            torch.stack(
                [loss(targets * 0 + value, targets, "mean") for value in constants]
            ).argmin()
        ].item()
        for loss in (squared_error, absolute_error, huber)
    }
    assert best[squared_error] == pytest.approx(21.2)  # led by the outlier
    assert best[absolute_error] == pytest.approx(2.0)
    assert best[huber] == pytest.approx(2.0)  # 1/2 above the middle three's pull, shared by three


def test_outputs_are_never_broadcast() -> None:
    with pytest.raises(ShapeError, match="the model's output"):
        squared_error(torch.zeros(4, 1), torch.zeros(4, 3))
