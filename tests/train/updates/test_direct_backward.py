"""The engine called directly leaves the bits of `Tensor.backward`, to which all else is left."""

import copy
from typing import ClassVar

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from netwright.train.updates.direct_backward import backward
from tests.train.toy_runs import toy_data, toy_net, toy_trainer


class Named(Tensor):
    """What a caller's own kind of tensor is."""

    asked: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        cls.asked.append(function.__name__)
        return super().__torch_function__(function, types, args, kwargs or {})  # type: ignore[no-untyped-call]


def network() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))


def loss_of(model: nn.Module) -> Tensor:
    drawn = torch.Generator().manual_seed(1)
    inputs = torch.randn(9, 5, generator=drawn)
    return cross_entropy(model(inputs), torch.arange(9) % 3)


def test_gradients_have_the_bits_of_the_usual_call_and_add_up() -> None:
    ours, theirs = network(), network()
    for _ in range(2):
        backward(loss_of(ours))
        loss_of(theirs).backward()  # type: ignore[no-untyped-call]
    for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert one.grad is not None
        assert other.grad is not None
        assert torch.equal(one.grad, other.grad)


def test_a_weight_that_is_the_loss_has_a_gradient_of_its_own() -> None:
    for _ in range(2):
        weight = torch.tensor(3.0, requires_grad=True)
        backward(weight.view(()))
        assert weight.grad is not None
        assert weight.grad.item() == 1.0
        weight.grad.zero_()


def test_hooks_of_weights_and_modules_are_called() -> None:
    model, called = network(), list[str]()
    weight = next(model.parameters())
    weight.register_hook(lambda _: called.append("weight"))  # type: ignore[no-untyped-call]
    weight.register_post_accumulate_grad_hook(  # type: ignore[no-untyped-call]
        lambda _: called.append("kept")
    )
    model[2].register_full_backward_hook(lambda *_: called.append("module"))
    backward(loss_of(model))
    assert sorted(called) == ["kept", "module", "weight"]


def test_what_has_no_single_loss_is_refused_as_torch_refuses_it() -> None:
    outputs = network()(torch.ones(2, 5))
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        backward(outputs)
    with pytest.raises(RuntimeError, match="does not require grad"):
        backward(torch.tensor(1.0))


def test_a_tensor_of_the_callers_own_kind_is_asked() -> None:
    Named.asked.clear()
    weight = torch.tensor(2.0, requires_grad=True)
    backward((weight * 3).as_subclass(Named))
    assert "backward" in Named.asked
    assert weight.grad is not None
    assert weight.grad.item() == 3.0


def test_a_trained_model_has_the_bits_of_the_usual_call(monkeypatch: pytest.MonkeyPatch) -> None:
    data, first = toy_data(), toy_net()
    found = []
    for usual in (False, True):
        if usual:
            monkeypatch.setattr("netwright.train.step.backward", Tensor.backward)
        trainer, model = toy_trainer(data), copy.deepcopy(first)
        trainer.fit(trainer.start(model, data), data)
        found.append([weight.detach() for weight in model.parameters()])
    assert all(torch.equal(*pair) for pair in zip(*found, strict=True))
