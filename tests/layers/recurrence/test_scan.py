"""The scan of a linear recurrence: its loop, its gradients, its depth, and what is linear in it."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from netwright.core.errors import ShapeError
from netwright.layers.recurrence.scan import parallel_scan, scan, scan_by_steps
from tests.repetition import for_each

LENGTHS = (*range(1, 34), 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 4095, 4096, 4097)


def problem(steps: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    """a, b and h_0 of two rows and three channels; |a| on either side of 1, but below it mostly."""
    numbers = torch.Generator().manual_seed(steps)
    a = 1.05 * torch.rand(2, steps, 3, generator=numbers, dtype=dtype)
    b = torch.randn(2, steps, 3, generator=numbers, dtype=dtype)
    return a, b, torch.randn(2, 3, generator=numbers, dtype=dtype)


def gradients(function: Callable[..., Tensor], *inputs: Tensor) -> tuple[Tensor, ...]:
    """Of a sum of the outputs with weights that differ at every place."""
    leaves = [tensor.detach().requires_grad_() for tensor in inputs]
    out = function(*leaves)
    weights = torch.linspace(-1, 1, out.numel(), dtype=torch.float64).reshape(out.shape)
    return torch.autograd.grad((out * weights).abs().sum(), leaves)


def test_by_hand() -> None:
    # 1 * 10 + 1 = 11, 2 * 11 + 0 = 22, 0 * 22 + 5 = 5
    a, b = torch.tensor([1.0, 2.0, 0.0]), torch.tensor([1.0, 0.0, 5.0])
    h = scan(a[None, :, None], b[None, :, None], torch.tensor([[10.0]]))
    assert h.flatten().tolist() == [11.0, 22.0, 5.0]


def test_a_running_sum_and_a_running_product_are_scans() -> None:
    _, b, _ = problem(1000)
    torch.testing.assert_close(scan(torch.ones(3, dtype=torch.float64), b), b.cumsum(1))
    factors = 1 + b / 100
    one = torch.ones(2, 3, dtype=torch.float64)
    torch.testing.assert_close(scan(factors, torch.zeros_like(b), one), factors.cumprod(1))


@for_each("dtype", [torch.float64, torch.complex128], ids=str)
@for_each("steps", LENGTHS)
def test_is_the_loop(steps: int, dtype: torch.dtype) -> None:
    a, b, initial = problem(steps, dtype)
    if dtype.is_complex:
        a = a / 1.5  # |a| of a complex number from the unit square goes up to 1.41
    by_steps = scan_by_steps(a, b, initial)
    torch.testing.assert_close(scan(a, b, initial), by_steps, rtol=0, atol=1e-10)


@for_each("dtype", [torch.float64, torch.complex128], ids=str)
@for_each("steps", [1, 2, 15, 16, 17, 33, 65, 257])
def test_gradients_are_those_of_the_loop(steps: int, dtype: torch.dtype) -> None:
    a, b, initial = problem(steps, dtype)
    inputs = (a / 1.5, b, initial)
    ours, wanted = gradients(scan, *inputs), gradients(scan_by_steps, *inputs)
    for grad, other in zip(ours, wanted, strict=True):
        torch.testing.assert_close(grad, other, rtol=0, atol=1e-10)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
def test_first_and_second_derivatives_agree_with_finite_differences(dtype: torch.dtype) -> None:
    a, b, initial = problem(18, dtype)
    one = (a[:1, :, :1], b[:1, :, :1], initial[:1, :1])  # a row and a channel
    inputs = tuple(tensor.clone().requires_grad_() for tensor in one)
    assert torch.autograd.gradcheck(scan, inputs)
    assert torch.autograd.gradgradcheck(scan, inputs, fast_mode=True)


@for_each("shape", [(3,), (1,), (40, 1), (2, 1, 3)], ids=str)
def test_coefficients_broadcast_and_so_do_their_gradients(shape: tuple[int, ...]) -> None:
    _, b, initial = problem(40)
    a = torch.linspace(0.2, 0.9, math.prod(shape), dtype=torch.float64).reshape(shape)
    torch.testing.assert_close(scan(a, b, initial), scan_by_steps(a, b, initial))
    for grad, wanted in zip(
        gradients(scan, a, b, initial), gradients(scan_by_steps, a, b, initial), strict=True
    ):
        torch.testing.assert_close(grad, wanted)


def test_the_state_begins_at_zero_unless_told() -> None:
    a, b, initial = problem(20)
    torch.testing.assert_close(scan(a, b), scan(a, b, torch.zeros_like(initial)))


def test_can_be_cut_anywhere_and_gone_on_from() -> None:
    a, b, initial = problem(50)
    whole = scan(a, b, initial)
    for cut in (1, 16, 49):
        first = scan(a[:, :cut], b[:, :cut], initial)
        second = scan(a[:, cut:], b[:, cut:], first[:, -1])
        torch.testing.assert_close(torch.cat((first, second), dim=1), whole, rtol=0, atol=1e-12)


def test_a_later_step_changes_no_earlier_state() -> None:
    a, b, _ = problem(40)
    changed = b.clone()
    changed[:, 25:] += 1
    assert torch.equal(scan(a, b)[:, :25], scan(a, changed)[:, :25])


def test_half_precision_is_added_up_in_single() -> None:
    ones = torch.ones(1, 1000, 1, dtype=torch.bfloat16)
    h = scan(ones, ones)
    assert h.dtype == torch.float32
    assert float(h[0, -1, 0]) == 1000.0  # bfloat16 cannot count beyond 256


def test_a_real_decay_may_meet_complex_inputs() -> None:
    a, _, _ = problem(20)
    _, b, _ = problem(20, torch.complex128)
    torch.testing.assert_close(scan(a, b), torch.complex(scan(a, b.real), scan(a, b.imag)))


class CountCalls(TorchFunctionMode):
    """How often torch is called."""

    calls = 0

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.calls += 1
        return func(*args, **(kwargs or {}))


def test_takes_few_calls_for_many_steps() -> None:
    a, b, _ = problem(4096)
    with CountCalls() as quick:
        scan(a, b)
    with CountCalls() as slow:
        scan_by_steps(a, b)
    assert quick.calls < 8 * math.isqrt(4096) < slow.calls / 10


@pytest.mark.covers("prefix-scan")
@for_each("steps", [*range(1, 34), 63, 64, 65, 1000])
def test_the_textbook_tree_is_the_loop_and_has_logarithmic_depth(steps: int) -> None:
    a, b, _ = problem(steps)
    h, rounds = parallel_scan(a, b)
    torch.testing.assert_close(h, scan_by_steps(a, b), rtol=0, atol=1e-10)
    assert rounds == math.ceil(math.log2(steps))


def test_joining_steps_is_associative() -> None:
    def joined(first: tuple[Tensor, Tensor], then: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        return then[0] * first[0], then[0] * first[1] + then[1]

    a, b, _ = problem(3)
    one, two, three = zip(a.unbind(1), b.unbind(1), strict=True)
    left, right = joined(joined(one, two), three), joined(one, joined(two, three))
    torch.testing.assert_close(left, right)
    torch.testing.assert_close(left[1], scan(a, b)[:, -1])


def test_inputs_without_channels_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"^b must have shape \(B, T, C\), got \(2, 5\)$"):
        scan(torch.ones(2, 5), torch.ones(2, 5))


@for_each("shape", [(0, 20, 3), (2, 20, 0), (0, 3, 3), (2, 0, 3)], ids=str)
def test_nothing_to_scan_is_nothing(shape: tuple[int, ...]) -> None:
    a, b = torch.zeros(2, *shape).unbind()
    b.requires_grad_()
    states = scan(a, b)
    (gradient,) = torch.autograd.grad(states.sum(), b)
    assert states.shape == gradient.shape == shape
    assert torch.func.vmap(scan)(b[None], b[None]).shape == (1, *shape)


@for_each("steps", [3, 18])
@for_each("vectorize", [False, True])
def test_torch_takes_its_jacobian_either_way(steps: int, vectorize: bool) -> None:
    inputs = tuple(tensor[:1, ..., :1] for tensor in problem(steps))
    found, wanted = (
        torch.autograd.functional.jacobian(function, inputs, vectorize=vectorize)  # type: ignore[no-untyped-call]
        for function in (scan, scan_by_steps)
    )
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)


JIT = "ignore:`torch.jit.script` is deprecated"  # torch uses it itself


@pytest.mark.filterwarnings(JIT)
@pytest.mark.parametrize("way", [torch.func.jacfwd, torch.func.jacrev, torch.func.hessian])
def test_functional_derivatives_are_those_of_the_loop(way: Callable[..., Any]) -> None:
    inputs = tuple(tensor[:1, ..., :1] for tensor in problem(18))
    found, wanted = (way(one, argnums=(0, 1, 2))(*inputs) for one in (scan, scan_by_steps))
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)


@pytest.mark.filterwarnings(JIT)
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128], ids=str)
def test_forward_mode_agrees_with_finite_differences(dtype: torch.dtype) -> None:
    inputs = tuple(tensor[:1, ..., :1].clone().requires_grad_() for tensor in problem(18, dtype))
    assert torch.autograd.gradcheck(scan, inputs, check_forward_ad=True, check_backward_ad=False)


@pytest.mark.parametrize("place", range(3))
def test_many_scans_at_once_are_each_by_itself(place: int) -> None:
    inputs = problem(18)
    many = torch.stack([inputs[place], 0.5 * inputs[place]], dim=1)
    in_dims = tuple(1 if one == place else None for one in range(3))
    given = [many if one == place else inputs[one] for one in range(3)]
    found = torch.func.vmap(scan, in_dims)(*given)
    for row, scaled in zip(found, (1.0, 0.5), strict=True):
        alone = [scaled * one if k == place else one for k, one in enumerate(inputs)]
        torch.testing.assert_close(row, scan_by_steps(*alone), rtol=0, atol=1e-12)
