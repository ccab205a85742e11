"""What outputs end in, told from the operations that made them or from their sums."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright.core.seeding import seeded
from netwright.data.targets import ArrayTarget
from netwright.recipes.fitting.squashed_outputs import find_squashed_outputs, last_activation
from netwright.train.settings import TrainConfig
from netwright.train.tasks.catalog import task_for
from tests.repetition import for_each
from tests.train.toy_runs import FEATURES, OUTPUTS, toy_data


class Ending(nn.Module):
    """Scores, and a last function of them."""

    def __init__(self, end: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        with seeded(0):
            self.scores = nn.Linear(FEATURES, OUTPUTS)
        self.end = end

    def forward(self, x: Tensor) -> Tensor:
        return self.end(self.scores(x))


def by_hand(z: Tensor) -> Tensor:
    return z.exp() / z.exp().sum(dim=1, keepdim=True)


def moved(z: Tensor) -> Tensor:
    return z.T.softmax(dim=0).T.contiguous().view(-1, OUTPUTS)


def found(end: Callable[[Tensor], Tensor], target: ArrayTarget = "class", loss: str = "") -> str:
    data = toy_data(target)
    task = task_for(data, TrainConfig(loss=loss or None))
    finding = find_squashed_outputs(Ending(end), data.train.inputs, task)
    return "" if finding is None else finding.sentence


@for_each(
    ("end", "target", "name"),
    [
        (lambda z: z.softmax(1), "class", "softmax"),
        (moved, "class", "softmax"),
        (by_hand, "class", "softmax"),
        (torch.sigmoid, "class", "sigmoid"),
        (torch.tanh, "class", "tanh"),
        (torch.sigmoid, "labels", "sigmoid"),
        (torch.sigmoid, "real", "sigmoid"),
        (torch.relu, "real", "ReLU"),
        (functional.softplus, "real", "softplus"),
    ],
)
def test_what_does_not_belong_there_is_named(
    end: Callable[[Tensor], Tensor], target: ArrayTarget, name: str
) -> None:
    assert found(end, target).startswith(f"the model's outputs end in a {name}, but ")


@for_each(
    ("end", "target"),
    [
        (lambda z: z, "class"),
        (lambda z: z.log_softmax(1), "class"),  # once more is the same
        (torch.relu, "class"),
        (lambda z: 30 * (z / 30).tanh(), "class"),
        (lambda z: z, "labels"),
        (lambda z: z, "real"),
    ],
)
def test_scores_are_left_in_peace(end: Callable[[Tensor], Tensor], target: ArrayTarget) -> None:
    assert found(end, target) == ""


def test_a_margin_is_not_made_of_probabilities_by_its_loss() -> None:
    assert found(torch.tanh, loss="hinge") == ""


def test_one_output_that_is_1_is_no_softmax() -> None:
    assert last_activation(torch.ones(4, 1), "class") == ""
    assert last_activation(torch.full((4, 2), 0.5), "class") == "softmax"
    assert last_activation(torch.full((4, 2), 0.4), "class") == ""


def test_the_model_stays_as_it_was() -> None:
    model = nn.Sequential(nn.BatchNorm1d(FEATURES), nn.Linear(FEATURES, OUTPUTS))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    find_squashed_outputs(model, toy_data().train.inputs, task_for(toy_data()))
    assert model.training
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])
    assert all(parameter.grad is None for parameter in model.parameters())
