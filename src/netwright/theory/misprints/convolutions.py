"""Misprints about convolution, its sizes and signs, and pooling."""

import torch
from torch import Tensor
from torch.nn import functional

from netwright.core.seeding import generator
from netwright.theory.misprints.entry import Misprint, Telling

LENGTH = 16


def signal(name: str, length: int = LENGTH) -> Tensor:
    """A random one, on a circle."""
    return torch.randn(length, generator=generator(0, name), dtype=torch.float64)


def convolve(f: Tensor, h: Tensor) -> Tensor:
    """(f * h)(t) = sum_s f(s) h(t - s), on a circle."""
    return torch.stack([(f * h.flip(0).roll(t + 1)).sum() for t in range(len(f))])


def correlate(h: Tensor, f: Tensor) -> Tensor:
    """(h star f)(t) = sum_s h(s) f(t + s), on a circle."""
    return torch.stack([(h * f.roll(-t)).sum() for t in range(len(f))])


def reversed_signal(h: Tensor) -> Tensor:
    """h(-t), on a circle."""
    return h.flip(0).roll(1)


def apart(a: Tensor, b: Tensor) -> float:
    """The largest difference."""
    return float((a - b).abs().max())


def output_size() -> Telling:
    """Seven inputs, a kernel of 3 and stride 2, without padding; then eight of them."""
    kernel, stride, length = 3, 2, 8
    got = functional.conv1d(torch.zeros(1, 1, length), torch.zeros(1, 1, kernel), stride=stride)
    exact = (length - kernel + stride) / stride
    return Telling(
        what="outputs for 8 inputs, kernel 3 and stride 2",
        rule="equals",
        bound=got.shape[-1],
        right=int(exact),
        wrong=exact,
    )


def pooling_window() -> Telling:
    """Windows of two: the second one must not hold the third value of its neighbour."""
    x, size = torch.tensor([1.0, 2.0, 9.0, 4.0]), 2
    wanted = functional.max_pool1d(x[None], size)[0]
    return Telling(
        what="maximum of the first window of two of (1, 2, 9, 4)",
        rule="equals",
        bound=float(wanted[0]),
        right=float(x[0:size].max()),
        wrong=float(x[0 : size + 1].max()),  # up to (k + 1) p, included
    )


def pooling_stride() -> Telling:
    """A 4 x 4 picture, windows of 2 x 2."""
    picture, size = torch.rand(1, 1, 4, 4, generator=generator(0, "picture")), 2
    return Telling(
        what="values that are left of 16 after pooling by 2 x 2",
        rule="equals",
        bound=4,
        right=functional.max_pool2d(picture, size).numel(),
        wrong=functional.max_pool2d(picture, size, stride=1).numel(),
    )


def pooled_share() -> Telling:
    """An 8 x 8 picture, pooled by 2."""
    pooled = functional.max_pool2d(torch.zeros(1, 1, 8, 8), 2)
    return Telling(
        what="times fewer values after pooling a picture by 2",
        rule="equals",
        bound=64 / pooled.numel(),
        right=2**2,
        wrong=2,
    )


def commutes() -> Telling:
    """Two random signals."""
    f, h = signal("f"), signal("h")
    return Telling(
        what="largest change when the two signals are swapped",
        rule="at most",
        bound=1e-12,
        right=apart(convolve(f, h), convolve(h, f)),
        wrong=apart(correlate(h, f), correlate(f, h)),
    )


def reversed_kernel() -> Telling:
    """Correlation is convolution with the kernel turned round."""
    f, h = signal("f"), signal("h")
    turned = reversed_signal(h)
    return Telling(
        what="largest difference of both sides",
        rule="at most",
        bound=1e-12,
        right=apart(correlate(h, f), convolve(f, turned)),
        wrong=apart(correlate(h, f), correlate(turned, f)),
    )


def shift_sign() -> Telling:
    """Shift by three, then convolve; or the other way round."""
    f, h, shift = signal("f"), signal("h"), 3
    shifted = torch.stack([f[(t + shift) % LENGTH] for t in range(LENGTH)])  # f(t + shift)
    after = convolve(f, h)
    return Telling(
        what="largest difference of shifting before and after",
        rule="at most",
        bound=1e-12,
        right=apart(convolve(shifted, h), after.roll(-shift)),
        wrong=apart(convolve(shifted, h), after.roll(shift)),
    )


def equivariance() -> Telling:
    """A shifted picture gives a shifted map, not the same one."""
    f, h, shift = signal("f"), signal("h"), 3
    moved = convolve(f.roll(shift), h)
    return Telling(
        what="largest difference from the map of the unmoved signal, shifted or not",
        rule="at most",
        bound=1e-12,
        right=apart(moved, convolve(f, h).roll(shift)),
        wrong=apart(moved, convolve(f, h)),
    )


def circulant() -> Telling:
    """The first entry of the last row of the matrix: it wraps round."""
    h = signal("h", 4)
    matrix = torch.stack([convolve(unit, h) for unit in torch.eye(4, dtype=torch.float64)]).T
    toeplitz = matrix.tril()  # constant along diagonals, and with no wrap
    f = signal("f", 4)
    return Telling(
        what="largest difference from the circular convolution",
        rule="at most",
        bound=1e-12,
        right=apart(matrix @ f, convolve(f, h)),
        wrong=apart(toeplitz @ f, convolve(f, h)),
    )


CONVOLUTIONS = (
    Misprint(
        name="correlation-commutes",
        topic="Convolution",
        right=r"(f * h)(t) = \sum_s f(s) h(t - s) = (h * f)(t)",
        wrong=r"(h \star f)(t) = \sum_s h(s) f(t + s) = (f \star h)(t)",
        difference="Convolution commutes; cross-correlation, which layers compute, does not.",
        experiment=commutes,
    ),
    Misprint(
        name="correlation-as-convolution",
        topic="Convolution",
        right=r"h \star f = \bar h * f, \quad \bar h(t) = h(-t)",
        wrong=r"h \star f = \bar h \star f",
        difference="Turning the kernel round makes a convolution of it, not another correlation.",
        experiment=reversed_kernel,
    ),
    Misprint(
        name="shift-sign",
        topic="Convolution",
        right=r"(f_\delta * h)(t) = (f * h)(t + \delta), \quad f_\delta(t) = f(t + \delta)",
        wrong=r"(f_\delta * h)(t) = (f * h)(t - \delta), \quad f_\delta(t) = f(t + \delta)",
        difference="The output moves the same way as the input.",
        experiment=shift_sign,
    ),
    Misprint(
        name="convolution-invariance",
        topic="Convolution",
        right=r"g(\mathrm{shift}(x)) = \mathrm{shift}(g(x))",
        wrong=r"g(\mathrm{shift}(x)) = g(x)",
        difference="Shared weights are equivariant: the map moves along; invariant is what is "
        "pooled over all of it.",
        experiment=equivariance,
    ),
    Misprint(
        name="circulant-matrix",
        topic="Convolution",
        right=r"C_{ij} = h_{(i - j) \, \mathrm{mod} \, n}",
        wrong=r"C_{ij} = h_{i - j}",
        difference="On a circle the diagonals wrap round: the matrix is circulant, a special "
        "Toeplitz matrix.",
        experiment=circulant,
    ),
    Misprint(
        name="convolution-output-size",
        topic="Convolution",
        right=r"\left\lfloor \frac{n - k + p + s}{s} \right\rfloor, \quad p \text{ on both sides"
        r" together}",
        wrong=r"\left| \frac{n - k + p + s}{s} \right|",
        difference="A last window that does not fit is left out: the size is rounded down.",
        experiment=output_size,
    ),
    Misprint(
        name="pooling-window",
        topic="Convolution",
        right=r"y_k = \max_{kp \leq i \leq (k+1)p - 1} x_i",
        wrong=r"y_k = \max_{kp \leq i \leq (k+1)p} x_i",
        difference="A window has p values; counted to (k+1)p it has one more, its neighbour's.",
        experiment=pooling_window,
    ),
    Misprint(
        name="pooling-stride",
        topic="Convolution",
        right=r"y_{ij} = \max_{k, l < r} x_{ri + k, \, rj + l}",
        wrong=r"y_{ij} = \max_{k, l < r} x_{i + k, \, j + l}",
        difference="Pooling steps by r; step by step it blurs and makes nothing smaller.",
        experiment=pooling_stride,
    ),
    Misprint(
        name="pooling-share",
        topic="Convolution",
        right=r"\text{values} \rightarrow \frac{\text{values}}{k^2} \; \text{ in two dimensions}",
        wrong=r"\text{values} \rightarrow \frac{\text{values}}{k}",
        difference="Pooling by k leaves one value in k for each dimension.",
        experiment=pooled_share,
    ),
)
