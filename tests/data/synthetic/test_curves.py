"""Made-up functions: the formula without noise, the noise's size, and an odd teacher."""

import re
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from netwright.core.config import parse
from netwright.core.errors import ConfigError
from netwright.data.dataset import Data
from netwright.data.synthetic.curves import (
    LineConfig,
    PolynomialConfig,
    TeacherConfig,
    load_line,
    load_polynomial,
    load_teacher,
    polynomial_values,
    teacher_outputs,
    teacher_weights,
)
from tests.repetition import for_each

WHOLE: dict[str, Any] = {"val_size": 0, "test_size": 0}
EXACT: dict[str, Any] = {**WHOLE, "noise": 0}
NOISY: dict[str, Any] = {**WHOLE, "noise": 0.5, "n": 8}


def test_the_line_is_straight() -> None:
    train = load_line(LineConfig(slope=-3, intercept=0.5, **EXACT)).train
    torch.testing.assert_close(train.targets, 0.5 - 3 * train.inputs)
    assert -1 <= float(train.inputs.min()) < -0.9
    assert 0.9 < float(train.inputs.max()) <= 1


def test_noise_has_the_size_it_is_given() -> None:
    train = load_line(LineConfig(n=5000, slope=2, intercept=1, noise=0.3, **WHOLE)).train
    errors = train.targets - 2 * train.inputs - 1
    assert float(errors.std()) == pytest.approx(0.3, rel=0.05)
    assert abs(float(errors.mean())) < 0.02


def test_a_polynomial_by_hand() -> None:
    # 1 - 2x + 3x^2 at 0, 1, 2 and -1.
    x = torch.tensor([0.0, 1.0, 2.0, -1.0])
    assert polynomial_values(x, (1.0, -2.0, 3.0)).tolist() == [1, 2, 9, 6]


def test_the_usual_polynomial_is_a_cubic_that_turns_twice() -> None:
    train = load_polynomial(PolynomialConfig(**EXACT)).train
    torch.testing.assert_close(train.targets, 2 * train.inputs**3 - train.inputs)


def test_a_polynomial_with_two_coefficients_is_a_line() -> None:
    train = load_polynomial(PolynomialConfig(coefficients=(0.5, 4), **EXACT)).train
    torch.testing.assert_close(train.targets, 0.5 + 4 * train.inputs)


def test_coefficients_can_be_written_as_on_the_command_line() -> None:
    assert parse(PolynomialConfig, {"coefficients": "1,0,-2.5"}).coefficients == (1.0, 0.0, -2.5)


@given(
    widths=st.lists(st.integers(1, 8), min_size=2, max_size=5).map(tuple),
    seed=st.integers(0, 1000),
)
@settings(deadline=None)
def test_the_teacher_is_odd(widths: tuple[int, ...], seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    weights = teacher_weights(widths, random)
    inputs = torch.randn(5, widths[0], generator=random, dtype=torch.float64)
    outputs = teacher_outputs(inputs, weights)
    assert outputs.shape == (5, widths[-1])
    torch.testing.assert_close(teacher_outputs(-inputs, weights), -outputs)


def test_a_teacher_by_hand() -> None:
    weights = [torch.tensor([[1.0], [1.0]]), torch.tensor([[3.0]])]
    outputs = teacher_outputs(torch.tensor([[0.25, 0.25], [1.0, -1.0]]), weights)
    torch.testing.assert_close(outputs, torch.tensor([[3 * 0.46211716], [0.0]]))  # tanh(1/2)


def test_a_teacher_without_hidden_layers_is_linear() -> None:
    config = TeacherConfig(features=3, hidden=(), outputs=2, **EXACT)
    train = load_teacher(config).train
    fitted = torch.linalg.lstsq(train.inputs, train.targets).solution
    torch.testing.assert_close(train.inputs @ fitted, train.targets, rtol=0, atol=1e-4)


def test_the_class_is_the_largest_output() -> None:
    settings_of: dict[str, Any] = {"features": 4, "hidden": (8, 8), "outputs": 3, **EXACT}
    reals = load_teacher(TeacherConfig(kind="real", **settings_of)).train
    classes = load_teacher(TeacherConfig(kind="class", **settings_of)).train
    assert torch.equal(reals.inputs, classes.inputs)
    assert torch.equal(reals.targets.argmax(dim=1), classes.targets)


@for_each("seed", range(5))
def test_no_class_of_a_teacher_stays_empty(seed: int) -> None:
    train = load_teacher(TeacherConfig(kind="class", outputs=4, seed=seed)).train
    assert int(train.targets.bincount(minlength=4).min()) > 0.05 * len(train)


def test_two_classes_are_enough() -> None:
    data = load_teacher(TeacherConfig(kind="class", outputs=2, n=50))
    assert (data.name, data.spec.num_outputs) == ("teacher", 2)


def test_noise_is_added_to_the_teachers_outputs() -> None:
    exact = load_teacher(TeacherConfig(**EXACT)).train
    noisy = load_teacher(TeacherConfig(noise=0.2, **WHOLE)).train
    assert torch.equal(exact.inputs, noisy.inputs)
    assert float((noisy.targets - exact.targets).std()) == pytest.approx(0.2, rel=0.1)


@for_each(
    ("config", "setting", "sentence"),
    [
        (
            PolynomialConfig,
            {"coefficients": ()},
            "coefficients must be at least one number, got none",
        ),
        (
            PolynomialConfig,
            {"coefficients": (1.0, float("inf"))},
            "coefficients[1] must be a finite number, got inf",
        ),
        (LineConfig, {"noise": -1}, "noise must be at least 0.0, got -1"),
        (TeacherConfig, {"hidden": (4, 0)}, "hidden[1] must be greater than 0, got 0"),
        (TeacherConfig, {"kind": "class"}, "outputs must be at least 2 for classes, got 1"),
    ],
)
def test_refuses_in_one_sentence(config: Any, setting: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        config(**setting)


@pytest.mark.parametrize(
    ("load", "config", "x", "y"),
    [
        (load_line, LineConfig(**NOISY), -0.63041, -0.27771),
        (load_polynomial, PolynomialConfig(**NOISY), -0.96628, -0.59001),
        (load_teacher, TeacherConfig(features=1, **NOISY), -0.67003, 2.20618),
    ],
    ids=["line", "polynomial", "teacher"],
)
def test_the_rows_of_a_seed_are_the_same_in_every_version(
    load: Callable[[Any], Data], config: Any, x: float, y: float
) -> None:
    train = load(config).train
    assert train.inputs[0, 0].item() == pytest.approx(x, abs=1e-5)
    assert train.targets[0, 0].item() == pytest.approx(y, abs=1e-5)
