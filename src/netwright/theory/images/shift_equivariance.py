r"""Convolution and shifts: it commutes with them, and nothing else that is linear does.

With T the shift by one place on a circle, and w * x the circular convolution,

    w * (T x) = T (w * x),      A T = T A  =>  A x = w * x  with  w = A e_0,

for e_0, T e_0, T^2 e_0 ... are all unit impulses: the answer to one of them tells the answers to
all. Any matrix has a part that commutes with T, the mean of T^{-s} A T^s over all shifts s.

Cross-correlation, what layers compute under the name of convolution, commutes with shifts too, but
not with itself: exchanging kernel and signal turns the result around.

Shapes: n places, m values of a kernel.
Source: Bracewell, "The Fourier Transform and Its Applications" (1965), chapter 3.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Annotated

import torch
from annotated_types import Interval
from torch import Tensor

from netwright.core.card import Card
from netwright.core.config import Config, Doc
from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.layers.convolution.convolution import convolve, correlate
from netwright.layers.convolution.convolution_matrix import convolution_matrix
from netwright.theory.claims import Assumption, Claim, Effort
from netwright.theory.verdict import Verdict, at_most, no_violations

SIGNALS = {"quick": 5, "full": 100}
SHORTEST = 4  # times the kernel: signals with an inside that the borders do not reach
ROUNDING, MATRIX_ROUNDING = 1e-12, 1e-10
SHOWN_SHIFT = 3


@dataclass(frozen=True, kw_only=True)
class ShiftEquivarianceConfig(Config):
    """Signal and kernel, and what they need."""

    length: Annotated[int, Interval(ge=12, le=64), Doc("n, places of a signal")] = 24
    kernel: Annotated[int, Interval(ge=2, le=15), Doc("m, values of a kernel")] = 5
    circular: Annotated[
        bool, Assumption("signals lie on a circle; without it, there are zeros outside")
    ] = True
    equivariant: Annotated[
        bool, Assumption("the matrix commutes with shifts; without it, it is any matrix")
    ] = True

    def __post_init__(self) -> None:
        """Refuse kernels that reach across the signal."""
        super().__post_init__()
        if self.length < SHORTEST * self.kernel:
            raise ConfigError(
                f"length must be at least {SHORTEST} times the kernel, "
                f"got {self.length} for a kernel of {self.kernel}"
            )


def difference(x: Tensor, kernel: Tensor, shift: tuple[int, ...], boundary: str) -> Tensor:
    """|w * (T x) - T (w * x)| at every place, for a shift along each dimension."""
    dims = tuple(range(x.ndim))
    shifted_first = convolve(x.roll(shift, dims), kernel, boundary)
    return (shifted_first - convolve(x, kernel, boundary).roll(shift, dims)).abs()


def inside(length: int, kernel: int, shift: int) -> slice:
    """The places that no border reaches, neither before the shift nor after it."""
    return slice(shift + kernel // 2, length - kernel // 2)


def commuting_part(matrix: Tensor) -> Tensor:
    """The mean of T^{-s} A T^s over all shifts s, which commutes with T: (n, n) -> (n, n)."""
    turned = [matrix.roll((s, s), (0, 1)) for s in range(len(matrix))]
    return torch.stack(turned).mean(dim=0)


def random_cases(
    given: ShiftEquivarianceConfig, count: int, rng: torch.Generator
) -> Iterator[tuple[Tensor, Tensor, tuple[int, ...]]]:
    """Signals and pictures, a kernel for each, with a shift along each dimension."""
    for ndim, _ in product((1, 2), range(count)):
        x = torch.randn((given.length,) * ndim, generator=rng, dtype=torch.float64)
        kernel = torch.randn((given.kernel,) * ndim, generator=rng, dtype=torch.float64)
        shift = torch.randint(1, given.length, (ndim,), generator=rng)
        yield x, kernel, tuple(shift.tolist())


def impulse_errors(given: ShiftEquivarianceConfig, count: int, rng: torch.Generator) -> list[float]:
    """How far matrices are from the convolution with their answer to the unit impulse."""
    errors = []
    for _ in range(count):
        shape = (given.length, given.length)
        matrix = torch.randn(shape, generator=rng, dtype=torch.float64)
        if given.equivariant:
            matrix = commuting_part(matrix)
        answer = convolution_matrix(matrix[:, 0], (given.length,), "circular")
        errors.append(float((matrix - answer).abs().max()))
    return errors


def measure_shift_equivariance(
    given: ShiftEquivarianceConfig, seed: int, effort: Effort
) -> Verdict:
    """Shift before and after convolving; project matrices on what commutes with shifts."""
    rng, count = generator(seed, "shift-equivariance"), SIGNALS[effort]
    boundary = "circular" if given.circular else "same"
    errors = [float(difference(*case, boundary).max()) for case in random_cases(given, count, rng)]
    signals = torch.randn(count, given.length, generator=rng, dtype=torch.float64)
    kernel = torch.randn(given.kernel, generator=rng, dtype=torch.float64)
    by_boundary = {
        kind: torch.stack([difference(x, kernel, (SHOWN_SHIFT,), kind) for x in signals])
        for kind in ("circular", "same")
    }
    untouched = by_boundary["same"][:, inside(given.length, given.kernel, SHOWN_SHIFT)]
    impulse = impulse_errors(given, count, rng)
    return Verdict(
        findings=(
            at_most("|w * Tx - T(w * x)|, the largest", ROUNDING, max(errors), n=len(errors)),
            at_most(
                "distance of a matrix that commutes with shifts from the convolution with its "
                "first column, the largest",
                MATRIX_ROUNDING,
                max(impulse),
                n=count,
            ),
            no_violations(
                "places away from the border that differ, with zeros outside",
                int((untouched > ROUNDING).sum()),
                n=untouched.numel(),
            ),
        ),
        chart=ClaimChart(
            x_label="place",
            y_label="difference, the mean over signals",
            series=(
                predicted("no difference", (0, given.length - 1), (0, 0)),
                measured("on a circle", range(given.length), by_boundary["circular"].mean(dim=0)),
                measured("zeros outside", range(given.length), by_boundary["same"].mean(dim=0)),
            ),
            explanation=f"Signals are shifted by {SHOWN_SHIFT} places, before or after a "
            f"convolution with a kernel of {given.kernel}. On a circle it makes no difference. "
            "With zeros outside it makes one only where the window, or what was pushed across "
            "the end, meets the border.",
        ),
    )


SHIFT_EQUIVARIANCE = Claim(
    card=Card(
        sentence="Convolution commutes with shifts, and every linear map that commutes with shifts "
        "is a convolution: with its answer to the unit impulse.",
        formula=r"w * (T x) = T (w * x), \qquad A T = T A \;\Rightarrow\; A x = (A e_0) * x",
        symbols={
            "T": "the shift by one place on a circle of n",
            "w * x": "the convolution of a signal x (n) with a kernel w",
            "A": "a matrix, (n, n)",
            "e_0": "the unit impulse: 1 at place 0, and 0 elsewhere",
        },
        source="Bracewell (1965), The Fourier Transform and Its Applications, chapter 3",
        misprint="Often called translation invariance: the result moves along with the signal, "
        "which is equivariance. Pooling over all places then makes it invariant. With zeros "
        "outside it is exact only away from the border.",
    ),
    topic="Images",
    kind="theorem",
    settings=ShiftEquivarianceConfig,
    experiment=measure_shift_equivariance,
)


@dataclass(frozen=True, kw_only=True)
class CorrelationCommutesConfig(Config):
    """The two signals."""

    length: Annotated[int, Interval(ge=3, le=64), Doc("values of the first signal")] = 7
    kernel: Annotated[int, Interval(ge=3, le=64), Doc("values of the second")] = 5
    asymmetric: Annotated[
        bool,
        Assumption("the signals have no symmetry; without it, both read the same from both ends"),
    ] = True


def random_pair(given: CorrelationCommutesConfig, rng: torch.Generator) -> tuple[Tensor, Tensor]:
    """Two rising signals."""
    first, second = (
        torch.rand(size, generator=rng, dtype=torch.float64).sort().values
        for size in (given.length, given.kernel)
    )
    if given.asymmetric:
        return first, second
    return first + first.flip(0), second + second.flip(0)


def measure_correlation_commutes(
    given: CorrelationCommutesConfig, seed: int, effort: Effort
) -> Verdict:
    """Exchange two signals, in a cross-correlation and in a convolution."""
    rng, count = generator(seed, "correlation-commutes"), SIGNALS[effort]
    pairs = [random_pair(given, rng) for _ in range(count)]
    correlated, convolved = (
        max(float((product(a, b) - product(b, a)).abs().max()) for a, b in pairs)
        for product in (correlate, convolve)
    )
    a, b = pairs[0]
    one, other = correlate(a, b), correlate(b, a)
    places = range(len(one))
    return Verdict(
        findings=(
            at_most(
                "cross-correlation: |a ⋆ b - b ⋆ a|, the largest", ROUNDING, correlated, n=count
            ),
            at_most("convolution: |a * b - b * a|, the largest", ROUNDING, convolved, n=count),
        ),
        chart=ClaimChart(
            x_label="place",
            y_label="value",
            series=(
                predicted("a ⋆ b, read from its end", places, one.flip(0)),
                measured("a ⋆ b", places, one),
                measured("b ⋆ a", places, other),
            ),
            explanation="Exchanged, a cross-correlation comes out the other way round. It stays "
            "the same only where it has no direction, as for symmetric signals.",
        ),
    )


CORRELATION_COMMUTES = Claim(
    card=Card(
        sentence="Cross-correlation is commutative, as convolution is.",
        formula=r"(a \star b)_k = \sum_i b_i \, a_{k+i}, \qquad a \star b = b \star a",
        symbols={"a, b": "two signals", r"\star": "cross-correlation, at all places of overlap"},
        source="Goodfellow, Bengio and Courville (2016), Deep Learning, section 9.1",
        misprint="Convolution commutes because its kernel is flipped. Without the flip, exchanging "
        "the two turns the result around: b ⋆ a is a ⋆ b read from its end.",
    ),
    topic="Images",
    kind="false",
    settings=CorrelationCommutesConfig,
    experiment=measure_correlation_commutes,
)
