"""The Jordan layer: the whole is its steps, and its answer is all that it knows of the past."""

import torch
from torch import Tensor

from netwright.core.seeding import seeded
from netwright.layers.recurrence.jordan import JordanLayer


def build() -> tuple[JordanLayer, Tensor]:
    with seeded(0):
        return JordanLayer(3, 4, 2).double(), torch.randn(2, 5, 3, dtype=torch.float64)


def test_steps_are_the_whole() -> None:
    layer, x = build()
    outputs, (last,) = layer(x)
    state = layer.start(2)
    for t in range(5):
        output, state = layer.step(x[:, t], state)
        torch.testing.assert_close(output, outputs[:, t])
    assert torch.equal(last, outputs[:, -1])
    assert outputs.shape == (2, 5, 2)


def test_short_rows_give_what_they_give_alone() -> None:
    layer, x = build()
    outputs, (last,) = layer(x, None, torch.tensor([2, 5]))
    alone, (end,) = layer(x[:1, :2])
    torch.testing.assert_close(outputs[:1, :2], alone)
    torch.testing.assert_close(last[:1], end)
    assert not outputs[0, 2:].any()


def test_two_pasts_with_one_answer_have_one_future() -> None:
    layer, x = build()
    answer = torch.randn(1, 2, dtype=torch.float64).expand(2, -1)
    first, _ = layer(x[:1].expand(2, -1, -1), (answer,))
    assert torch.equal(first[0], first[1])


def test_gradients_are_those_of_finite_differences() -> None:
    layer, x = build()
    weights = layer.state_dict()

    def run(x: Tensor, *given: Tensor) -> Tensor:
        outputs: Tensor
        outputs, _ = torch.func.functional_call(layer, dict(zip(weights, given, strict=True)), (x,))
        return outputs

    sources = [part.clone().requires_grad_() for part in (x, *weights.values())]
    assert torch.autograd.gradcheck(run, sources)
