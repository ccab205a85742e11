"""FLOPs: products counted by hand, also in kernels that torch's own counter does not know."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from netwright.inspection.inside.flops import counting_flops
from tests.repetition import for_each

B, T, D, H = 2, 5, 8, 16


def flops(run: Callable[[Tensor], object], *shape: int) -> int:
    with counting_flops() as counter, torch.no_grad():
        run(torch.zeros(*shape))
    return counter.get_total_flops()


def test_a_matrix_product_is_two_flops_an_entry() -> None:
    assert flops(nn.Linear(3, 4), B, 3) == B * 2 * 3 * 4
    assert flops(lambda x: x.T @ x, B, 3) == 2 * 3 * B * 3


def test_a_convolution_is_a_product_at_every_place() -> None:
    assert flops(nn.Conv2d(3, 8, 3, padding=1), B, 3, 6, 6) == B * 36 * 2 * 8 * 3 * 9


def test_sums_and_activations_are_not_counted() -> None:
    assert flops(lambda x: torch.relu(x + 1).sum(), B, 3) == 0


@for_each(("make", "gates"), [(nn.RNN, 1), (nn.GRU, 3), (nn.LSTM, 4)])
@for_each("layers", [1, 2])
@for_each("directions", [1, 2])
def test_a_recurrent_layer_uses_both_matrices_at_every_step(
    make: Callable[..., nn.Module], gates: int, layers: int, directions: int
) -> None:
    net = make(D, H, num_layers=layers, bidirectional=directions == 2, batch_first=True).eval()
    widths = [D, *[directions * H] * (layers - 1)]
    by_hand = sum(2 * gates * H * (width + H) for width in widths)
    assert flops(net, B, T, D) == B * T * directions * by_hand


@pytest.mark.parametrize(
    "kernel", [nn.attention.SDPBackend.MATH, nn.attention.SDPBackend.FLASH_ATTENTION]
)
def test_attention_is_two_products_of_all_pairs(kernel: nn.attention.SDPBackend) -> None:
    def attend(x: Tensor) -> Tensor:
        with nn.attention.sdpa_kernel(kernel):
            return nn.functional.scaled_dot_product_attention(x, x, x)

    assert flops(attend, B, 3, T, D) == B * 3 * 2 * (2 * T * T * D)


def backward_flops(run: Callable[[Tensor], Tensor], *shape: int) -> int:
    inputs = torch.zeros(*shape, requires_grad=True)
    with counting_flops() as counter:
        outputs = run(inputs)
        forward = counter.get_total_flops()
        outputs.sum().backward()  # type: ignore[no-untyped-call]
    return counter.get_total_flops() - forward


@pytest.mark.parametrize(("kernel", "products"), [("MATH", 4), ("FLASH_ATTENTION", 5)])
def test_attention_goes_back_by_four_products_and_flash_works_the_scores_out_again(
    kernel: str, products: int
) -> None:
    def attend(x: Tensor) -> Tensor:
        with nn.attention.sdpa_kernel(getattr(nn.attention.SDPBackend, kernel)):
            return nn.functional.scaled_dot_product_attention(x, x, x)

    assert backward_flops(attend, B, 3, T, D) == B * 3 * products * (2 * T * T * D)


def test_a_recurrent_layer_goes_back_by_twice_its_products() -> None:
    net = nn.LSTM(D, H, batch_first=True)
    by_hand = B * T * 2 * 4 * H * (D + H)
    assert backward_flops(lambda x: net(x)[0], B, T, D) == 2 * by_hand


def test_a_transformer_block_is_not_hidden_in_one_kernel() -> None:
    block = nn.TransformerEncoderLayer(D, 2, H, batch_first=True).eval()
    projections = T * 2 * (4 * D * D + 2 * D * H)
    attention = 2 * (2 * T * T * D)
    assert flops(block, B, T, D) == B * (projections + attention)


@pytest.mark.parametrize("enabled", [True, False])
def test_the_fast_path_is_as_it_was(enabled: bool) -> None:
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(enabled)
    try:
        with pytest.raises(ZeroDivisionError), counting_flops():
            raise ZeroDivisionError
        assert torch.backends.mha.get_fastpath_enabled() == enabled
    finally:
        torch.backends.mha.set_fastpath_enabled(before)
