"""Convolution and shifts: rolls, borders, matrices that commute; and exchanged signals."""

import numpy as np
import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.layers.convolution.convolution import convolve, correlate
from netwright.testing.claim_contract import CLAIM_CHECKS
from netwright.theory.claims import Claim
from netwright.theory.images.shift_equivariance import (
    CORRELATION_COMMUTES,
    SHIFT_EQUIVARIANCE,
    commuting_part,
    difference,
    inside,
)


def numbers(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=generator(0, "test"), dtype=torch.float64)


@pytest.mark.parametrize("claim", [SHIFT_EQUIVARIANCE, CORRELATION_COMMUTES], ids=["58", "59"])
@pytest.mark.parametrize("check", CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check, claim: Claim) -> None:  # type: ignore[no-untyped-def]
    check(claim)


@pytest.mark.covers("translation-equivariance")
@pytest.mark.parametrize("shift", [1, 4, 11])
def test_a_circle_has_no_border_and_zeros_outside_are_seen_at_the_border_only(shift: int) -> None:
    x, kernel = numbers(30), numbers(4)
    rolled = torch.from_numpy(np.roll(x.numpy(), shift))
    after = np.roll(convolve(x, kernel, "circular").numpy(), shift)
    np.testing.assert_allclose(convolve(rolled, kernel, "circular").numpy(), after, atol=1e-12)
    assert difference(x, kernel, (shift,), "circular").max() < 1e-12
    with_zeros = difference(x, kernel, (shift,), "same")
    untouched = inside(30, 4, shift)
    assert with_zeros[untouched].max() < 1e-12
    assert with_zeros[: untouched.start].max() > 0.1
    assert with_zeros[untouched.stop :].max() > 0.1


@pytest.mark.covers("shift-equivariant-is-conv")
def test_a_matrix_that_commutes_with_shifts_is_the_circulant_of_its_first_column() -> None:
    matrix = commuting_part(numbers(9, 9))
    shift = torch.eye(9, dtype=torch.float64).roll(1, 0)
    assert (matrix @ shift - shift @ matrix).abs().max() < 1e-12
    circulant = torch.stack([matrix[:, 0].roll(place) for place in range(9)], dim=1)
    assert (matrix - circulant).abs().max() < 1e-10
    assert (commuting_part(matrix) - matrix).abs().max() < 1e-12  # a projection


def test_only_symmetric_signals_hide_that_correlation_turns_around() -> None:
    a, b = torch.tensor([1.0, 2, 3]), torch.tensor([1.0, 0])
    assert correlate(a, b).tolist() == [0, 1, 2, 3]
    assert correlate(b, a).tolist() == [3, 2, 1, 0]
    findings = CORRELATION_COMMUTES.check(size="full").findings
    assert [one.holds for one in findings] == [False, True]  # cross-correlation, convolution


def test_a_layer_that_forgets_to_flip_turns_both_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    file = "netwright.theory.images.shift_equivariance"
    monkeypatch.setattr(f"{file}.correlate", convolve)
    assert CORRELATION_COMMUTES.check().holds
    monkeypatch.setattr(f"{file}.convolve", lambda x, kernel, *_: x * kernel.sum() * x.cumsum(0))
    assert not SHIFT_EQUIVARIANCE.check().holds


@pytest.mark.parametrize("length", [20, 63])
def test_holds_for_other_lengths_and_even_kernels(length: int) -> None:
    assert SHIFT_EQUIVARIANCE.check(length=length, kernel=4, seed=1).holds


def test_a_kernel_that_reaches_across_the_signal_is_refused() -> None:
    with pytest.raises(ConfigError) as refusal:
        SHIFT_EQUIVARIANCE.check(length=24, kernel=7)
    assert str(refusal.value) == (
        "length must be at least 4 times the kernel, got 24 for a kernel of 7"
    )
