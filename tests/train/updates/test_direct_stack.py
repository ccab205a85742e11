"""Gradients worked by hand have the bits of torch's autograd; what is not its plain case is its."""

import copy
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, cast

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from netwright.data.spec import DataSpec
from netwright.layers.activations import ACTIVATIONS
from netwright.models.mlp import MLP, MLPConfig
from netwright.train.callback import Callback
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.tasks.classification import Classification
from netwright.train.updates.direct_backward import backward
from netwright.train.updates.direct_stack import SLOPES, DirectStack, direct_stack
from tests.repetition import for_each
from tests.train.toy_runs import toy_data, toy_net, toy_trainer

TASK = Classification(3)
PLAIN = TrainConfig(device="cpu")
WIDTHS = [(5, 3), (5, 7, 3), (1, 1, 3), (784, 256, 128, 3), (33, 1, 17, 3)]


def network(widths: tuple[int, ...], activation: Callable[[], nn.Module] = nn.ReLU) -> nn.Module:
    """Affine maps with an activation and dropout between them."""
    torch.manual_seed(0)
    layers: list[nn.Module] = [nn.Flatten()]
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after, bias=before != 33), activation(), nn.Dropout(0.3)]
    return nn.Sequential(*layers[:-2])


def gradients(model: nn.Module, forward: Any, inputs: Tensor, times: int = 1) -> list[Tensor]:
    """After so many batches without a step, by autograd or from there on by hand."""
    torch.manual_seed(1)
    for _ in range(times):
        logits = forward(inputs)
        backward(cross_entropy(logits, torch.arange(len(inputs)) % 3))
        if isinstance(forward, DirectStack):
            forward.backward()
    found = [w.grad for w in model.parameters() if w.grad is not None]
    return [*found, torch.rand(2)]  # the generator stands where it stands


def by_hand(model: nn.Module, **settings: Any) -> DirectStack:
    stack = direct_stack(model, TASK, TrainConfig(device="cpu", **settings))
    assert stack is not None
    return stack


def assert_same(ours: list[Tensor], theirs: list[Tensor]) -> None:
    assert len(ours) == len(theirs) > 1
    assert all(torch.equal(*pair) for pair in zip(ours, theirs, strict=True))


@for_each("widths", WIDTHS)
@for_each("rows", [2, 37, 128])
def test_gradients_and_draws_have_the_bits_of_autograd(widths: tuple[int, ...], rows: int) -> None:
    model = network(widths)
    twin = copy.deepcopy(model)
    inputs = torch.randn(rows, widths[0], generator=torch.Generator().manual_seed(2))
    assert_same(gradients(model, by_hand(model), inputs), gradients(twin, twin, inputs))


@for_each("kind", list(SLOPES))
def test_each_activation_has_the_bits_of_autograd(kind: type[nn.Module]) -> None:
    model = network((6, 9, 4, 3), kind)
    twin = copy.deepcopy(model)
    inputs = 3 * torch.randn(8, 6, generator=torch.Generator().manual_seed(2))
    assert_same(gradients(model, by_hand(model), inputs), gradients(twin, twin, inputs))


def test_gradients_of_several_batches_add_up() -> None:
    model = network((6, 9, 3))
    twin = copy.deepcopy(model)
    inputs = torch.randn(8, 2, 3, generator=torch.Generator().manual_seed(2))
    assert_same(gradients(model, by_hand(model), inputs, 3), gradients(twin, twin, inputs, 3))


@pytest.mark.parametrize("still", [["1.weight"], ["1.bias"], ["1.weight", "1.bias"], ["4.weight"]])
def test_what_is_frozen_gets_no_gradient(still: list[str]) -> None:
    model = network((6, 9, 3))
    for name in still:
        model.get_parameter(name).requires_grad_(False)
    twin = copy.deepcopy(model)
    inputs = torch.randn(8, 6, generator=torch.Generator().manual_seed(2))
    assert_same(gradients(model, by_hand(model), inputs), gradients(twin, twin, inputs))
    assert all(model.get_parameter(name).grad is None for name in still)


def test_frozen_layers_at_the_bottom_are_not_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    went: list[Tensor] = []

    def seen(_layer: nn.Module, delta: Tensor, _x: Tensor, y: Tensor) -> Tensor:
        went.append(y)
        return delta * (y > 0)

    monkeypatch.setitem(SLOPES, nn.ReLU, seen)
    model = network((6, 9, 4, 3))
    model.get_parameter("1.weight").requires_grad_(False)
    model.get_parameter("1.bias").requires_grad_(False)
    gradients(model, by_hand(model), torch.ones(8, 6))
    assert [y.shape[1] for y in went] == [4]


def weight(model: nn.Module) -> Any:
    return model.get_parameter("4.weight")


def watches() -> Iterator[Callable[[nn.Module], Any]]:
    """Ways to look at what happens inside, each of which autograd knows."""
    yield lambda model: model.register_forward_hook(lambda *_: None)
    yield lambda model: model.get_submodule("1").register_forward_pre_hook(lambda *_: None)
    yield lambda model: model.get_submodule("4").register_full_backward_hook(lambda *_: None)
    yield lambda model: weight(model).register_hook(lambda _: None)
    yield lambda model: weight(model).register_post_accumulate_grad_hook(lambda _: None)
    yield lambda _model: nn.modules.module.register_module_forward_hook(lambda *_: None)


@pytest.mark.parametrize("watch", list(watches()))
def test_while_somebody_watches_autograd_does_all(watch: Callable[[nn.Module], Any]) -> None:
    model = network((6, 9, 3))
    stack, inputs = by_hand(model), torch.ones(4, 6)
    handle = watch(model)
    try:
        assert stack(inputs).grad_fn is not None
    finally:
        handle.remove()
    assert stack(inputs).is_leaf
    stack.backward()  # of logits that no loss was made of
    assert all(weight.grad is None for weight in model.parameters())


def test_inputs_that_want_a_gradient_of_their_own_are_left_to_autograd() -> None:
    stack = by_hand(network((6, 9, 3)))
    assert stack(torch.ones(4, 6, requires_grad=True)).grad_fn is not None
    assert stack(torch.ones(1, 6)).grad_fn is not None


def changes() -> Iterator[Callable[[nn.Sequential], Any]]:
    """What callbacks may do to a model while it trains."""

    def other_activation(model: nn.Sequential) -> None:
        model[2] = nn.Tanh()

    def other_forward(model: nn.Sequential) -> None:
        model[2].forward = torch.tanh

    def drop_all(model: nn.Sequential) -> None:
        cast(nn.Dropout, model[3]).p = 1.0

    yield other_activation
    yield other_forward
    yield drop_all
    yield lambda model: nn.utils.parametrizations.spectral_norm(model[1])
    yield lambda model: model.append(nn.Identity())


@pytest.mark.parametrize("change", list(changes()))
def test_a_network_that_was_changed_is_left_to_autograd(
    change: Callable[[nn.Sequential], Any],
) -> None:
    model = cast(nn.Sequential, network((6, 9, 3)))
    stack, inputs = by_hand(model), torch.ones(4, 6)
    assert stack(inputs).is_leaf
    change(model)
    assert stack(inputs).grad_fn is not None


def test_within_the_callers_autocast_autograd_does_all() -> None:
    stack, inputs = by_hand(network((6, 9, 3))), torch.ones(4, 6)
    with torch.autocast("cpu", torch.bfloat16):
        assert stack(inputs).grad_fn is not None


def test_a_batch_that_an_error_ended_has_no_part_in_the_next() -> None:
    model = network((6, 9, 3))
    stack = by_hand(model)
    stack(torch.ones(4, 6)).sum().backward()
    stack(torch.ones(1, 6))  # goes the usual way
    stack.backward()
    assert all(weight.grad is None for weight in model.parameters())


@pytest.mark.parametrize(
    "other",
    [
        toy_net(batch_norm=True),
        nn.Sequential(nn.Conv2d(1, 2, 3)),
        nn.Sequential(nn.ReLU()),
        nn.Sequential(nn.Linear(2, 2), nn.Dropout(1.0)),
        nn.Sequential(nn.Flatten(0), nn.Linear(2, 2)),
        nn.Sequential(nn.Linear(2, 2), nn.LeakyReLU(inplace=True)),
        nn.Sequential(*[nn.Linear(2, 2)] * 2),
        nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))),
        nn.Linear(2, 2),
    ],
    ids=lambda model: str(type(model).__name__),
)
def test_other_networks_are_left_to_autograd(other: nn.Module) -> None:
    assert direct_stack(other, TASK, PLAIN) is None


@pytest.mark.parametrize(
    "setting",
    [{"precision": "bf16-mixed"}, {"compile": True}, {"optimizer": "lbfgs"}],
    ids=str,
)
def test_other_ways_to_train_are_left_to_autograd(setting: dict[str, Any]) -> None:
    assert direct_stack(toy_net(), TASK, TrainConfig(device="cpu", **setting)) is None


def test_every_activation_of_the_catalog_but_two_is_known() -> None:
    known = {name for name in ACTIVATIONS if ACTIVATIONS.load(name).make in SLOPES}
    assert set(ACTIVATIONS) - known == {"softplus", "hard-tanh"}


class Gradients(Callback):
    """Keeps the bits of every gradient."""

    def __init__(self) -> None:
        self.seen: list[Tensor] = []

    def on_before_update(self, state: TrainState) -> None:
        self.seen += [grad.clone() for grad in state.whole_gradients()]


@pytest.mark.parametrize("accumulate", [1, 2])
def test_a_run_has_the_bits_of_autograd_after_50_updates(
    accumulate: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = toy_data(rows=40)
    spec = DataSpec(inputs="features", input_shape=(3,), target="class", num_outputs=3)
    torch.manual_seed(0)
    first = MLP(MLPConfig(hidden=(6, 5), dropout=0.2), spec)
    found = []
    for usual in (False, True):
        seen, model = Gradients(), copy.deepcopy(first)
        if usual:
            monkeypatch.setattr("netwright.train.step.direct_stack", lambda *_: None)
        settings: dict[str, Any] = {"epochs": 5 * accumulate, "lr": 0.05, "accumulate": accumulate}
        trainer = toy_trainer(data, callbacks=[seen], **settings)
        state = trainer.start(model, data)
        trainer.fit(state, data)
        assert state.step == 50
        found.append([*seen.seen, *(weight.detach() for weight in model.parameters())])
    assert_same(*found)
