"""Rates on the device are those of the optimizer's groups, whose settings stay plain numbers."""

import pytest
import torch
from torch import nn

from netwright.train.updates.device_rates import DeviceRates, build_rates
from tests.train.toy_runs import toy_data, toy_net, toy_start, toy_trainer


def test_the_device_is_told_of_the_rates_that_changed() -> None:
    groups = [{"params": nn.Linear(2, 2).parameters(), "lr": rate} for rate in (0.5, 0.25)]
    optimizer = torch.optim.SGD(groups)
    rates = DeviceRates(optimizer, torch.device("cpu"))
    with rates.in_use():
        assert [group["lr"].item() for group in optimizer.param_groups] == [0.5, 0.25]
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.25]
    held = rates.tensors[1]
    optimizer.param_groups[1]["lr"] = 0.125
    rates.tell()
    assert rates.tensors[1] is held
    assert [rate.item() for rate in rates.tensors] == [0.5, 0.125]


def test_plain_rates_are_put_back_after_an_error() -> None:
    optimizer = torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=0.5)
    rates = DeviceRates(optimizer, torch.device("cpu"))
    with pytest.raises(ZeroDivisionError), rates.in_use():
        _ = 1 / 0
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_rates_stay_with_the_host_on_a_cpu() -> None:
    assert build_rates(toy_start()) is None


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_a_rate_that_is_a_tensor_stays_where_it_is() -> None:
    state = toy_trainer(toy_data(), device="cuda").start(toy_net(), toy_data())
    assert build_rates(state) is not None
    state.optimizer.param_groups[0]["lr"] = torch.tensor(0.1)
    assert build_rates(state) is None


RATES_READ = [("adam", True), ("sgd", True), ("rmsprop", False)]
RATES_READ += [("lion", True), ("muon", True), ("heavy-ball", True)]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize(("optimizer", "reads"), RATES_READ)
def test_kernels_that_can_read_rates_on_the_device_do(optimizer: str, reads: bool) -> None:
    trainer = toy_trainer(toy_data(), device="cuda", optimizer=optimizer)
    assert (build_rates(trainer.start(toy_net(), toy_data())) is not None) == reads
