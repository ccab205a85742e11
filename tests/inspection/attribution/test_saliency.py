"""Gradients of a score: exact for linear models, complete when integrated, also for tokens."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import DataError
from netwright.inspection.attribution.input_map import ShownInput
from netwright.inspection.attribution.saliency import (
    Method,
    Saliency,
    has_gradient,
    measure_saliency,
)
from tests.inspection.untouched import untouched

SHOWN = ShownInput(kind="features", answer="it", names=("a", "b", "c"))


def second(output: Tensor) -> Tensor:
    return output[:, 1]


def linear() -> nn.Linear:
    model = nn.Linear(3, 2)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[9.0, 9, 9], [1, -2, 4]]))
    return model


class Reader(nn.Module):
    """The mean of the vectors of tokens, and one output of each."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(5, 2), nn.Linear(2, 2)

    def forward(self, tokens: Tensor) -> Tensor:
        out: Tensor = self.head(self.embedding(tokens).mean(dim=1))
        return out


class Steps(nn.Module):
    """Nothing but a threshold."""

    def forward(self, x: Tensor) -> Tensor:
        return (x > 0).float()


def measured(model: nn.Module, x: Tensor, **settings: Any) -> Saliency:
    with untouched(model):
        return measure_saliency(model, x, second, **{"shown": SHOWN, **settings})


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("gradient", (1, 2, 4)),  # the sizes of the weights, exactly
        ("gradient-input", (2, -10, 12)),  # w x
        ("integrated", (1, -4, 0)),  # w (x - base)
    ],
)
def test_a_linear_model_has_its_weights(method: Method, expected: tuple[int, ...]) -> None:
    x, base = torch.tensor([[2.0, 5, 3]]), torch.tensor([[1.0, 3, 3]])
    view = measured(linear().train(), x, method=method, base=base)
    assert view.values == pytest.approx(expected, abs=1e-5)
    assert view.is_signed is (method != "gradient")


def test_integrated_gradients_add_up_to_the_gain_of_the_score() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2)
    )
    x, base = torch.randn(1, 3) * 2, torch.randn(1, 3)
    view = measured(model, x, method="integrated", base=base, steps=512)
    gain = float((second(model(x)) - second(model(base))).detach())
    assert view.base_score is not None
    assert view.score - view.base_score == pytest.approx(gain, abs=1e-5)
    assert sum(view.values) == pytest.approx(gain, abs=1e-3)
    assert view.total == pytest.approx(sum(view.values), abs=1e-5)
    assert "They add up to" in view.caption


@pytest.mark.parametrize(("steps", "is_enough"), [(1, False), (64, True)])
def test_a_sum_that_is_off_asks_for_more_steps(steps: int, is_enough: bool) -> None:
    class Cube(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x.pow(3)

    shown = ShownInput(kind="features", answer="it", names=("a", "b"))
    view = measured(Cube(), torch.ones(1, 2), shown=shown, method="integrated", steps=steps)
    assert view.unit == "added to the score"
    asks = view.caption.endswith(" The two should be equal: more steps are needed.")
    assert asks is not is_enough  # one step at the middle adds up to 3 / 4, not to 1


@pytest.mark.parametrize("method", ["gradient", "gradient-input", "integrated"])
def test_tokens_are_told_apart_at_their_vectors(method: Method) -> None:
    torch.manual_seed(0)
    model = Reader()
    tokens = torch.tensor([[3, 1, 4, 0]])
    shown = ShownInput(kind="tokens", answer="it", names=("x", "y", "z"))  # the last is padding
    view = measured(model, tokens, shown=shown, method=method)
    slope = model.head.weight[1].detach() / 4
    if method == "gradient":
        expected = [float(slope.norm())] * 3
    else:  # the score is linear in the vectors
        expected = (model.embedding(tokens[0, :3]) @ slope).tolist()
    assert view.values == pytest.approx(expected, abs=1e-5)


def test_channels_of_an_image_are_one_map() -> None:
    dense = nn.Linear(8, 2, bias=False)
    model = nn.Sequential(nn.Flatten(), dense)
    x = torch.ones(1, 2, 2, 2)
    shown = ShownInput(kind="image", answer="it", pixels=((0, 0), (0, 0)))
    weights = dense.weight[1].detach().view(2, 2, 2)
    largest = measured(model, x, shown=shown).values
    torch.testing.assert_close(torch.tensor(largest), weights.abs().amax(dim=0))
    summed = measured(model, x, shown=shown, method="gradient-input").values
    torch.testing.assert_close(torch.tensor(summed), weights.sum(dim=0))


def test_what_has_no_gradient_is_known_and_refused() -> None:
    assert has_gradient(linear(), torch.ones(1, 3))
    assert has_gradient(Reader(), torch.ones(1, 4, dtype=torch.int64))
    assert not has_gradient(Steps(), torch.ones(1, 3))
    assert not has_gradient(nn.Sequential(Steps(), linear()), torch.ones(1, 3))
    sentence = "^the score does not depend on the input through differentiable operations$"
    with pytest.raises(DataError, match=sentence):
        measured(Steps(), torch.ones(1, 3))
