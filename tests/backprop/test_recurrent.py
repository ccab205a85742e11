"""Backpropagation through time by hand: autograd, differences, each step's part, windows."""

from functools import partial

import pytest
import torch
from torch import Tensor

from netwright.backprop.dense import dense_backward, dense_forward
from netwright.backprop.output_deltas import SOFTMAX_CROSS_ENTROPY
from netwright.backprop.recurrent import (
    RecurrentWeights,
    recurrent_backward,
    recurrent_forward,
)
from netwright.core.errors import ConfigError, ShapeError
from netwright.layers.recurrence.recurrent_cells import elman_step
from tests.backprop.references import assert_equal, autograd_gradients, differences, numbers
from tests.repetition import for_each

BATCH, STEPS, INPUTS, UNITS, CLASSES = 2, 6, 3, 4, 3


def weights() -> RecurrentWeights:
    return RecurrentWeights(
        0.5 * numbers(UNITS, INPUTS, seed=1), 0.5 * numbers(UNITS, UNITS, seed=2), numbers(UNITS)
    )


def elman(  # what is differentiated by autograd
    x: Tensor, start: Tensor, inputs: Tensor, state: Tensor, bias: Tensor, window: int = STEPS
) -> Tensor:
    named = {"weight_ih": inputs, "weight_hh": state, "bias_ih": bias}
    h, outputs = start, []
    for step, given in enumerate(x.unbind(1)):
        h = h.detach() if step and step % window == 0 else h
        (h,) = elman_step(given, (h,), named)
        outputs.append(h)
    return torch.stack(outputs, dim=1)


def test_two_steps_of_one_unit_by_hand() -> None:
    one = torch.ones(1, 1, dtype=torch.float64)
    given = RecurrentWeights(one, 2 * one, torch.zeros(1, dtype=torch.float64))
    h, kept = recurrent_forward(torch.tensor([[[0.3], [0.1]]]).double(), 0 * one, given)
    h1, h2 = h.flatten().tolist()
    found = recurrent_backward(kept, torch.tensor([[[0.0], [1.0]]]).double())
    late = 1 - h2**2
    early = (1 - h1**2) * 2 * late
    assert found.by_step.bias.flatten().tolist() == pytest.approx([early, late])
    assert found.weights.inputs.item() == pytest.approx(early * 0.3 + late * 0.1)
    assert found.weights.state.item() == pytest.approx(late * h1)  # the first state before is 0


@for_each("window", [None, 1, 2, 4])
def test_gradients_are_those_of_autograd(window: int | None) -> None:
    x, start, given = numbers(BATCH, STEPS, INPUTS), numbers(BATCH, UNITS, seed=3), weights()
    delta = numbers(BATCH, STEPS, UNITS, seed=4)
    h, kept = recurrent_forward(x, start, given)
    assert_equal(h, elman(x, start, *given))
    found = recurrent_backward(kept, delta, window)
    reference = partial(elman, window=window or STEPS)
    expected = autograd_gradients(reference, (x, start, *given), delta)
    for ours, theirs in zip((found.x, found.start, *found.weights), expected, strict=True):
        assert_equal(ours, theirs)


@pytest.mark.covers("bptt")
def test_all_five_gradients_of_a_net_are_those_of_differences_and_add_up_over_steps() -> None:
    x, start, given = numbers(1, STEPS, INPUTS), numbers(1, UNITS, seed=3), weights()
    readout, offset = numbers(CLASSES, UNITS, seed=5), numbers(CLASSES, seed=6)
    told = torch.eye(CLASSES, dtype=torch.float64)[torch.arange(STEPS) % CLASSES]

    def loss(*parts: Tensor) -> Tensor:
        inputs, state, bias, v, c = parts
        h, _ = recurrent_forward(x, start, RecurrentWeights(inputs, state, bias))
        return SOFTMAX_CROSS_ENTROPY.loss(dense_forward(h[0], v, c)[0], told).sum()

    h, kept = recurrent_forward(x, start, given)
    logits, top = dense_forward(h[0], readout, offset)  # each step is a row
    above = dense_backward(
        top, SOFTMAX_CROSS_ENTROPY.delta(SOFTMAX_CROSS_ENTROPY.output(logits), told)
    )
    found = recurrent_backward(kept, above.x[None])
    everything = (*given, readout, offset)
    for place, ours in enumerate((*found.weights, above.weight, above.bias)):

        def alone(part: Tensor, place: int = place) -> Tensor:
            return loss(*everything[:place], part, *everything[place + 1 :])

        assert_equal(ours, differences(alone, everything[place]), 1e-7)
    for whole, parts in zip(found.weights, found.by_step, strict=True):
        assert len(parts) == STEPS
        assert_equal(whole, sum(parts.unbind(), torch.zeros_like(whole)))


def test_what_early_steps_bring_vanishes_where_the_state_weights_are_small() -> None:
    steps = 30
    given = weights()._replace(state=0.5 * torch.eye(UNITS, dtype=torch.float64))
    _, kept = recurrent_forward(numbers(1, steps, INPUTS), numbers(1, UNITS), given)
    delta = torch.zeros(1, steps, UNITS, dtype=torch.float64)
    delta[:, -1] = 1.0  # the loss is at the end
    parts = recurrent_backward(kept, delta).by_step.bias.norm(dim=1)
    assert parts[0] < 0.5 ** (steps - 1) * parts[-1] / parts[-1].clamp(max=1)
    assert bool((parts[1:] > parts[:-1]).all())


def test_what_does_not_fit_is_refused() -> None:
    x, start, given = numbers(BATCH, STEPS, INPUTS), numbers(BATCH, UNITS), weights()
    with pytest.raises(ShapeError, match=r"^x must have shape \(B, T, 3\), got \(2, 6, 2\)$"):
        recurrent_forward(x[..., :2], start, given)
    sentence = r"^x must have at least one time step, got shape \(2, 0, 3\)$"
    with pytest.raises(ShapeError, match=sentence):
        recurrent_forward(x[:, :0], start, given)
    with pytest.raises(ShapeError, match=r"^start must have shape \(2, 4\), got \(1, 4\)$"):
        recurrent_forward(x, start[:1], given)
    with pytest.raises(ShapeError, match=r"^weights.bias must have shape \(4\), got \(1,\)$"):
        recurrent_forward(x, start, given._replace(bias=given.bias[:1]))
    h, kept = recurrent_forward(x, start, given)
    with pytest.raises(ShapeError, match=r"^delta must have shape \(2, 6, 4\), got \(2, 1, 4\)$"):
        recurrent_backward(kept, h[:, :1])
    with pytest.raises(ConfigError, match=r"^window must be positive, got 0$"):
        recurrent_backward(kept, h, window=0)
