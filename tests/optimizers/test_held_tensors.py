"""Tensors that a number on the device puts back."""

import torch

from netwright.optimizers.held_tensors import HeldTensors

NAN = float("nan")


def test_they_hold_what_they_held_after_the_last_good_batch() -> None:
    first = [torch.tensor([1.0, 2.0]), torch.tensor(3), torch.tensor([[4.0]])]
    tensors = [tensor.clone() for tensor in first]
    held, good, bad = HeldTensors(tensors), torch.tensor(0.0), torch.tensor(1.0)
    tensors[0].fill_(7.0)
    held.settle(good)
    assert tensors[0].tolist() == [7.0, 7.0]
    for tensor in tensors:
        tensor.fill_(9)
    tensors[0][0] = NAN
    held.settle(bad)
    assert [tensor.tolist() for tensor in tensors] == [[7.0, 7.0], 3, [[4.0]]]
    tensors[1].fill_(5)
    held.put_back()
    assert tensors[1] == 3


def test_what_was_changed_between_two_batches_is_taken_in() -> None:
    tensors = [torch.tensor([1.0, 2.0]), torch.tensor(3)]
    held = HeldTensors(tensors)
    tensors[0].zero_()
    held.take()
    tensors[0].fill_(NAN)
    held.settle(torch.tensor(1.0))
    assert tensors[0].tolist() == [0.0, 0.0]


def test_they_may_lie_in_any_order_in_memory() -> None:
    rows = torch.arange(24.0).view(2, 3, 2, 2)
    last = rows.clone().contiguous(memory_format=torch.channels_last)
    gaps = torch.arange(12.0).view(3, 4)[:, ::2]
    tensors = [rows, last, gaps, rows[:0]]
    wanted = [tensor.clone() for tensor in tensors]
    held = HeldTensors(tensors)
    (part,) = held.parts
    assert part.kept_each[1].stride() == last.stride()
    for tensor in tensors:
        tensor.add_(1.0)
    held.settle(torch.tensor(1.0))
    for tensor, before in zip(tensors, wanted, strict=True):
        assert torch.equal(tensor, before)
    tensors[1].add_(1.0)
    held.settle(torch.tensor(0.0))
    held.put_back()
    assert torch.equal(tensors[1], wanted[1] + 1.0)


def test_there_may_be_none() -> None:
    held = HeldTensors([])
    held.take()
    held.settle(torch.tensor(1.0))
    held.put_back()
