"""Torch's optimizers under our names: which class each is, and what its card warns of."""

import inspect
from typing import Any

import torch

from netwright.optimizers.catalog import OPTIMIZERS
from netwright.optimizers.optimizer import OptimizerEntry
from tests.repetition import for_each

MEANT: dict[str, tuple[type[torch.optim.Optimizer], float, dict[str, Any]]] = {
    "gradient-descent": (torch.optim.SGD, 0.1, {}),
    "sgd": (torch.optim.SGD, 0.1, {}),
    "momentum": (torch.optim.SGD, 0.05, {"momentum": 0.9}),
    "nesterov": (torch.optim.SGD, 0.05, {"momentum": 0.9, "nesterov": True}),
    "adagrad": (torch.optim.Adagrad, 0.01, {}),
    "adadelta": (torch.optim.Adadelta, 1.0, {}),
    "rmsprop": (torch.optim.RMSprop, 1e-3, {}),
    "adam": (torch.optim.Adam, 1e-3, {}),
    "adamw": (torch.optim.AdamW, 1e-3, {}),
    "nadam": (torch.optim.NAdam, 2e-3, {}),
    "lbfgs": (torch.optim.LBFGS, 1.0, {"line_search_fn": "strong_wolfe"}),
}


@for_each("name", MEANT)
def test_name_means_this_class_with_this_rate(name: str) -> None:
    entry = OPTIMIZERS.load(name)
    assert (entry.make.__mro__[2], entry.lr, dict(entry.presets)) == MEANT[name]


@for_each("name", MEANT)
def test_the_fused_kernel_is_taken_where_torch_has_one_for_all_devices(name: str) -> None:
    entry = OPTIMIZERS.load(name)
    has_one = "fused" in inspect.signature(entry.make).parameters
    assert entry.fused == (has_one and name != "adagrad")  # of which there is none for CUDA


def test_only_gradient_descent_takes_all_rows_at_each_step() -> None:
    assert [name for name in MEANT if OPTIMIZERS.load(name).full_batch] == ["gradient-descent"]


@for_each(
    ("name", "warning"),
    [
        ("sgd", "the weights have to move"),
        ("momentum", "plain gradient descent"),
        ("heavy-ball", "9 in place of 10 times eta"),
        ("nesterov", "the steps run away"),
        ("adagrad", "called the learning rate"),
        ("rmsprop", "not by the mean"),
        ("adadelta", "without the update of the mean of squared steps"),
        ("adam", "3.16 times too long"),
        ("adamw", "an L2 penalty"),
        (
            "nadam",
            "1.08 times eta in place of 1.06, and with a constant mu of 0.9 it is 1.9 in place of",
        ),
        ("lion", "evolutionary search"),
    ],
)
def test_card_warns_of_the_form_that_is_printed_wrong(name: str, warning: str) -> None:
    entry: OptimizerEntry = OPTIMIZERS.load(name)
    assert warning in entry.card.misprint


@for_each("name", MEANT)
def test_what_cannot_step_without_the_loss_is_given_it(name: str) -> None:
    entry = OPTIMIZERS.load(name)
    make: Any = entry.make
    step = make([torch.nn.Parameter(torch.ones(2))], lr=0.1, **entry.presets).step
    try:
        step()
    except TypeError:
        assert entry.closure
    else:
        assert not entry.closure
