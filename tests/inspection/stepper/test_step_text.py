"""Two tables of 100 letters, in the order of the passes."""

import pytest
import torch
from torch import nn

from netwright.inspection.stepper import step_text
from netwright.inspection.stepper.step_text import steps_text
from netwright.inspection.stepper.step_through import step_through

NET = nn.Sequential(nn.Flatten(), nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
for weight in NET.parameters():
    nn.init.ones_(weight)
STEPS = step_through(NET, torch.tensor([[[0.25], [-1.25]]]), torch.tensor([[0.0]])).steps


def test_forward_comes_first_and_backward_ends_at_what_was_given() -> None:
    lines = steps_text(STEPS).splitlines()
    middle = lines.index("BACKWARD")
    assert lines[0] == "FORWARD"
    forward = [line.split()[1] for line in lines[2:middle] if line.startswith("#")]
    assert forward == [
        *("x", "(flatten)", "1.weight", "1.bias", "linear", "tanh"),
        *("3.weight", "3.bias", "linear", "mse_loss"),
    ]
    backward = [line.split()[1] for line in lines[middle + 3 :] if line.startswith("#")]
    assert backward == forward[::-1]


def test_going_back_the_header_names_both_kinds_of_line() -> None:
    lines = steps_text(STEPS).splitlines()
    first, second = lines[lines.index("BACKWARD") + 1 :][:2]
    assert first.split() == ["operation", "where", *"gradient that arrives check".split()]
    assert second.index("local derivative") == first.index("where")


def test_a_row_tells_the_gradient_the_derivative_what_is_handed_on_and_the_check() -> None:
    lines = steps_text(STEPS).splitlines()
    place = lines.index(next(line for line in lines[14:] if line.startswith("#5")))
    assert lines[place].split() == ["#5", "tanh", "2", "[2,", "2]", "ok"]
    assert lines[place + 1].split() == [
        "->",
        "#4",
        "linear",
        "slopes",
        "[1,",
        "1]",
        "[2,",
        "2]",
        "ok",
    ]


def test_no_line_is_longer_than_a_hundred_letters() -> None:
    assert max(len(line) for line in steps_text(STEPS).splitlines()) <= 100


def test_a_long_table_is_cut_in_its_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_text, "MOST_ROWS", 4)
    lines = steps_text(STEPS).splitlines()
    assert lines[4] == "      ... 7 lines ..."
    assert [line.split()[0] for line in lines[5:7]] == ["#9", "target"]


def test_what_is_constant_stands_below_the_operation_that_reads_it() -> None:
    lines = steps_text(STEPS).splitlines()
    place = lines.index(next(line for line in lines if line.startswith("#9")))
    assert lines[place].split()[:3] == ["#9", "mse_loss", "#8"]
    assert lines[place + 1].split() == ["target", "0"]
    assert lines[place + 1].index("target") == lines[place].index("#8")
