"""Linear recurrences h_t = a_t h_{t-1} + b_t, all steps at once.

    scan             quick: ~ 4 sqrt(T) calls on whole tensors instead of T; this is what layers use
    scan_by_steps    the definition: one step after the other
    parallel_scan    the textbook's tree of depth ceil(log2 T)

Two steps in a row are one step: (a, b) and then (a', b') is (a' a, a' b + b'). This rule is
associative, so steps may be joined in any grouping. `scan` cuts time into sqrt(T) chunks, joins all
chunks side by side to one step each, scans those, and then fills in all chunks side by side.

The gradient is a recurrence too, in the other direction: with G_t the gradient of h_t by all that
follows, G_t = grad_t + conj(a_{t+1}) G_{t+1}, and then

    grad b_t = G_t,    grad a_t = G_t conj(h_{t-1}),    grad h_0 = conj(a_1) G_1

Shapes: B batch, T steps, C channels.
Source: Blelloch, "Prefix Sums and Their Applications" (1990); Martin and Cundy, "Parallelizing
Linear Recurrent Neural Nets Over Sequence Length" (2018).
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import is_legacy_batchedtensor
from torch.nn import functional

from netwright.core.checks import check_shape

FEW_STEPS = 16  # for which chunks do not pay


def scan(a: Tensor, b: Tensor, initial: Tensor | None = None) -> Tensor:
    """All h_t = a_t h_{t-1} + b_t, real or complex, differentiable any number of times.

    Numbers of half precision are added up in float32.

    Args:
        a: broadcasts to b; one value for all steps, (C,), is never repeated in memory.
        b: (B, T, C).
        initial: h_0, (B, C); None is zero.

    Returns:
        h_1 to h_T, (B, T, C).
    """
    check_shape("b", b, "B", "T", "C")
    if torch.compiler.is_exporting():  # a traced graph has no writing in place
        return scan_by_steps(a, b, initial)
    a, b, initial = _prepared(a, b, initial)
    states: Tensor = _Scan.apply(a.expand_as(b), b, initial, False)  # type: ignore[no-untyped-call]
    return states[:, 1:]


def scan_by_steps(a: Tensor, b: Tensor, initial: Tensor | None = None) -> Tensor:
    """What `scan` computes, by its definition."""
    a, b, state = _prepared(a, b, initial)
    states = []
    for a_t, b_t in zip(a.expand_as(b).unbind(1), b.unbind(1), strict=True):
        state = a_t * state + b_t
        states.append(state)
    return torch.stack(states, dim=1)


def parallel_scan(a: Tensor, b: Tensor) -> tuple[Tensor, int]:
    """What `scan` computes from h_0 = 0, by doubling: a round joins steps that lie `reach` apart.

    After a round every (a_t, b_t) stands for twice as many steps up to t. All places of a round are
    independent of each other: with enough hands, the time taken is the number of rounds.

    Args:
        a: (B, T, C).
        b: (B, T, C).

    Returns:
        h (B, T, C), and the number of rounds, ceil(log2 T).
    """
    reach, rounds = 1, 0
    while reach < b.shape[1]:
        # Beyond the beginning lies the step that changes nothing: a = 1, b = 0.
        earlier_a = functional.pad(a, (0, 0, reach, 0), value=1.0)[:, :-reach]
        earlier_b = functional.pad(b, (0, 0, reach, 0))[:, :-reach]
        a, b = a * earlier_a, a * earlier_b + b
        reach, rounds = 2 * reach, rounds + 1
    return b, rounds


def _prepared(a: Tensor, b: Tensor, initial: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """All three of one type that is wide enough to add up in, and h_0 written out."""
    if initial is None:
        initial = b.new_zeros(b.shape[0], b.shape[2])
    wide = torch.promote_types(torch.promote_types(a.dtype, b.dtype), initial.dtype)
    wide = torch.promote_types(wide, torch.float32)
    return a.to(wide), b.to(wide), initial.to(wide)


class _Scan(torch.autograd.Function):
    """(a, b, h_0) -> all states (B, T + 1, C), h_0 among them; `backwards` in time: from the end.

    Each direction is the gradient of the other.
    """

    @staticmethod
    def forward(a: Tensor, b: Tensor, initial: Tensor, backwards: bool) -> Tensor:
        if any(map(is_legacy_batchedtensor, (a, b, initial))):
            return _stacked(a, b, initial, backwards)
        batch, steps, channels = b.shape
        states = b.new_empty(batch, steps + 1, channels)
        states[:, -1 if backwards else 0] = initial
        _fill(states, a, b, backwards)
        return states

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        a, _, _, ctx.backwards = inputs
        ctx.save_for_backward(a, output)
        ctx.save_for_forward(a, output)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        a, states = ctx.saved_tensors
        after, before = slice(1, None), slice(None, -1)
        if ctx.backwards:
            after, before = before, after
        # The conjugate of G is scanned: its recurrence has a itself in it, not conj(a).
        grad = grads[0].conj().resolve_conj()
        last = grad[:, 0 if ctx.backwards else -1]
        total: Tensor = _Scan.apply(a, grad[:, before], last, not ctx.backwards)  # type: ignore[no-untyped-call]
        grad_a = (total[:, after] * states[:, before]).conj() if ctx.needs_input_grad[0] else None
        first = total[:, -1 if ctx.backwards else 0]
        return grad_a, total[:, after].conj(), first.conj(), None

    @staticmethod
    def jvp(
        ctx: Any, da: Tensor | None, db: Tensor | None, initial: Tensor | None, _: None
    ) -> Tensor:
        """dh_t = a_t dh_{t-1} + da_t h_{t-1} + db_t: the same recurrence."""
        a, states = ctx.saved_tensors
        inner = torch.zeros_like(states[:, 1:]) if db is None else db
        if da is not None:
            inner = inner + da * (states[:, 1:] if ctx.backwards else states[:, :-1])
        start = torch.zeros_like(states[:, 0]) if initial is None else initial
        tangent: Tensor = _Scan.apply(a, inner, start, ctx.backwards)  # type: ignore[no-untyped-call]
        return tangent

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *given: Any) -> tuple[Tensor, int]:
        """Many scans at once are one of a larger batch."""
        *tensors, backwards = given
        count = info.batch_size
        wide = [
            tensor.expand(count, *tensor.shape) if dim is None else tensor.movedim(dim, 0)
            for tensor, dim in zip(tensors, in_dims, strict=False)
        ]
        states: Tensor = _Scan.apply(*(one.flatten(0, 1) for one in wide), backwards)  # type: ignore[no-untyped-call]
        return states.reshape(count, wide[1].shape[1], *states.shape[1:]), 0


def _stacked(a: Tensor, b: Tensor, state: Tensor, backwards: bool) -> Tensor:
    """All states one after the other, for torch's older vmap, which writes into no given tensor.

    `torch.autograd.grad(is_grads_batched=True)` goes back by it.
    """
    order = slice(None, None, -1 if backwards else 1)
    states = [state]
    for a_t, b_t in zip(a.unbind(1)[order], b.unbind(1)[order], strict=True):
        states.append(a_t * states[-1] + b_t)
    return torch.stack(states[order], dim=1)


def _fill(states: Tensor, a: Tensor, b: Tensor, backwards: bool) -> None:
    """Write the states (B, T + 1, C) that follow from the first one, or from the last backwards."""
    steps = b.shape[1]
    order = slice(None, None, -1 if backwards else 1)
    if steps < FEW_STEPS:
        _step_through(*(tensor.unbind(1)[order] for tensor in (states, a, b)))
        return
    length = math.isqrt(steps)
    whole = steps - steps % length
    begin = steps - whole if backwards else 0  # what fills no chunk comes last

    def side_by_side(tensor: Tensor, begin: int) -> Sequence[Tensor]:
        """Of all chunks the first step, of all the second, ...: (B, chunks, C) each."""
        shape = (len(tensor), whole // length, length, tensor.shape[2])
        cut = tensor[:, begin : begin + whole].view(shape)
        return cut.unbind(2)[order]

    all_a, all_b = side_by_side(a, begin), side_by_side(b, begin)
    joined_a, joined_b = all_a[0].clone(), all_b[0].clone()
    for a_t, b_t in zip(all_a[1:], all_b[1:], strict=True):
        joined_a.mul_(a_t)
        torch.addcmul(b_t, a_t, joined_b, out=joined_b)
    _fill(states[:, begin : begin + whole + 1 : length], joined_a, joined_b, backwards)
    _step_through(side_by_side(states, begin + backwards), all_a, all_b)
    rest = slice(begin) if backwards else slice(whole, None)
    rest_of_states = slice(begin + 1) if backwards else rest
    _fill(states[:, rest_of_states], a[:, rest], b[:, rest], backwards)


def _step_through(states: Sequence[Tensor], a: Sequence[Tensor], b: Sequence[Tensor]) -> None:
    """Write states[1], states[2], ...: h_t = a_t h_{t-1} + b_t, as often as there are places."""
    for before, after, a_t, b_t in zip(states, states[1:], a, b, strict=False):
        torch.addcmul(b_t, a_t, before, out=after)
