"""Numbers are shown in full where they are few, and what is typical where they are many."""

import torch

from netwright.inspection.stepper.numeric_check import Check
from netwright.inspection.stepper.stepped import (
    Contribution,
    Numbers,
    Step,
    arrivals,
    label,
)

OK = Check(verdict="ok", error=0.0)


def step(name: str, *inputs: int, kind: str = "operation") -> Step:
    one = Numbers.of(torch.ones(1))
    return Step(
        kind=kind,  # type: ignore[arg-type]
        name=name,
        where="part",
        moment="t=2",
        inputs=inputs,
        value=one,
        gradient=one,
        contributions=tuple(
            Contribution(target=place, amount=one, local=one, kind="slopes", check=OK)
            for place in inputs
        ),
        check=None,
    )


def test_few_numbers_are_written_out_without_brackets_of_size_one() -> None:
    assert str(Numbers.of(torch.tensor([[[2.5]]]))) == "2.5"
    assert str(Numbers.of(torch.tensor([[1.0, -0.5]]))) == "[1, -0.5]"
    assert str(Numbers.of(torch.arange(4.0).reshape(2, 1, 2))) == "[[0, 1], [2, 3]]"


def test_of_many_numbers_the_range_and_the_mean_are_written() -> None:
    numbers = Numbers.of(torch.arange(100.0).reshape(4, 25))
    assert numbers.entries == ()
    assert str(numbers) == "4x25: 0 .. 99, mean 49.5"


def test_in_a_small_box_long_lists_are_a_range() -> None:
    numbers = Numbers.of(torch.tensor([0.1234, -1.5, 2.0]))
    assert numbers.brief(22) == "[0.1234, -1.5, 2]"
    assert numbers.brief(10) == "-1.5 .. 2"
    assert Numbers.of(torch.arange(100.0)).brief(99) == "0 .. 99"


def test_a_complex_number_is_two_and_an_empty_tensor_none() -> None:
    assert str(Numbers.of(torch.tensor([1 + 2j]))) == "[1, 2]"
    assert Numbers.of(torch.zeros(0, 3)).mean == 0.0


def test_values_are_called_by_their_number_or_by_the_name_that_was_given() -> None:
    steps = [step("x", kind="input"), step("tanh", 0), step("chunk[1]", 0), step("+", 1, 2)]
    assert [label(steps, place) for place in (0, 1)] == ["x", "#1 tanh"]
    assert steps[1].place == "part t=2"
    assert [one.quiet for one in steps] == [False, False, True, False]
    assert [user for user, _ in arrivals(steps, 0)] == [2, 1]
