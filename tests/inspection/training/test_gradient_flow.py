"""Gradient flow: chains worked by hand, frozen and shared parts, and pictures over training."""

import math
import re

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import DataError
from netwright.inspection.training.gradient_flow import (
    MOST_ROWS,
    GradientFlow,
    TrainedGradients,
    measure_gradient_flow,
)
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import LSTM
from tests.inspection.drawn import check_sound, words_on
from tests.inspection.untouched import untouched


def chain(*weights: float) -> nn.Sequential:
    """Each layer multiplies by its weight."""
    model = nn.Sequential(*(nn.Linear(1, 1, bias=False) for _ in weights))
    with torch.no_grad():
        for layer, weight in zip(model.parameters(), weights, strict=True):
            layer.fill_(weight)
    return model


def flow(model: nn.Module, inputs: Tensor) -> GradientFlow:
    with untouched(model):
        return measure_gradient_flow(model, inputs, lambda output: output.sum())


def test_a_chain_of_three_layers_has_the_gradients_worked_by_hand() -> None:
    view = flow(chain(3.0, 5.0, 7.0), torch.tensor([[2.0]]))
    assert [layer.path for layer in view.layers] == ["0", "1", "2"]
    assert [layer.output for layer in view.layers] == [35.0, 7.0, 1.0]  # 5 * 7, 7, 1
    assert [layer.weights for layer in view.layers] == [
        70.0,
        42.0,
        30.0,
    ]  # delta times what came in
    assert [layer.size for layer in view.layers] == [3.0, 5.0, 7.0]
    assert view.layers[0].ratio == 70 / 3
    assert view.table_rows()[1]["of its weights"] == "42"


@pytest.mark.parametrize("weight", [0.5, 1.0, 2.0])
def test_the_factor_of_a_layer_is_its_weight_in_a_linear_chain(weight: float) -> None:
    view = flow(chain(*[weight] * 6), torch.ones(4, 1))
    assert view.factor == pytest.approx(weight)
    assert view.layers[0].output == pytest.approx(2 * weight**5)  # four examples: sqrt(4)
    assert view.caption.startswith(
        "On average over the layers in the order in which they ran, one towards the input "
        f"multiplies the gradient by {weight:g}: from 2 at "
    )


def test_gradients_that_go_up_and_down_have_no_trend() -> None:
    view = flow(chain(*[10.0, 0.1] * 4), torch.ones(1, 1))
    assert view.caption.startswith(
        'The gradient has no trend over the layers in the order in which they ran: from 1 at "7" '
        'to 0.1 at "0". '
    )


def test_gradients_equal_those_of_a_plain_backward_pass() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    x = torch.randn(5, 3, dtype=torch.float64)
    view = measure_gradient_flow(model, x, lambda output: output.square().mean())
    model(x).square().mean().backward()
    for layer, part in zip(view.layers, (model[0], model[2]), strict=True):
        norms = [float(one.grad.norm()) for one in part.parameters() if one.grad is not None]
        assert layer.weights == pytest.approx(math.hypot(*norms), rel=1e-12)


def test_frozen_parts_are_looked_at_too_and_stay_frozen() -> None:
    model = chain(3.0, 5.0, 7.0)
    free = flow(model, torch.tensor([[2.0]]))
    model[0].requires_grad_(requires_grad=False)
    assert flow(model, torch.tensor([[2.0]])) == free


def test_a_recurrence_gives_the_gradient_of_its_outputs_and_of_its_last_state() -> None:
    class LastState(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(3, 2)
            self.stack = RecurrentStack(LSTM, 2, 4)

        def forward(self, tokens: Tensor) -> Tensor:
            hidden: Tensor
            _, (hidden, _) = self.stack(self.embedding(tokens), lengths=torch.tensor([3, 1]))
            return hidden

    torch.manual_seed(0)
    view = flow(LastState(), torch.tensor([[0, 1, 2], [1, 0, 0]]))
    assert [layer.path for layer in view.layers] == ["embedding", "stack.rnn"]
    assert view.layers[1].output == pytest.approx(math.sqrt(8))  # eight numbers, a gradient of 1
    assert view.layers[0].weights > 0


def test_a_layer_that_no_gradient_reaches_has_none() -> None:
    class Cut(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kept, self.cut = nn.Linear(2, 2), nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Tensor:
            found: Tensor = self.kept(x)
            cut: Tensor = self.cut(found)
            return found + cut.detach()

    view = flow(Cut(), torch.ones(1, 2))
    assert view.layers[1].output == view.layers[1].weights == 0
    assert view.factor is None
    assert view.caption.startswith("Fewer than two layers receive a gradient.")
    check_sound(view)


@pytest.mark.slow
def test_training_is_shown_below_where_it_was_noted() -> None:
    trained = TrainedGradients(
        layers=("0", "frozen part"), steps=(1, 2, 1000), norms=((0.1, 0.0, 10.0), (None,) * 3)
    )
    view = measure_gradient_flow(
        chain(1.0, 1.0), torch.ones(1, 1), lambda output: output.sum(), trained=trained
    )
    words = words_on(view)
    assert {"gradient of the weights while training", "1,000", "frozen part"} <= set(words)
    assert "Bottom: the norm of each layer's weight gradient over training" in view.caption
    check_sound(view)


def test_of_very_many_layers_some_are_drawn_and_the_fact_is_told() -> None:
    view = flow(chain(*[1.0] * (MOST_ROWS + 6)), torch.ones(1, 1))
    assert view.caption.endswith(" 24 of 30 layers are drawn.")
    assert view.size == flow(chain(*[1.0] * MOST_ROWS), torch.ones(1, 1)).size


@pytest.mark.parametrize(
    ("layers", "steps", "sentence"),
    [
        (("a", "b"), (1,), "layers must hold 1 names, got 2"),
        (("a",), (1, 2), "steps must hold 1 names, got 2"),
    ],
)
def test_norms_that_are_not_one_a_layer_and_step_are_refused(
    layers: tuple[str, ...], steps: tuple[int, ...], sentence: str
) -> None:
    with pytest.raises(DataError, match=re.escape(sentence)):
        TrainedGradients(layers=layers, steps=steps, norms=((1.0,),))


def test_a_model_without_layers_and_a_loss_that_is_no_number_are_refused() -> None:
    with pytest.raises(DataError, match="the model has no layer with weights whose gradient"):
        flow(nn.Flatten(), torch.ones(1, 1))
    sentence = "the loss must be finite, got inf at [0] (1 in all)"
    with pytest.raises(DataError, match=re.escape(sentence)):
        measure_gradient_flow(chain(1.0), torch.ones(1, 1), lambda output: (output / 0).sum())
