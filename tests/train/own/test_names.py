"""Objects of a caller's have a name by which they are known again."""

from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from netwright.train.own.names import name_of
from tests.repetition import for_each


def local() -> Any:
    def inner() -> None:
        pass

    return inner


class Kind:
    def __call__(self) -> None:
        pass


@for_each(
    ("thing", "name"),
    [
        (functional.cross_entropy, "cross_entropy"),
        (local(), "inner"),
        (lambda: 0, "<lambda>"),
        (Kind, "Kind"),
        (Kind(), "Kind"),
        (nn.HuberLoss(delta=2.0), "HuberLoss()"),
        (nn.Linear(1, 2), "Linear(in_features=1, out_features=2, bias=True)"),
        (torch.optim.SGD, "SGD"),
        (partial(torch.optim.SGD, lr=0.1, momentum=0.9), "SGD(lr=0.1, momentum=0.9)"),
        (partial(print, 1), "print(1)"),
    ],
)
def test_the_name_says_what_it_is(thing: Any, name: str) -> None:
    assert name_of(thing) == name
