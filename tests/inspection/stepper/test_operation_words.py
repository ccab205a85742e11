"""Names of operations: torch's become a textbook's."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.inspection.stepper import operation_words
from netwright.inspection.stepper.operation_words import (
    formulas,
    is_elementwise,
    is_quiet,
    is_usual,
    textbook_name,
)
from tests.repetition import for_each

X = torch.tensor([-2.5, -0.7, 0.4, 1.3], dtype=torch.float64)
POSITIVE = X.abs()


def density(x: Tensor) -> Tensor:
    return torch.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)


# name -> the printed derivative, the operation, and that derivative as code, of x and y
DERIVATIVES: dict[
    str, tuple[str, Callable[[Tensor], Tensor], Callable[[Tensor, Tensor], Tensor]]
] = {
    "negative": ("dy/dx = -1", torch.neg, lambda x, y: -torch.ones_like(x)),
    "power": ("dy/dx = k xᵏ⁻¹", lambda x: x**3, lambda x, y: 3 * x**2),
    "exp": ("dy/dx = y", torch.exp, lambda x, y: y),
    "log": ("dy/dx = 1 / x", torch.log, lambda x, y: 1 / x),
    "sqrt": ("dy/dx = 1 / (2 y)", torch.sqrt, lambda x, y: 1 / (2 * y)),
    "tanh": ("dy/dx = 1 - y²", torch.tanh, lambda x, y: 1 - y**2),
    "sigmoid": ("dy/dx = y (1 - y)", torch.sigmoid, lambda x, y: y * (1 - y)),
    "relu": ("dy/dx = 1 where x > 0, else 0", F.relu, lambda x, y: (x > 0).double()),
    "gelu": (
        "dy/dx = Φ(x) + x φ(x)",
        F.gelu,
        lambda x, y: torch.special.ndtr(x) + x * density(x),
    ),
    "silu": (
        "dy/dx = sigmoid(x) (1 + x - y)",
        F.silu,
        lambda x, y: x.sigmoid() * (1 + x - y),
    ),
    "softplus": ("dy/dx = sigmoid(x)", F.softplus, lambda x, y: x.sigmoid()),
    "leaky_relu": (
        "dy/dx = 1 where x > 0, else a",
        lambda x: F.leaky_relu(x, 0.3),
        lambda x, y: 0.3 + 0.7 * (x > 0).double(),
    ),
    "elu": (
        "dy/dx = 1 where x > 0, else y + a",
        lambda x: F.elu(x, 0.3),
        lambda x, y: torch.where(x > 0, 1.0, y + 0.3),
    ),
}


@for_each(
    ("name", "wanted"),
    [
        ("__rsub__", "c - x"),
        ("__rtruediv__", "c / x"),
        ("reciprocal", "1 / x"),
        ("add_", "+"),
        ("__iadd__", "+"),
        ("matmul", "@"),
        ("relu_", "relu"),
        ("_Scan", "Scan"),
        ("__getitem__", "pick"),
        ("cross_entropy", "cross_entropy"),
    ],
)
def test_names_are_those_of_a_textbook(name: str, wanted: str) -> None:
    assert textbook_name(name) == wanted


def test_what_only_moves_numbers_is_quiet_also_when_it_is_one_of_several_parts() -> None:
    assert is_quiet("reshape") and is_quiet("chunk[3]") and is_quiet("pick")
    assert not is_quiet("tanh") and not is_quiet("stack")


@for_each("name", DERIVATIVES)
def test_printed_derivatives_are_those_of_autograd(name: str) -> None:
    printed, operation, slope = DERIVATIVES[name]
    assert is_elementwise(name)
    assert formulas(name)[1] == printed
    x = (POSITIVE if name in ("log", "sqrt") else X).clone().requires_grad_()
    y = operation(x)
    (expected,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(slope(x, y).detach(), expected, rtol=0, atol=1e-12)


def test_every_elementwise_operation_has_formulas() -> None:
    assert all(all(formulas(name)) for name in operation_words._ELEMENTWISE)
    assert formulas("an operation of your own") == ("", "")
    assert not is_elementwise("softmax")


@for_each(
    ("name", "settings", "usual"),
    [
        ("mse_loss", {"reduction": "mean", "weight": None}, True),
        ("mse_loss", {"reduction": "sum", "weight": None}, False),
        ("cross_entropy", {"reduction": "mean", "label_smoothing": 0.1}, False),
        ("cross_entropy", {"weight": torch.ones(2)}, False),
        ("batch_norm", {"training": True}, False),
        ("-", {"alpha": 3}, False),
        ("-", {}, True),
        ("conv2d", {"stride": 2}, True),
    ],
    ids=[str(place) for place in range(8)],
)
def test_a_formula_is_for_the_usual_settings(
    name: str, settings: dict[str, object], usual: bool
) -> None:
    assert is_usual(name, settings) == usual
