"""Numbers kept aside are the tensors' own no more, and go back bit for bit."""

import torch

from netwright.train.updates.copies import copies_of, put_back


def test_numbers_go_back_as_they_were() -> None:
    weight = torch.nn.Parameter(torch.tensor([1.0, float("nan"), -0.0]))
    counts = torch.arange(3)
    kept = copies_of([weight, counts])
    assert not kept[0].requires_grad
    with torch.no_grad():
        weight.fill_(7)
        counts.add_(1)
    put_back([weight, counts], kept)
    assert weight[0] == 1
    assert weight[1].isnan()
    assert weight[2].signbit()
    assert counts.tolist() == [0, 1, 2]
