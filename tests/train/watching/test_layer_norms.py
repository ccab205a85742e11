"""Lengths by layer: a step worked by hand, layers that do not learn, and large models."""

import copy

import pytest
import torch
from torch import Tensor, nn

from netwright.train.watching import layer_norms
from netwright.train.watching.layer_norms import LayerNorms
from tests.inspection.untouched import untouched


def one_step(model: nn.Module, x: Tensor, lr: float = 0.5) -> tuple[LayerNorms, Tensor]:
    """Plain gradient descent on the sum of the outputs, with its norms taken."""
    norms = LayerNorms(model)
    optimizer = torch.optim.SGD([w for w in model.parameters() if w.requires_grad], lr=lr)
    loss = model(x).sum()
    loss.backward()
    norms.take_gradients()
    optimizer.step()
    return norms, loss.detach()


def pair() -> nn.Sequential:
    """From x to 2 x = y to (3 y, 4 y): the gradients are worked out by hand."""
    inner, outer = nn.Linear(1, 1, bias=False), nn.Linear(1, 2)
    with torch.no_grad():
        inner.weight.fill_(2.0)
        outer.weight.copy_(torch.tensor([[3.0], [4.0]]))
        outer.bias.zero_()
    return nn.Sequential(inner, outer)


def test_lengths_of_a_step_are_those_worked_by_hand() -> None:
    # d/dw0 = (3 + 4) x = 7; d/dw1 = 2 x each and d/db = 1 each: sqrt(4 + 4 + 1 + 1).
    norms, loss = one_step(pair(), torch.ones(1, 1))
    taken = norms.read(norms.take_step(loss))
    assert taken is not None
    value, numbers = taken
    assert value == 14.0
    assert list(numbers["gradient"]) == pytest.approx([7.0, 10**0.5], rel=1e-5)
    assert list(numbers["update"]) == pytest.approx([3.5, 0.5 * 10**0.5], rel=1e-5)
    # After the step: w0 = 2 - 3.5; w1 = (3 - 1, 4 - 1), b = (-0.5, -0.5).
    assert list(numbers["weight"]) == pytest.approx([1.5, (4 + 9 + 0.5) ** 0.5], rel=1e-5)


def test_a_layer_that_does_not_learn_has_no_gradient_and_one_that_is_left_out_has_length_0() -> (
    None
):
    model = nn.ModuleDict(
        {"frozen": nn.Linear(2, 2), "used": nn.Linear(2, 1), "left": nn.Linear(2, 1)}
    )
    model["frozen"].requires_grad_(False)
    model.forward = lambda x: model["used"](model["frozen"](x))
    norms, loss = one_step(model, torch.ones(1, 2))
    taken = norms.read(norms.take_step(loss))
    assert taken is not None
    assert list(norms.layers) == ["frozen", "used", "left"]
    frozen, used, left = taken[1]["gradient"]
    assert (frozen, left) == (None, 0.0)
    assert used is not None
    assert used > 0
    assert taken[1]["update"][0] == 0.0


def test_shared_weights_belong_to_the_first_layer_alone() -> None:
    model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    model[1].weight = model[0].weight
    assert list(LayerNorms(model).layers) == ["0"]


def test_weights_of_the_model_itself_are_called_model() -> None:
    class Scale(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.factor = nn.Parameter(torch.ones(()))
            self.inner = nn.Linear(1, 1)

    assert list(LayerNorms(Scale()).layers) == ["model", "inner"]


class Reversed(nn.Module):
    """Declared against the order of use, with a part that attention uses without calling it."""

    def __init__(self) -> None:
        super().__init__()
        self.head, self.unused = nn.Linear(4, 1), nn.Linear(1, 1)
        self.attention = nn.MultiheadAttention(4, 1, dropout=0.5)
        self.body = nn.Linear(2, 4)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.body(x)
        y: Tensor = self.head(self.attention(hidden, hidden, hidden)[0])
        return y


def test_layers_are_put_in_the_order_of_use_and_uncalled_ones_stay_behind_their_neighbours() -> (
    None
):
    model = Reversed()
    declared = ["head", "unused", "attention", "attention.out_proj", "body"]
    assert list(LayerNorms(model).layers) == declared
    inputs = torch.ones(3, 2)
    with untouched(model):
        used = list(LayerNorms(model, inputs).layers)
    assert used == ["body", "attention", "attention.out_proj", "head", "unused"]


def test_of_a_large_model_a_few_numbers_of_each_weight_stand_for_its_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = nn.Sequential(nn.Linear(36, 64, bias=False), nn.Linear(64, 4))
    inputs = torch.randn(8, 36, generator=torch.Generator().manual_seed(0))
    whole = one_step(copy.deepcopy(model), inputs)
    monkeypatch.setattr(layer_norms, "MOST_COPIED", 300)  # 100 a weight: vectors are kept whole
    norms, loss = one_step(model, inputs)
    assert [part.numel() for part in norms.before] == [93, 86, 4]
    taken, wanted = norms.read(norms.take_step(loss)), whole[0].read(whole[0].take_step(whole[1]))
    assert taken is not None
    assert wanted is not None
    assert list(taken[1]["update"]) == pytest.approx(list(wanted[1]["update"]), rel=0.3)
    for name in ("gradient", "weight"):
        assert taken[1][name] == wanted[1][name]


def test_numbers_that_stand_for_a_step_come_from_every_column() -> None:
    """A corner of an image that is always black must not stand for all of its pixels."""
    rows, columns = 4096, 9216  # the first dense layer of AlexNet, beside 15 other weights
    (spacing, *_) = layer_norms._spacings([rows * columns] + [1] * 15)
    places = torch.arange(0, rows * columns, spacing)
    assert len(places) <= layer_norms.MOST_COPIED
    assert int(torch.bincount(places % columns, minlength=columns).min()) > 0


def test_a_first_layer_of_more_numbers_than_are_copied_is_no_obstacle() -> None:
    """The embedding of GPT-2 alone has 38 million."""
    model = nn.Sequential(nn.Embedding(2**24 // 8 + 1, 8), nn.Linear(8, 1))
    norms, loss = one_step(model, torch.arange(4))
    taken = norms.read(norms.take_step(loss))
    assert taken is not None
    assert None not in taken[1]["update"]


def test_what_is_not_finite_is_left_out_and_forgotten() -> None:
    norms, _ = one_step(pair(), torch.full((1, 1), float("inf")))
    assert norms.read(norms.take_step(torch.tensor(1.0))) is None
    assert not norms.gradients
    assert not norms.before


def test_of_a_search_the_first_weights_and_the_last_gradients_count() -> None:
    model = pair()
    norms, loss = one_step(model, torch.ones(1, 1))  # the weights have moved
    model.zero_grad()
    (3 * model(torch.ones(1, 1)).sum()).backward()
    norms.take_gradients()
    taken = norms.read(norms.take_step(loss))
    assert taken is not None
    assert taken[1]["update"][0] == 3.5
    assert taken[1]["gradient"][0] == 15.0  # 3 (2 + 3)
