"""What layers do: planted dead and saturated units, units of every kind of layer, padding."""

import re

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.errors import DataError
from netwright.inspection.inside.layer_activity import LayerActivity, layer_activities
from netwright.layers.recurrence.recurrent import RecurrentStack
from netwright.layers.recurrence.recurrent_cells import ELMAN, LSTM_CELL_GATE
from tests.inspection.untouched import untouched


def normals(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def activities(
    model: nn.Module, inputs: Tensor, padding: int | None = None
) -> tuple[LayerActivity, ...]:
    with untouched(model):
        return layer_activities(model, inputs, padding)


class Block(nn.Module):
    """A residual block whose activations are functions, not modules."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(2)

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(x + functional.relu(self.norm(self.conv(x))))


def test_the_numbers_of_a_layer_are_those_of_its_values() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    x = normals(50, 3)
    hidden, out = activities(model, x)
    values = model[:2](x).detach()
    assert (hidden.path, hidden.activation, hidden.units) == ("0", "relu", 8)
    assert hidden.mean == pytest.approx(float(values.mean()), rel=1e-5)
    assert hidden.std == pytest.approx(float(values.std(correction=0)), rel=1e-5)
    assert hidden.zeros == pytest.approx(float((values == 0).float().mean()))
    assert (hidden.flat, hidden.saturated) == (0, 0)
    assert hidden.edges[0] > 0  # zeros are left out of the spread
    assert sum(hidden.counts) == pytest.approx(int((values > 0).sum()), rel=0.02)  # and the tails
    assert (out.path, out.activation, out.units, out.label) == ("2", "", 2, "2")


def test_planted_dead_units_are_found_and_no_others() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    with torch.no_grad():
        model.get_parameter("0.bias")[:3] = -100.0
        model.get_parameter("0.bias")[3:] = 100.0
    hidden, out = activities(model, normals(50, 3))
    assert (hidden.dead, hidden.zeros, hidden.stuck) == (3, 3 / 8, 3 / 8)
    assert (out.dead, out.stuck) == (0, 0)


@pytest.mark.parametrize("activation", [nn.Tanh(), nn.Sigmoid(), nn.Hardtanh()], ids=repr)
def test_planted_saturated_units_are_found_at_both_ends(activation: nn.Module) -> None:
    model = nn.Sequential(nn.Linear(1, 4), activation)
    with torch.no_grad():
        model.get_parameter("0.weight").zero_()
        model.get_parameter("0.bias").copy_(torch.tensor([-50.0, 50.0, 0.3, 0.3]))
        model.get_parameter("0.weight")[3] = 100.0  # at one end or the other, but for x near 0
    inputs = torch.tensor([[-1.0], [1.0], [0.0]])
    (layer,) = activities(model, inputs)
    assert (layer.saturated, layer.stuck) == (2, 0.5)
    assert layer.flat == pytest.approx((3 + 3 + 0 + 2) / 12)


def test_norms_and_activations_belong_to_the_layer_and_what_follows_a_sum_stands_for_itself() -> (
    None
):
    torch.manual_seed(0)
    model = nn.Sequential(Block()).eval()
    with torch.no_grad():
        model.get_parameter("0.norm.bias")[0] = -100.0
    inner, whole = activities(model, normals(4, 2, 5, 5))
    assert (inner.path, inner.activation, inner.units, inner.dead) == ("0.conv", "relu", 2, 1)
    assert (whole.path, whole.activation, whole.units, whole.dead) == ("0", "relu", 2, 0)


def test_a_unit_is_a_channel_of_a_convolution_and_a_feature_of_a_sequence() -> None:
    image = nn.Conv2d(1, 3, 2)
    with torch.no_grad():
        image.weight[1], image.bias[1] = 0.0, 0.0  # type: ignore[index]
    (channels,) = activities(nn.Sequential(image), normals(2, 1, 4, 4))
    assert (channels.units, channels.dead) == (3, 1)
    (steps,) = activities(nn.Sequential(nn.Linear(4, 5)), normals(2, 7, 4))
    assert steps.units == 5
    (signal,) = activities(nn.Sequential(nn.Conv1d(4, 6, 2)), normals(2, 4, 9))
    assert signal.units == 6


def test_padding_does_not_count() -> None:
    model = nn.Sequential(nn.Embedding(3, 2), nn.Linear(2, 2, bias=False))
    with torch.no_grad():
        model.get_parameter("0.weight")[0] = 1000.0
    tokens = torch.tensor([[1, 2, 0, 0], [2, 0, 0, 0]])
    counted = model.get_parameter("0.weight").detach()[torch.tensor([1, 2, 2])]
    first, second = activities(model, tokens, padding=0)
    assert first.mean == pytest.approx(float(counted.mean()), rel=1e-5)
    assert second.mean == pytest.approx(float(model[1](counted).detach().mean()), rel=1e-5)
    with_padding, _ = activities(model, tokens)
    assert with_padding.mean > 100


class InSegments(nn.Module):
    """Tokens, each with the vector of its segment, 0 or 1, which is no padding."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.segments = nn.Embedding(3, 2), nn.Embedding(2, 2)
        self.mixed = nn.Linear(2, 2, bias=False)

    def word_table(self) -> Tensor:
        return self.words.weight

    def told_table(self) -> None:
        return None

    def forward(self, tokens: Tensor) -> Tensor:
        mixed: Tensor = self.mixed(self.words(tokens) + self.segments(tokens.clamp_max(0)))
        return mixed


def test_a_segment_of_the_number_of_padding_is_none() -> None:
    torch.manual_seed(0)
    model, tokens = InSegments(), torch.tensor([[1, 2, 0, 0], [2, 0, 0, 0]])
    *_, mixed = activities(model, tokens, padding=0)
    values = model(tokens).detach()[tokens != 0]
    assert mixed.mean == pytest.approx(float(values.mean()), rel=1e-5)
    assert mixed.std == pytest.approx(float(values.std(correction=0)), rel=1e-5)


def test_a_recurrence_counts_the_steps_before_the_padding_and_its_gates_belong_to_it() -> None:
    torch.manual_seed(0)

    class Reader(nn.Module):
        def __init__(self, stack: RecurrentStack) -> None:
            super().__init__()
            self.stack = stack

        def forward(self, x: Tensor) -> Tensor:
            outputs: Tensor
            outputs, _ = self.stack(x, lengths=torch.tensor([3, 1]))
            return outputs[:, -1]

    (fused,) = activities(Reader(RecurrentStack(ELMAN, 3, 4)), normals(2, 3, 3))
    assert (fused.path, fused.activation, fused.units) == ("stack.rnn", "tanh", 4)
    assert fused.zeros == 0
    (unrolled,) = activities(Reader(RecurrentStack(LSTM_CELL_GATE, 3, 4)), normals(2, 3, 3))
    assert (unrolled.path, unrolled.activation, unrolled.units) == ("stack", "", 4)


def test_calls_of_one_layer_are_counted_together() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.map = nn.Linear(1, 2)

        def forward(self, x: Tensor) -> Tensor:
            return functional.relu(self.map(x)) + functional.relu(self.map(-x))

    model = Twice()
    with torch.no_grad():
        model.map.weight.copy_(torch.tensor([[1.0], [0.0]]))
        model.map.bias.copy_(torch.tensor([0.0, -1.0]))
    (layer,) = activities(model, torch.tensor([[1.0], [3.0]]))
    assert (layer.dead, layer.zeros) == (1, 6 / 8)  # the first unit wakes in the first call only
    assert layer.mean == pytest.approx(4 / 8)
    assert sum(layer.counts) == 2


def test_of_many_values_a_sample_is_spread_and_all_are_counted() -> None:
    model = nn.Sequential(nn.Linear(1, 300))
    (layer,) = activities(model, normals(100, 1))
    assert 19_000 < sum(layer.counts) <= 20_000
    assert layer == activities(model, normals(100, 1))[0]


def test_what_is_no_number_is_refused_with_its_layer() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    with torch.no_grad():
        model.get_parameter("0.bias")[1] = torch.nan
    sentence = "what layer '0' puts out must be finite, got nan at [0, 1] (1 in all)"
    with pytest.raises(DataError, match=re.escape(sentence)):
        layer_activities(model, torch.ones(1, 2), None)
