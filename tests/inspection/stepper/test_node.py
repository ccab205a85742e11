"""An operation can be run again with other inputs, and nodes that nobody needs are left out."""

import torch

from netwright.inspection.stepper.node import Node, Replayed, needed_for, results_of


def test_an_operation_runs_again_with_other_inputs_and_the_same_constants() -> None:
    x, factor = torch.tensor([1.0]), torch.tensor([3.0])
    replay = Replayed(torch.mul, (x, factor), {}, (id(x),), 0)
    assert replay([torch.tensor([5.0])]).tolist() == [15.0]


def test_one_that_writes_does_not_touch_what_it_is_given() -> None:
    x, given = torch.tensor([1.0]), torch.tensor([5.0])
    replay = Replayed(torch.Tensor.add_, (x, 2.0), {}, (id(x),), None)
    assert replay([given]).tolist() == [7.0]
    assert given.tolist() == [5.0]


def test_named_results_are_several() -> None:
    assert [float(one) for one in results_of(torch.tensor([1.0, 2.0]).max(dim=0))] == [2, 1]
    assert results_of("no tensor") == []


def test_what_is_needed_is_numbered_anew() -> None:
    value = torch.zeros(1)
    made = [(), (), (0,), (1,), (3,)]
    nodes = [Node("operation", str(n), "", "", one, value, None) for n, one in enumerate(made)]
    kept = needed_for(nodes, 4)
    assert [(node.name, node.inputs) for node in kept] == [("1", ()), ("3", (0,)), ("4", (1,))]
