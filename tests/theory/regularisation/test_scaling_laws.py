"""Scaling laws: powers are fitted, letters are Zipf's words, and what turns the verdict."""

import pytest
import torch

from netwright.core.seeding import generator
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.regularisation.scaling_laws import (
    EXAMPLES,
    HELD_OUT,
    LETTERS,
    SCALING,
    WIDTHS,
    ScalingConfig,
    draw_letters,
    fit_power,
    letter_loss,
    ridge_error,
)


@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(SCALING)


def test_the_power_of_a_power_law_is_found() -> None:
    x = torch.tensor([1.0, 2, 4, 8])
    assert fit_power(x, 3 * x**-0.5) == pytest.approx((-0.5, 1.0))
    slope, straight = fit_power(x, torch.tensor([1.0, 2, 1, 2]))
    assert slope == pytest.approx(0.2)
    assert straight == pytest.approx(0.2)


@pytest.mark.covers("scaling-laws")
def test_the_error_of_ridge_regression_falls_with_the_power_of_the_spectrum() -> None:
    exponent, straight = SCALING.check().findings
    assert straight.measured > 0.95
    assert exponent.measured == pytest.approx(1, abs=0.15)
    assert SCALING.check(exponent=0.7).findings[0].measured == pytest.approx(0.7, abs=0.15)


def test_as_many_examples_as_features_leave_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("netwright.theory.regularisation.scaling_laws.FEATURES", 16)
    rng = generator(0, "test")
    assert ridge_error(ScalingConfig(), 64, rng) < 1e-4
    assert 0.01 < ridge_error(ScalingConfig(), 2, rng) < 1
    assert len(EXAMPLES) >= 4


def test_letters_are_words_that_come_by_zipfs_law() -> None:
    text = draw_letters(5000, generator(0, "test"))
    assert text.tolist()[-1] == 0
    assert int((text == 0).sum()) == 5000
    assert set(text.tolist()) == set(range(LETTERS + 1))
    words = "".join(chr(96 + letter) if letter else " " for letter in text.tolist()).split()
    counts = sorted((words.count(word) for word in set(words)), reverse=True)
    assert counts[0] / counts[9] == pytest.approx(10, rel=0.4)


def test_a_gpt_learns_letters_and_has_the_weights_of_its_width() -> None:
    text = draw_letters(6000, generator(0, "test"))
    assert len(text) > HELD_OUT
    before, after = (letter_loss(4, text, 0, steps) for steps in (1, 30))
    assert before[0] == after[0] == 708
    assert after[1] < before[1]
    assert len(WIDTHS) >= 4


@pytest.mark.slow
@pytest.mark.parametrize(("power", "failing"), [(0.08, []), (0.0001, [2]), (0.5, [3])])
def test_a_loss_that_does_not_fall_by_a_power_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch, power: float, failing: list[int]
) -> None:
    monkeypatch.setattr(
        "netwright.theory.regularisation.scaling_laws.letter_loss",
        lambda width, text, seed, steps: (width**2, 3 * width ** (-2 * power) + 1e-9 * (seed % 7)),
    )
    monkeypatch.setattr("netwright.theory.regularisation.scaling_laws.TRIES", {"full": 5})
    findings = SCALING.check(size="full").findings
    assert [place for place, one in enumerate(findings) if not one.holds] == failing
