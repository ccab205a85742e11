"""The proximal step of L1: exact zeros, the lasso of scikit-learn, the rate of its own update."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.linear_model import Lasso
from torch import nn

from netwright.core.errors import ConfigError
from netwright.data.dataset import Split
from netwright.train.callback import Callback
from netwright.train.callbacks.proximal_l1 import ProximalL1
from netwright.train.state import TrainState
from netwright.train.tasks.regression import Regression
from tests.train.toy_runs import (
    assert_same,
    copy_of,
    doubled,
    toy_data,
    toy_fit,
    toy_net,
    toy_start,
    toy_trainer,
)


def step_with(state: TrainState, callback: ProximalL1) -> None:
    """An update without a gradient."""
    callback.on_epoch_start(state)
    callback.on_before_update(state)
    state.step += 1
    callback.on_step_end(state)


def test_weights_shrink_by_rate_times_lambda_and_small_ones_are_gone() -> None:
    model = nn.Linear(3, 1)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, -1.0, 0.04]]))
        model.bias.fill_(0.5)
    step_with(toy_start(model, lr=0.1), ProximalL1(0.5, penalize="weights"))
    assert model.weight.tolist()[0] == pytest.approx([0.95, -0.95, 0.0])
    assert model.weight[0, 2].item() == 0.0
    assert model.bias.item() == 0.5
    step_with(toy_start(model, lr=0.1), ProximalL1(0.5, penalize="all"))
    assert model.bias.item() == pytest.approx(0.45)


def test_each_group_of_the_optimizer_has_its_own_rate() -> None:
    net = toy_net()
    with torch.no_grad():
        for weight in net.parameters():
            weight.fill_(1.0)
    state = toy_start(net, optimizer="adamw", weight_decay=0.1, penalize="weights", lr=0.1)
    assert len(state.optimizer.param_groups) == 2
    state.optimizer.param_groups[1]["lr"] = 0.2
    step_with(state, ProximalL1(1.0, penalize="all"))
    for weight in net.parameters():
        wanted = 0.9 if weight.ndim == 2 else 0.8
        torch.testing.assert_close(weight.detach(), torch.full_like(weight, wanted))


def test_an_update_that_float16_skipped_shrinks_nothing() -> None:
    net = toy_net()
    before = copy_of(net)
    state, callback = toy_start(net, lr=0.1), ProximalL1(0.5, penalize="all")
    callback.on_epoch_start(state)
    callback.on_before_update(state)
    callback.on_step_end(state)
    assert_same(copy_of(net), before)


def test_parts_shrink_only_while_they_learn() -> None:
    net, before = toy_net(), copy_of(toy_net())
    toy_fit(net, toy_data(), freeze="0", l1=0.1, epochs=2)
    assert_same(copy_of(net[0]), copy_of(toy_net()[0]))
    assert not torch.equal(copy_of(net)["3.weight"], before["3.weight"])
    strong = {"optimizer": "sgd", "lr": 0.1, "l1": 100.0}
    toy_fit(net, toy_data(), freeze="0", unfreeze_every=1, epochs=2, **strong)
    assert not any(bool(weight.any()) for weight in net.parameters())


class Rates(Callback):
    """The rate of every update, before the schedule moves on."""

    def __init__(self) -> None:
        self.rates: list[float] = []

    def on_before_update(self, state: TrainState) -> None:
        self.rates.append(state.lr)


class Still(nn.Module):
    """Its outputs do not depend on its weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((1,), 10.0, dtype=torch.float64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 0 * self.weight


def test_the_rate_is_that_of_the_update_though_the_schedule_has_moved_on() -> None:
    rates, net = Rates(), Still()
    shared: dict[str, Any] = {"optimizer": "sgd", "lr": 0.1, "schedule": "linear"}
    toy_fit(net, doubled(toy_data()), l1=2.0, callbacks=[rates], **shared)
    assert len(set(rates.rates)) == 15
    assert net.weight.item() == pytest.approx(10 - 2.0 * sum(rates.rates), abs=1e-12)


@pytest.mark.slow
def test_full_batches_of_sgd_find_the_lasso_of_scikit_learn() -> None:
    random = torch.Generator().manual_seed(0)
    x = torch.randn(40, 8, generator=random, dtype=torch.float64)
    y = x @ torch.tensor([2.0, -1.0, 0, 0, 0.5, 0, 0, 0]).double()[:, None]
    y = y + 0.3 * torch.randn(40, 1, generator=random, dtype=torch.float64)
    data = toy_data("real", val=0)
    spec = replace(data.spec, input_shape=(8,), num_outputs=1)
    data = replace(data, spec=spec, train=Split(inputs=x, targets=y))
    net = nn.Linear(8, 1, bias=False).double()
    # Our squared error has no half before it, scikit-learn's has.
    settings: dict[str, Any] = {"optimizer": "sgd", "lr": 0.1, "epochs": 400, "batch_size": 40}
    trainer = toy_trainer(data, task=Regression.plain(1), l1=0.2, **settings)
    trainer.fit(trainer.start(net, data), data)
    peer = Lasso(alpha=0.1, fit_intercept=False, tol=1e-12).fit(x.numpy(), y[:, 0].numpy())
    np.testing.assert_allclose(net.weight[0].detach().numpy(), peer.coef_, atol=1e-8)
    assert 3 <= int((net.weight == 0).sum()) == int((peer.coef_ == 0).sum())


def test_what_steps_by_itself_is_refused() -> None:
    with pytest.raises(
        ConfigError,
        match=r"^l1 is not supported with lbfgs: it takes its own "
        r"steps$",
    ):
        toy_start(optimizer="lbfgs", l1=0.1)
