r"""Reverse mode: the smallest engine that differentiates what is written with operators.

A node is the value of one operation. Its edges lead to the values that it was made from, each with
what takes a gradient of the node back to that of the parent: the local derivative. Hence

    gradient of a node = sum over the nodes made from it of (its local derivative, their gradient)

worked out from the output back to the inputs, every node after all that were made from it. Such an
order exists because a graph has no cycle: a recurrent net is unrolled, a copy of its step for each
time step, and the copies share the weights.

The graph is made as the code runs, so loops and conditions of Python are differentiated as they
were taken.

Shapes: any; operations broadcast as torch's do.
Source: Linnainmaa (1970); Speelpenning, "Compiling Fast Partial Derivatives of Functions Given by
Algorithms" (1980).
"""

from collections.abc import Callable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor

from netwright.core.errors import ConfigError


class Edge(NamedTuple):
    """The way from a node back to one that it was made from."""

    parent: "Node"
    pull: Callable[[Tensor], Tensor]


@dataclass(eq=False)  # two nodes of one value are two nodes
class Node:
    """The value of an operation.

    Args:
        value: what it is.
        name: the operation, or what an input is called.
        edges: to the nodes that it was made from; none at an input. Constants are no nodes.
    """

    value: Tensor
    name: str = "input"
    edges: tuple[Edge, ...] = ()

    def __repr__(self) -> str:
        return f"<Node {self.name} {tuple(self.value.shape)}>"

    def __add__(self, other: "Node | Tensor | float") -> "Node":
        value = self.value + value_of(other)
        return join("+", value, (self, lambda g: g), (other, lambda g: g))

    def __mul__(self, other: "Node | Tensor | float") -> "Node":
        a, b = self.value, value_of(other)
        return join("*", a * b, (self, lambda g: g * b), (other, lambda g: g * a))

    def __truediv__(self, other: "Node | Tensor | float") -> "Node":
        a, b = self.value, value_of(other)
        return join("/", a / b, (self, lambda g: g / b), (other, lambda g: -g * a / b**2))

    def __pow__(self, power: float) -> "Node":
        a = self.value
        below = power - 1 if power else 0  # 0 times 1 / a is no number where a = 0
        return join("**", a**power, (self, lambda g: g * power * a**below))

    def __matmul__(self, other: "Node | Tensor") -> "Node":
        return multiply(self, other)

    def __rmatmul__(self, other: Tensor) -> "Node":
        return multiply(other, self)

    def __neg__(self) -> "Node":
        return self * -1.0

    def __sub__(self, other: "Node | Tensor | float") -> "Node":
        return self + -other

    def __rsub__(self, other: "Tensor | float") -> "Node":
        return -self + other

    def __rtruediv__(self, other: "Tensor | float") -> "Node":
        return self**-1 * other

    __radd__, __rmul__ = __add__, __mul__

    def exp(self) -> "Node":
        """e^x."""
        value = self.value.exp()
        return join("exp", value, (self, lambda g: g * value))

    def log(self) -> "Node":
        """The natural logarithm."""
        return join("log", self.value.log(), (self, lambda g: g / self.value))

    def sin(self) -> "Node":
        """The sine."""
        return join("sin", self.value.sin(), (self, lambda g: g * self.value.cos()))

    def cos(self) -> "Node":
        """The cosine."""
        return join("cos", self.value.cos(), (self, lambda g: -g * self.value.sin()))

    def sqrt(self) -> "Node":
        """The square root."""
        value = self.value.sqrt()
        return join("sqrt", value, (self, lambda g: g / (2 * value)))

    def tanh(self) -> "Node":
        """The hyperbolic tangent."""
        value = self.value.tanh()
        return join("tanh", value, (self, lambda g: g * (1 - value**2)))

    def sigmoid(self) -> "Node":
        """1 / (1 + e^-x)."""
        value = self.value.sigmoid()
        return join("sigmoid", value, (self, lambda g: g * value * (1 - value)))

    def relu(self) -> "Node":
        """max(x, 0), with the slope 0 at 0."""
        return join("relu", self.value.relu(), (self, lambda g: g * (self.value > 0)))

    def sum(self) -> "Node":
        """The sum of all entries."""
        return join("sum", self.value.sum(), (self, lambda g: g.expand_as(self.value)))


Operand = Node | Tensor | float
Constant = TypeVar("Constant", bound=Tensor | float)


def value_of(operand: Node | Constant) -> Tensor | Constant:
    """What is computed with: a node's value, or the constant itself."""
    return operand.value if isinstance(operand, Node) else operand


def join(name: str, value: Tensor, *pulls: tuple[Operand, Callable[[Tensor], Tensor]]) -> Node:
    """The node of an operation, with an edge to each operand that is a node."""
    edges = tuple(Edge(operand, pull) for operand, pull in pulls if isinstance(operand, Node))
    return Node(value, name, edges)


def multiply(left: Node | Tensor, right: Node | Tensor) -> Node:
    """The product of matrices or vectors, at least one of them a node."""
    a, b = value_of(left), value_of(right)
    if b.ndim == 1:  # y_i = sum_j a_ij b_j; `gradients_of` takes the sum over i
        return join(
            "@", a @ b, (left, lambda g: g[..., None] * b), (right, lambda g: g[..., None] * a)
        )
    if a.ndim == 1:  # b^T a
        return join(
            "@",
            a @ b,
            (left, lambda g: g[..., None] * b.mT),
            (right, lambda g: a[:, None] * g[..., None, :]),
        )
    return join("@", a @ b, (left, lambda g: g @ b.mT), (right, lambda g: a.mT @ g))


def forward_order(output: Node) -> list[Node]:
    """The nodes that the output was made from, every one after its parents; it is the last."""
    parents: dict[Node, list[Node]] = {}
    waiting = [output]
    while waiting:
        node = waiting.pop()
        if node not in parents:
            parents[node] = [edge.parent for edge in node.edges]
            waiting += parents[node]
    try:
        return list(TopologicalSorter(parents).static_order())
    except CycleError as error:
        way = " -> ".join(node.name for node in error.args[1])
        raise ConfigError(f"a computation graph must have no cycle, got {way}") from None


def gradients_of(output: Node, seed: Tensor | None = None) -> dict[Node, Tensor]:
    """The gradient of the output by every node that it was made from, in one pass back.

    Args:
        output: what is differentiated.
        seed: u of the product J^T u, in the shape of the output; by default all ones.
    """
    found = {output: torch.ones_like(output.value) if seed is None else seed}
    for node in reversed(forward_order(output)):
        for parent, pull in node.edges:
            part = pull(found[node]).sum_to_size(parent.value.shape)  # undo what was broadcast
            found[parent] = found[parent] + part if parent in found else part
    return found
