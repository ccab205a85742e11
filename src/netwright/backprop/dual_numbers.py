r"""Forward mode: a value and its slope go through every operation together.

    (a, a') + (b, b') = (a + b, a' + b')        (a, a') (b, b') = (a b, a' b + a b')
    f((a, a')) = (f(a), f'(a) a')

A function that is run on (x, v) gives (f(x), J v): one pass a direction v, and nothing is stored.
It is written once, with operators and methods that tensors have too: `(x @ w).tanh()` takes a
tensor, a dual number or a node of `computation_graph`. In x**p the power
p is a constant.

Shapes: any; a slope has the shape of its value.
Source: Wengert, "A Simple Automatic Derivative Evaluation Program" (1964).
"""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class Dual:
    """A value and how fast it changes along the direction that is followed; a constant does not."""

    value: Tensor
    slope: Tensor

    def __add__(self, other: "Dual | Tensor | float") -> "Dual":
        if not isinstance(other, Dual):
            value = self.value + other
            return Dual(value, self.slope.expand_as(value))
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other: "Dual | Tensor | float") -> "Dual":
        if not isinstance(other, Dual):
            return Dual(self.value * other, self.slope * other)
        slope = self.slope * other.value + self.value * other.slope
        return Dual(self.value * other.value, slope)

    def __matmul__(self, other: "Dual | Tensor") -> "Dual":
        if isinstance(other, Tensor):  # a constant: half the products would be with 0
            return Dual(self.value @ other, self.slope @ other)
        slope = self.slope @ other.value + self.value @ other.slope
        return Dual(self.value @ other.value, slope)

    def __rmatmul__(self, other: Tensor) -> "Dual":
        return Dual(other @ self.value, other @ self.slope)

    def __pow__(self, power: float) -> "Dual":
        below = power - 1 if power else 0  # 0 times 1 / a is no number where a = 0
        return Dual(self.value**power, power * self.value**below * self.slope)

    def __neg__(self) -> "Dual":
        return Dual(-self.value, -self.slope)

    def __sub__(self, other: "Dual | Tensor | float") -> "Dual":
        return self + -other

    def __rsub__(self, other: "Tensor | float") -> "Dual":
        return -self + other

    def __truediv__(self, other: "Dual | Tensor | float") -> "Dual":
        if not isinstance(other, Dual):
            return Dual(self.value / other, self.slope / other)
        value = self.value / other.value
        return Dual(value, (self.slope - value * other.slope) / other.value)

    def __rtruediv__(self, other: "Tensor | float") -> "Dual":
        return self**-1 * other

    __radd__, __rmul__ = __add__, __mul__

    def exp(self) -> "Dual":
        """e^x, whose slope is itself."""
        value = self.value.exp()
        return Dual(value, value * self.slope)

    def log(self) -> "Dual":
        """The natural logarithm."""
        return Dual(self.value.log(), self.slope / self.value)

    def sin(self) -> "Dual":
        """The sine."""
        return Dual(self.value.sin(), self.value.cos() * self.slope)

    def cos(self) -> "Dual":
        """The cosine."""
        return Dual(self.value.cos(), -self.value.sin() * self.slope)

    def sqrt(self) -> "Dual":
        """The square root."""
        value = self.value.sqrt()
        return Dual(value, self.slope / (2 * value))

    def tanh(self) -> "Dual":
        """The hyperbolic tangent."""
        value = self.value.tanh()
        return Dual(value, (1 - value**2) * self.slope)

    def sigmoid(self) -> "Dual":
        """1 / (1 + e^-x)."""
        value = self.value.sigmoid()
        return Dual(value, value * (1 - value) * self.slope)

    def relu(self) -> "Dual":
        """max(x, 0), with the slope 0 at 0, as torch has it."""
        return Dual(self.value.relu(), (self.value > 0) * self.slope)

    def sum(self) -> "Dual":
        """The sum of all entries."""
        return Dual(self.value.sum(), self.slope.sum())


def forward_derivative(function: Callable[[Dual], Dual], x: Tensor, direction: Tensor) -> Tensor:
    """J v, how fast f changes at x where x moves along v: one pass."""
    return function(Dual(x, direction)).slope
