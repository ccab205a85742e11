"""A copy for the host holds the numbers as they were when it was asked for; nobody waits for it."""

import pytest
import torch

from netwright.train.updates.host_copy import HostCopy


def test_on_a_cpu_the_numbers_are_there_at_once_and_stay() -> None:
    numbers = torch.tensor([1.0, 2.0], requires_grad=True)
    copy = HostCopy(numbers)
    with torch.no_grad():
        numbers += 1
    assert copy.is_here
    assert copy.read().tolist() == [1.0, 2.0]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_on_cuda_they_come_behind_the_work_that_was_queued() -> None:
    numbers = torch.zeros((), device="cuda")
    HostCopy(numbers).read()  # pages are pinned once; that waits
    torch.cuda._sleep(10**9)  # type: ignore[no-untyped-call]  # cycles: tenths of a second
    numbers += 1
    copy = HostCopy(numbers)
    numbers += 1
    assert copy.read().item() == 1
    assert copy.is_here
