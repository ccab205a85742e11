"""Recurrent stacks: torch's RNN, LSTM and GRU, by its kernels and step by step; states, lengths."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import (
    ELMAN,
    ELMAN_RELU,
    GRU,
    GRU_RESET_FIRST,
    LSTM,
    LSTM_CELL_GATE,
    Cell,
    elman_step,
)
from netwright.layers.recurrence.unrolled import unroll
from tests.repetition import for_each

B, T, D, H = 4, 6, 3, 5
TORCH_CELLS = {"elman": ELMAN, "relu": ELMAN_RELU, "lstm": LSTM, "gru": GRU}
CELLS = {**TORCH_CELLS, "lstm cell gate": LSTM_CELL_GATE, "gru reset first": GRU_RESET_FIRST}
LENGTHS = torch.tensor([4, 6, 1, 3])


def build(cell: Cell, layers: int = 1, *, double: bool = True, **settings: Any) -> RecurrentStack:
    with seeded(0):
        stack = RecurrentStack(cell, D, H, layers, **settings).eval()
    return stack.double() if double else stack


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def drawn_state(stack: RecurrentStack, dtype: torch.dtype = torch.float64) -> tuple[Tensor, ...]:
    return tuple(
        draw(*part.shape, seed=seed, dtype=dtype) for seed, part in enumerate(stack.start(B))
    )


def reference(
    rnn: nn.RNNBase, x: Tensor, state: tuple[Tensor, ...], lengths: Tensor | None
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Torch's module, asked as its manual says."""
    turned = tuple(part.transpose(0, 1).contiguous() for part in state)
    given = turned if len(turned) > 1 else turned[0]
    if lengths is None:
        outputs, last = rnn(x, given)
    else:
        packed, last = rnn(
            pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False), given
        )
        outputs, _ = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])
    ends = last if len(turned) > 1 else (last,)
    return outputs, tuple(part.transpose(0, 1) for part in ends)


def everything(
    outputs: Tensor, ends: tuple[Tensor, ...], sources: list[Tensor]
) -> tuple[Tensor, ...]:
    """Outputs, last states, and the gradients of a weighted sum of both."""
    loss = (outputs * draw(*outputs.shape, seed=5, dtype=outputs.dtype)).sum()
    for seed, part in enumerate(ends):
        loss = loss + (part * draw(*part.shape, seed=6 + seed, dtype=part.dtype)).sum()
    return outputs, *ends, *torch.autograd.grad(loss, sources)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)], ids=["64", "32"]
)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("name", TORCH_CELLS)
def test_both_paths_are_torch_in_values_and_gradients(
    name: str, layers: int, bidirectional: bool, packed: bool, dtype: torch.dtype, tolerance: float
) -> None:
    cell = TORCH_CELLS[name]
    assert cell.fused is not None
    theirs = cell.fused(D, H, layers, batch_first=True, bidirectional=bidirectional).to(dtype)
    ours = build(cell, layers, bidirectional=bidirectional).to(dtype)
    ours.rnn.load_state_dict(theirs.state_dict())  # weights are carried over as they are
    x = draw(B, T, D, dtype=dtype).requires_grad_()
    state = tuple(part.requires_grad_() for part in drawn_state(ours, dtype))
    lengths = LENGTHS if packed else None
    wanted = everything(*reference(theirs, x, state, lengths), [x, *state, *theirs.parameters()])
    for fused in (True, False):
        ours.fused = fused
        outputs, ends = ours(x, state, lengths)
        found = everything(outputs, ends, [x, *state, *ours.parameters()])
        torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance)


@for_each("bidirectional", [False, True])
@for_each("name", CELLS)
def test_each_row_alone_gives_what_it_gives_among_longer_ones(
    name: str, bidirectional: bool
) -> None:
    stack = build(CELLS[name], 2, bidirectional=bidirectional)
    x, state = draw(B, T, D), drawn_state(stack)
    for stack.fused in (True, False):
        outputs, ends = stack(x, state, LENGTHS)
        for row, length in enumerate(LENGTHS.tolist()):
            alone, end = stack(x[[row], :length], tuple(part[[row]] for part in state))
            torch.testing.assert_close(outputs[[row], :length], alone, rtol=0, atol=1e-12)
            torch.testing.assert_close(tuple(part[[row]] for part in ends), end)
            assert not outputs[row, length:].any()


@pytest.mark.parametrize("fused", [True, False])
def test_an_empty_row_keeps_its_state_and_gives_zeros(fused: bool) -> None:
    stack = build(LSTM, 2, fused=fused)
    state = drawn_state(stack)
    outputs, ends = stack(draw(B, T, D), state, torch.tensor([0, 6, 0, 2]))
    assert not outputs[[0, 2]].any()
    for end, part in zip(ends, state, strict=True):
        assert torch.equal(end[[0, 2]], part[[0, 2]])


@for_each("name", CELLS)
def test_steps_are_the_whole_and_their_state_has_one_size(name: str) -> None:
    stack = build(CELLS[name], 2)
    x, state = draw(B, T, D), stack.start(B)
    shapes = [part.shape for part in state]
    outputs, ends = stack(x)
    for t in range(T):
        output, state = stack.step(x[:, t], state)
        torch.testing.assert_close(output, outputs[:, t], rtol=0, atol=1e-12)
        assert [part.shape for part in state] == shapes == [(B, 2, H)] * stack.cell.states
    torch.testing.assert_close(state, ends, rtol=0, atol=1e-12)


def test_a_bidirectional_stack_refuses_to_go_step_by_step() -> None:
    stack = build(GRU, bidirectional=True)
    sentence = "a bidirectional recurrence reads from both ends: it cannot be stepped"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        stack.step(draw(B, D), stack.start(B))


@pytest.mark.covers("stacked-rnn")
def test_one_layer_is_elman_and_three_feed_each_other() -> None:
    x = draw(2, 4, D)
    one = build(ELMAN)
    outputs, _ = unroll(
        lambda x, state: elman_step(x, state, one.weights(0)),
        x,
        (torch.zeros(2, H, dtype=torch.float64),),
    )
    torch.testing.assert_close(one(x)[0], outputs, rtol=0, atol=1e-12)

    three = build(ELMAN, 3, fused=False)
    layer = x
    for depth in range(3):  # z_{t,l} = phi(U_l z_{t-1,l} + V_l z_{t,l-1})
        single = RecurrentStack(ELMAN, layer.shape[-1], H).double()
        weights = {f"{name}_l0": part for name, part in three.weights(depth).items()}
        single.rnn.load_state_dict(weights)
        layer, _ = single(layer)
    torch.testing.assert_close(three(x)[0], layer, rtol=0, atol=1e-12)
    assert three(x)[0].shape == (2, 4, H)
    assert three(x)[1][0].shape == (2, 3, H)

    small = RecurrentStack(ELMAN, 2, 2, 3, fused=False).double()
    names = list(dict(small.named_parameters()))

    def run(x: Tensor, *weights: Tensor) -> Tensor:
        outputs: Tensor
        outputs, _ = torch.func.functional_call(small, dict(zip(names, weights, strict=True)), (x,))
        return outputs

    sources = [part.detach().clone().requires_grad_() for part in small.parameters()]
    assert torch.autograd.gradcheck(run, (draw(1, 3, 2).requires_grad_(), *sources))


@for_each("name", CELLS)
def test_only_the_backward_direction_sees_what_comes_later(name: str) -> None:
    x = draw(B, T, D)
    later = x.clone()
    later[:, 4] += 1
    causal, both = build(CELLS[name], 2), build(CELLS[name], 2, bidirectional=True)
    assert torch.equal(causal(x)[0][:, :4], causal(later)[0][:, :4])
    assert not torch.equal(both(x)[0][:, :4], both(later)[0][:, :4])
    assert both(x)[0].shape == (B, T, 2 * H)


def test_dropout_falls_between_layers_and_only_while_training() -> None:
    x = draw(64, 5, D)
    for fused in (True, False):
        stack, plain = build(GRU, 2, dropout=0.5, fused=fused), build(GRU, 2)
        torch.testing.assert_close(stack(x), plain(x))
        with seeded(1):
            outputs, (ends,) = stack.train()(x)
        torch.testing.assert_close(ends[:, 0], plain(x)[1][0][:, 0])  # the first layer is whole
        assert not torch.allclose(outputs, plain(x)[0])
    assert build(GRU, dropout=0.5).dropout == 0.0  # nothing lies between


def test_both_paths_have_one_state_dict_and_take_torch_names() -> None:
    names = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]
    for fused in (True, False):
        assert list(build(LSTM, fused=fused).state_dict()) == [f"rnn.{name}" for name in names]
    own = build(LSTM_CELL_GATE, 2, bidirectional=True)
    assert own.rnn.get_parameter("weight_co_l1_reverse").shape == (H, H)
    assert own.rnn.get_parameter("weight_ih_l1").shape == (3 * H, 2 * H)
    bound = H**-0.5
    assert all(part.abs().max() <= bound for part in own.parameters())


def test_a_stack_without_a_state_begins_at_zero_in_the_dtype_of_its_weights() -> None:
    stack = build(LSTM, double=False)
    x = draw(B, T, D, dtype=torch.float32)
    torch.testing.assert_close(stack(x), stack(x, stack.start(B)))
    assert {part.dtype for part in stack.start(1)} == {torch.float32}
    assert {part.dtype for part in stack.double().start(1)} == {torch.float64}


@pytest.mark.parametrize("given", [torch.float32, torch.bfloat16])  # embedded, or from a layer
@pytest.mark.parametrize("name", list(CELLS))
@pytest.mark.filterwarnings("ignore:mkldnn_matmul failed")  # of CPUs without bfloat16
def test_it_trains_in_half_precision_on_any_cpu(name: str, given: torch.dtype) -> None:
    stack = build(CELLS[name], 2, double=False)
    inputs, state = draw(B, T, D, dtype=given), drawn_state(stack, given)
    wanted, _ = stack(inputs.float(), tuple(part.float() for part in state))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs, _ = stack(inputs, state)
    torch.testing.assert_close(outputs.float(), wanted, rtol=0.05, atol=0.02)
    torch.autograd.backward(outputs.float().square().mean())
    assert all(weight.grad is not None for weight in stack.parameters())


@for_each("name", TORCH_CELLS)
def test_a_stack_at_rest_on_a_gpu_can_be_gone_back_through(name: str) -> None:
    """The meta device stands for a GPU: cuDNN goes back in training mode only."""
    stack = build(TORCH_CELLS[name], 2, dropout=0.5, double=False).to("meta")
    x, modes = torch.empty(B, T, D, device="meta"), []
    stack.rnn.register_forward_pre_hook(lambda rnn, _: modes.append((rnn.training, rnn.dropout)))
    stack(x)[0].sum().backward()
    with torch.no_grad():
        stack(x)
    stack.train()
    stack(x)
    assert modes == [(True, 0.0), (False, 0.5), (True, 0.5)]
    assert stack.rnn.dropout == 0.5
