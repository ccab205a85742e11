"""Devices: the ones that are there, and the sentence for those that are not."""

import platform
import re

import pytest
import torch
from torch import nn

from netwright.core.devices import describe_device, device_of, pick_device, sent
from netwright.core.errors import ConfigError


@pytest.fixture
def no_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.mark.usefixtures("no_accelerator")
def test_auto_is_the_processor_where_there_is_nothing_else() -> None:
    assert pick_device() == pick_device("auto") == pick_device("cpu") == torch.device("cpu")


@pytest.mark.usefixtures("two_gpus")
def test_auto_is_the_gpu_where_there_is_one() -> None:
    assert pick_device("auto") == torch.device("cuda")
    assert pick_device("cuda:1") == torch.device("cuda", 1)
    with pytest.raises(ConfigError, match=r"^device 'cuda:2' is not available: 2 CUDA devices$"):
        pick_device("cuda:2")


def test_one_is_not_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ConfigError, match=r"^device 'cuda:1' is not available: 1 CUDA device$"):
        pick_device("cuda:1")


@pytest.mark.usefixtures("no_accelerator")
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("gpu", "device must be auto, cpu, cuda, cuda:N or mps, got 'gpu'"),
        ("", "device must be auto, cpu, cuda, cuda:N or mps, got ''"),
        ("meta", "device must be auto, cpu, cuda, cuda:N or mps, got 'meta'"),
        ("cuda:x", "device must be auto, cpu, cuda, cuda:N or mps, got 'cuda:x'"),
        ("cuda", "device 'cuda' is not available: 0 CUDA devices"),
        ("mps", "device 'mps' is not available on this machine"),
    ],
)
def test_device_that_is_not_there_is_refused(name: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        pick_device(name)


def test_apples_gpu_is_taken_where_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert pick_device("mps") == torch.device("mps")


def test_a_module_is_where_its_weights_or_else_its_buffers_are() -> None:
    buffered = nn.BatchNorm1d(2, affine=False, device="meta")
    assert device_of(nn.Linear(2, 1, device="meta")) == torch.device("meta")
    assert device_of(buffered) == torch.device("meta")
    assert device_of(nn.ReLU()) == torch.device("cpu")


def test_numbers_are_sent_to_a_device_as_they_are() -> None:
    numbers = torch.tensor([1.0, 2.0])
    assert sent(numbers, torch.device("cpu")).tolist() == [1.0, 2.0]
    device = pick_device("auto")
    there = sent(numbers, device)
    assert there.device.type == device.type
    assert there.tolist() == [1.0, 2.0]


def test_device_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"GPU number {device.index}")
    assert describe_device(torch.device("cpu")) == "cpu (riscv64)"
    assert describe_device(torch.device("cuda", 1)) == "GPU number 1"
