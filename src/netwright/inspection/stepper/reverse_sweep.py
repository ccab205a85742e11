"""Backpropagation over a tape: from the last value to the first, one operation at a time.

    g_last = 1,     g_i = sum over the operations k that use v_i of  (d v_k / d v_i)^T g_k

Each operation knows only its own derivative; torch is asked for that of one operation and never for
that of the whole. Each derivative is held against a measured one, and so is each gradient, by
running the rest of the tape again with its value moved.

Source: Linnainmaa (1970); Rumelhart, Hinton and Williams, "Learning representations by
back-propagating errors" (1986).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from netwright.core.errors import ConfigError
from netwright.inspection.stepper.node import Node
from netwright.inspection.stepper.numeric_check import Check, check_slope
from netwright.inspection.stepper.operation_words import is_elementwise

LARGEST_JACOBIAN = 64  # entries of a matrix that is worked out
MOST_REPLAYED = 12_000  # operations that the checks of gradients run again
MOST_RECOMPUTED = 20_000_000  # and the numbers that these compute


@dataclass(frozen=True, eq=False)
class Handed:
    """What an operation hands on to one of its inputs.

    Args:
        source: the number of the operation.
        target: the number of the input.
        amount: (d v_source / d v_target)^T g_source, in the shape of the input.
        jacobian: d v_source / d v_target as a matrix, where it is small; or None.
        slopes: its diagonal, where it is all there is: of operations number by number.
        check: of the derivative.
    """

    source: int
    target: int
    amount: Tensor
    jacobian: Tensor | None
    slopes: Tensor | None
    check: Check


@dataclass(frozen=True, eq=False)
class Sweep:
    """The gradients of all values, and how they came to be.

    Args:
        gradients: one a value, in its shape.
        handed: in the order of the backward pass.
        checks: of gradients, by value; of a long tape only some.
    """

    gradients: list[Tensor]
    handed: list[Handed]
    checks: dict[int, Check]


def sweep_back(nodes: Sequence[Node]) -> Sweep:
    """Go back over a tape whose last value is the loss."""
    chance = torch.Generator().manual_seed(0)
    gradients = [torch.zeros_like(node.value) for node in nodes]
    gradients[-1] = torch.ones_like(nodes[-1].value)
    handed: list[Handed] = []
    for number in reversed(range(len(nodes))):
        for one in _hand_on(nodes, number, gradients[number], chance):
            gradients[one.target] = gradients[one.target] + one.amount
            handed.append(one)
    return Sweep(gradients, handed, _check_gradients(nodes, gradients, chance))


def _hand_on(
    nodes: Sequence[Node], number: int, gradient: Tensor, chance: torch.Generator
) -> list[Handed]:
    """What one operation hands to each of its inputs."""
    node = nodes[number]
    if node.replay is None:
        return []
    inputs = [nodes[one].value.clone().requires_grad_() for one in node.inputs]
    with torch.enable_grad():
        output = node.replay(inputs)
    if not torch.allclose(output, node.value, rtol=1e-9, atol=1e-12, equal_nan=True):
        raise ConfigError(
            f"{node.name} gives a different value each time: disable randomness to step through it"
        )

    def pull(weights: Tensor) -> list[Tensor]:
        found = torch.autograd.grad(
            output, inputs, weights, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        return list(found)

    amounts, probe = pull(gradient), _direction(output, chance)
    probed = pull(probe.masked_fill(output.isinf(), 0))  # what is masked by infinity rests
    results = []
    for place, target in enumerate(node.inputs):
        slopes = jacobian = None
        if is_elementwise(node.name) and inputs[place].shape == output.shape:
            slopes = pull(torch.ones_like(output))[place]
        elif 0 < output.numel() * inputs[place].numel() <= LARGEST_JACOBIAN:  # not of nothing
            slopes, jacobian = _slopes_or_matrix(
                torch.stack([pull(one)[place].flatten() for one in _one_by_one(output)])
            )
        check = _check_operation(node, inputs, place, probe, probed[place], chance)
        results.append(Handed(number, target, amounts[place], jacobian, slopes, check))
    return results


def _one_by_one(output: Tensor) -> Iterator[Tensor]:
    """For each number of the output, the weights that pick it."""
    for row in torch.eye(output.numel(), dtype=output.dtype):
        yield row.view_as(output)


def _slopes_or_matrix(jacobian: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """The diagonal alone, where there is nothing else; or the whole matrix."""
    diagonal = jacobian.diagonal()
    if len(jacobian) == jacobian.shape[1] and torch.equal(jacobian, diagonal.diag()):
        return diagonal, None
    return None, jacobian


def _check_operation(
    node: Node,
    inputs: list[Tensor],
    place: int,
    probe: Tensor,
    probed: Tensor,
    chance: torch.Generator,
) -> Check:
    """Whether an operation's derivative by one input is right, in a direction drawn at random."""
    values = [one.detach() for one in inputs]
    direction = _direction(values[place], chance)

    def moved(step: float) -> Tensor:
        others = [*values[:place], values[place] + step * direction, *values[place + 1 :]]
        with torch.no_grad():
            return _products(node.replay(others), probe) if node.replay else probe

    size = _size(values[place], probed)
    return check_slope(moved, _inner(direction, probed), _typical_slope(probed), size)


def _check_gradients(
    nodes: Sequence[Node], gradients: Sequence[Tensor], chance: torch.Generator
) -> dict[int, Check]:
    """Whether the loss changes as the gradients say; of a long tape some values, spread evenly."""
    given = [number for number, node in enumerate(nodes) if node.replay is None]
    computed = [number for number, node in enumerate(nodes) if node.replay is not None]
    one_replay = sum(nodes[number].value.numel() for number in computed)
    # Two replays of about half of the tape for each value.
    most = max(4, min(MOST_REPLAYED // len(nodes), MOST_RECOMPUTED // one_replay))
    chosen = [*_spread(given, max(2, most // 2)), *_spread(computed, max(2, most // 2))]
    sizes = [_size(node.value, slope) for node, slope in zip(nodes, gradients, strict=True)]
    return {
        number: _check_gradient(nodes, number, gradients[number], sum(sizes[number:]), chance)
        for number in chosen
    }


def _check_gradient(
    nodes: Sequence[Node], number: int, gradient: Tensor, size: float, chance: torch.Generator
) -> Check:
    direction = _direction(nodes[number].value, chance)

    def moved(step: float) -> Tensor:
        values = {number: nodes[number].value + step * direction}
        with torch.no_grad():
            for later in range(number + 1, len(nodes)):
                node = nodes[later]
                if node.replay is not None and any(one in values for one in node.inputs):
                    values[later] = node.replay(
                        [values.get(one, nodes[one].value) for one in node.inputs]
                    )
        return values.get(len(nodes) - 1, nodes[-1].value)

    return check_slope(moved, _inner(direction, gradient), _typical_slope(gradient), size)


def _spread(numbers: list[int], most: int) -> list[int]:
    """At most so many of them, from the first to the last."""
    if len(numbers) <= most:
        return numbers
    places = torch.linspace(0, len(numbers) - 1, most).round().long().tolist()
    return [numbers[place] for place in places]


def _direction(like: Tensor, chance: torch.Generator) -> Tensor:
    """A direction of length 1 in which every number takes part."""
    drawn = torch.randn(like.shape, generator=chance, dtype=like.dtype)
    return drawn / float(drawn.norm().clamp(min=1e-12))


def _inner(a: Tensor, b: Tensor) -> float:
    return float(_products(a, b).sum())


def _products(a: Tensor, b: Tensor) -> Tensor:
    """Number by number; of complex ones, real and imaginary parts count as two numbers."""
    return (a.conj() * b).real if a.is_complex() else a * b


def _size(values: Tensor, weights: Tensor) -> float:
    """How large values are, each by its weight; one that is not finite is no matter of rounding."""
    return float((values.abs() * weights.abs()).nan_to_num(0.0, 0.0, 0.0).sum())


def _typical_slope(gradient: Tensor) -> float:
    """The slope that a direction of length 1 has on average."""
    return float(gradient.norm()) / math.sqrt(max(1, gradient.numel()))
