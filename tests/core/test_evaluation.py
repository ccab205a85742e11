"""A model at rest: every part in its own mode again afterwards, also after an error."""

import pytest
import torch
from torch import nn

from netwright.core.evaluation import call_with, differentiable, evaluating


def modes(model: nn.Module) -> list[bool]:
    return [part.training for part in model.modules()]


def test_every_part_is_as_it_was_also_after_an_error() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    model[1].eval()  # frozen by its owner
    before = modes(model)
    assert before == [True, True, False]
    with pytest.raises(KeyError), evaluating(model):
        assert not any(modes(model))
        assert not torch.is_grad_enabled()
        raise KeyError
    assert modes(model) == before
    assert torch.is_grad_enabled()


def test_what_is_woken_meanwhile_rests_again() -> None:
    model = nn.Sequential(nn.Dropout(), nn.ReLU()).eval()
    with evaluating(model):
        model.train()
    assert modes(model) == [False, False, False]


def test_a_model_at_rest_is_not_told_so_again(monkeypatch: pytest.MonkeyPatch) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU()).eval()
    told: list[str] = []
    monkeypatch.setattr(nn.Module, "__setattr__", lambda _, name, value: told.append(name))
    with evaluating(model):
        pass
    assert not told


class Sequences(nn.Module):
    """Notes whether cuDNN may run."""

    def __init__(self, part: nn.Module) -> None:
        super().__init__()
        self.part, self.had_cudnn = part, False

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        self.had_cudnn = torch.backends.cudnn.enabled
        output: torch.Tensor = self.part(inputs)[0]
        return output


@pytest.mark.parametrize(
    ("part", "may_have_cudnn"), [(nn.GRU(2, 3), False), (nn.Linear(2, 3), True)], ids=str
)
def test_other_weights_are_taken_and_recurrent_ones_without_cudnn(
    part: nn.Module, may_have_cudnn: bool
) -> None:
    model, x = Sequences(part), torch.ones(1, 4, 2)
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    zeros = {name: torch.zeros_like(weight) for name, weight in before.items()}
    assert not call_with(model, zeros, x).any()
    assert model.had_cudnn == may_have_cudnn
    assert torch.backends.cudnn.enabled
    assert all(torch.equal(weight, before[name]) for name, weight in model.named_parameters())


def recurrent_modes(model: nn.Module) -> list[tuple[bool, float]]:
    parts = [part for part in model.modules() if isinstance(part, nn.RNNBase)]
    return [(part.training, part.dropout) for part in parts]


@pytest.mark.parametrize(
    ("device", "within"),
    [("cpu", [(False, 0.5), (False, 0.25)]), ("meta", [(True, 0.0), (True, 0.0)])],
)
def test_recurrent_layers_off_the_cpu_keep_what_their_backward_pass_needs(
    device: str, within: list[tuple[bool, float]]
) -> None:
    """The meta device stands for a GPU: cuDNN goes back through layers in training mode only."""
    model = nn.Sequential(nn.LSTM(2, 3, 2, dropout=0.5), nn.GRU(3, 3, 2, dropout=0.25))
    model = model.to(device).append(nn.Dropout())
    model[1].eval()  # frozen by its owner
    before, parts = recurrent_modes(model), modes(model)
    with pytest.raises(KeyError), evaluating(model), differentiable(model):
        assert recurrent_modes(model) == within
        assert not model[2].training
        assert torch.is_grad_enabled()
        raise KeyError
    assert (recurrent_modes(model), modes(model)) == (before, parts)
    assert before == [(True, 0.5), (False, 0.25)]


def test_a_recurrent_layer_at_rest_is_at_rest_afterwards() -> None:
    model = nn.LSTM(2, 3, 2, dropout=0.5, device="meta").eval()
    with differentiable(model):
        assert recurrent_modes(model) == [(True, 0.0)]
    assert recurrent_modes(model) == [(False, 0.5)]


def test_layers_that_learn_stay_as_they_are() -> None:
    model = nn.LSTM(2, 3, 2, dropout=0.5, device="meta")
    with differentiable(model):
        assert recurrent_modes(model) == [(True, 0.5)]
