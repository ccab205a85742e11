"""Names of operations: torch's become a textbook's."""

import pytest

from netwright.inspection.stepper.operation_words import (
    formulas,
    is_elementwise,
    is_quiet,
    textbook_name,
)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("__rsub__", "1 - x"),
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


def test_every_elementwise_operation_has_formulas() -> None:
    assert is_elementwise("tanh") and not is_elementwise("softmax")
    assert formulas("tanh") == ("y = tanh x", "dy/dx = 1 - y²")
    assert formulas("an operation of your own") == ("", "")
