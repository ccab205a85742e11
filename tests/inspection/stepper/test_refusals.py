"""What cannot be stepped through is refused in one sentence."""

import re
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import NetwrightError
from netwright.inspection.stepper.refusals import check_targets
from netwright.inspection.stepper.step_through import step_through
from tests.repetition import for_each

X, ONE = torch.ones(1, 3), torch.tensor([1])


class Several(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        return x, 1


class Outside(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.outside = torch.ones(3, requires_grad=True)

    def forward(self, x: Tensor) -> Tensor:
        return (x * self.outside).sum()


def legacy() -> nn.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return nn.utils.weight_norm(nn.Linear(3, 2))


CASES: dict[str, tuple[Any, Any, Any, str]] = {
    "no module": (len, X, ONE, "model must be an nn.Module, got builtin_function_or_method"),
    "lazy": (
        nn.LazyLinear(2),
        X,
        ONE,
        "the model has uninitialised lazy layers: call it once before",
    ),
    "computed": (
        nn.Sequential(legacy()),
        X,
        ONE,
        "0.weight was computed from other tensors and cannot be copied: use "
        "torch.nn.utils.parametrizations, or compute it in forward",
    ),
    "dict": (nn.Linear(3, 2), {"a": X}, ONE, "x must be a tensor, got dict"),
    "empty": (
        nn.Linear(3, 2),
        X[:0],
        ONE,
        "x must have at least one element, got shape (0, 3)",
    ),
    "several": (
        Several(),
        X,
        ONE,
        "the model must give one tensor where no loss is given, got tuple",
    ),
    "one output": (
        nn.Linear(3, 1),
        X,
        ONE,
        "integer y are classes, which need an output with at least 2 scores, got shape (1, 1): "
        "give float y to a model with one output",
    ),
    "class": (nn.Linear(3, 2), X, 5 * ONE, "y must be classes 0 .. 1, got 5 .. 5"),
    "rows": (nn.Linear(3, 2), X, ONE.repeat(2), "y must have shape (1), got (2,)"),
    "shape": (
        nn.Linear(3, 1),
        X.repeat(4, 1),
        torch.ones(4),
        "y must have shape (4, 1), got (4,)",
    ),
    "outside": (
        Outside(),
        X,
        None,
        "the model uses a tensor that requires a gradient but is not a parameter of the model: "
        "make it an nn.Parameter",
    ),
}


@for_each("case", CASES)
def test_the_sentence_says_what_was_wanted(case: str) -> None:
    model, x, y, sentence = CASES[case]
    with pytest.raises(NetwrightError, match=f"^{re.escape(sentence)}$"):
        step_through(model, x, y)


@for_each(
    ("y", "shape"),
    [
        (torch.tensor([0, 2]), (2, 3)),
        (torch.tensor(2), (3,)),
        (torch.tensor([[0, -100], [1, 2]]), (2, 3, 2)),
        (torch.zeros(2, 3), (2, 3)),
    ],
    ids=["rows", "one row", "places", "real"],
)
def test_what_fits_is_let_through(y: Tensor, shape: tuple[int, ...]) -> None:
    check_targets(y, torch.zeros(shape))
