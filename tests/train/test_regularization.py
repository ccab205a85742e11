"""What a config asks for: which callbacks, in which order; and laws that need several of them."""

import re
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError, DataError
from netwright.train.callback import Callback
from netwright.train.callbacks.freeze_parts import FreezeParts
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.regularization import build_average, regularizing_callbacks
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.step import with_noise
from tests.repetition import for_each
from tests.train.toy_runs import (
    assert_close,
    assert_same,
    copy_of,
    doubled,
    toy_data,
    toy_fit,
    toy_net,
    toy_start,
    toy_trainer,
)

EVERYTHING: dict[str, Any] = {
    "l1": 1e-3,
    "clip_norm": 1.0,
    "clip_value": 0.5,
    "input_noise": 0.1,
    "label_noise": 0.1,
    "weight_noise": 0.1,
    "gradient_noise": 0.1,
    "average": "equal",
}


def names(callbacks: list[Callback]) -> list[str]:
    return [type(callback).__name__ for callback in callbacks]


def test_nothing_asked_for_is_nothing_to_call() -> None:
    config = TrainConfig(l2=0.1, output_noise=0.1, label_smoothing=0.1)  # these are in the loss
    assert regularizing_callbacks(config, 0, toy_data().spec, toy_net()) == ([], [])
    assert build_average(config, toy_net(), updates=8) is None


def test_batches_and_weights_come_before_the_users_own_and_gradients_after() -> None:
    first, last = regularizing_callbacks(TrainConfig(**EVERYTHING), 0, toy_data().spec, toy_net())
    batches = ["LabelNoise", "InputNoise"]
    assert names(first) == [*batches, "WeightNoise", "ProximalL1", "AverageWeights"]
    assert names(last) == ["ClipGradients", "GradientNoise"]


def test_parts_are_frozen_for_good_or_until_their_turn_comes() -> None:
    for every in (None, 2):
        config = TrainConfig(freeze="0", unfreeze_every=every, label_noise=0.1)
        first, _ = regularizing_callbacks(config, 0, toy_data().spec, toy_net())
        assert names(first) == ["FreezeParts", "LabelNoise"]
        assert isinstance(first[0], FreezeParts)
        assert [first[0].count(epoch) for epoch in (0, 1, 2)] == [1, 1, int(every is None)]


@for_each(
    ("settings", "sentence"),
    [
        ({"unfreeze_every": 2}, "unfreeze_every needs freeze: no part is frozen"),
        (
            {"freeze": "0", "unfreeze_every": 2, "compile": True},
            "unfreeze_every is not supported with compile: each change would need a recompilation",
        ),
        (
            {"freeze": "0", "optimizer": "lbfgs"},
            "freeze is not supported with lbfgs: it updates all weights together",
        ),
        (
            {"layer_decay": 0.5, "optimizer": "newton"},
            "layer_decay is not supported with newton: it updates all weights together",
        ),
    ],
)
def test_parts_that_cannot_learn_apart_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        regularizing_callbacks(TrainConfig(**settings), 0, toy_data().spec, toy_net())


def test_compiled_models_may_have_frozen_parts() -> None:
    config = TrainConfig(freeze="0", compile=True)
    assert names(regularizing_callbacks(config, 0, toy_data().spec, toy_net()).first) == [
        "FreezeParts"
    ]


def test_images_are_augmented_between_labels_and_noise() -> None:
    spec = replace(toy_data().spec, inputs="image", input_shape=(1, 8, 8))
    config = TrainConfig(augment=("flip",), label_noise=0.1, input_noise=0.1)
    first, _ = regularizing_callbacks(config, 0, spec, toy_net())
    assert names(first) == ["LabelNoise", "AugmentBatches", "InputNoise"]


def test_what_does_not_fit_the_data_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigError, match=r"^label_noise is for classes, the target is real$"):
        toy_trainer(toy_data("real"), label_noise=0.1).start(toy_net(), toy_data("real"))
    with pytest.raises(DataError, match=r"^augmentation is for images"):
        toy_start(augment=("flip",))


@for_each(("updates", "start"), [(15, 11), (16, 12), (3, 2), (1, 0)])
def test_the_last_quarter_is_rounded_up(updates: int, start: int) -> None:
    average = build_average(TrainConfig(average="equal"), toy_net(), updates=updates)
    assert average is not None
    assert (average.start, average.decay) == (start, None)


class Spike(Callback):
    """Lets the backward pass give infinite gradients, once."""

    def on_fit_start(self, state: TrainState) -> None:
        def spike(grad: Tensor) -> Tensor:
            return grad.abs() * torch.inf if state.samples == 8 else grad

        state.learned_weights()[-1].register_hook(spike)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("policy", ["skip", "roll-back"])
def test_the_guard_sees_gradients_before_they_are_cut(policy: Any) -> None:
    net = toy_net()
    state = toy_fit(net, toy_data(), clip_value=0.1, callbacks=[Spike(), GuardNonFinite(policy)])
    assert state.passed_over == [(0, 2)]
    assert all(bool(weight.isfinite().all()) for weight in net.parameters())


def test_a_roll_back_leaves_no_trace_of_the_way_that_was_left() -> None:
    data = toy_data()
    data.train.inputs[7, 0] = torch.inf
    settings: dict[str, Any] = {**EVERYTHING, "average": "exponential", "average_decay": 0.8}
    back = toy_fit(toy_net(), data, callbacks=[GuardNonFinite("roll-back")], **settings)
    assert len(back.passed_over) == 3
    trainer = toy_trainer(data, **settings)
    straight = trainer.start(toy_net(), data)
    straight.passed_over = list(back.passed_over)
    trainer.fit(straight, data)
    assert back.average is not None
    assert straight.average is not None
    assert_same(copy_of(back.model), copy_of(straight.model))
    assert_same(back.average.state_dict(), straight.average.state_dict())
    assert_same(back.training_weights(), straight.training_weights())


def test_a_trainer_used_by_hand_honours_its_config_and_the_seed_decides() -> None:
    nets = [toy_net() for _ in range(3)]
    for net, seed in zip(nets, (1, 1, 2), strict=True):
        toy_fit(net, toy_data(), seed=seed, **EVERYTHING)
    assert_same(copy_of(nets[0]), copy_of(nets[1]))
    assert not torch.equal(copy_of(nets[0])["0.weight"], copy_of(nets[2])["0.weight"])


@pytest.mark.covers("output-noise")
def test_noise_on_outputs_adds_its_variance_and_no_gradient() -> None:
    sigma, draws = 0.5, 100_000
    x, y = torch.tensor([1.0, -2.0, 0.5]).double(), torch.tensor(0.7).double()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for theta in (torch.zeros(3), torch.ones(3), torch.tensor([3.0, -1.0, 2.0])):
            weights = theta.double().requires_grad_()
            output = (weights @ x).expand(draws)
            noisy = with_noise(output, sigma)
            assert isinstance(noisy, Tensor)
            losses = (noisy - y).square()
            clean = (weights @ x - y).square()
            error = losses.std().item() / draws**0.5
            assert losses.mean().item() - clean.item() == pytest.approx(sigma**2, abs=4 * error)
            (slope,) = torch.autograd.grad(losses.mean(), weights, retain_graph=True)
            (wanted,) = torch.autograd.grad(clean, weights)
            spread = 4 * 2 * sigma * x.abs() / draws**0.5
            assert bool(((slope - wanted).abs() < spread).all())


def decayed(optimizer: str, **settings: Any) -> nn.Module:
    net = toy_net().double()
    toy_fit(net, doubled(toy_data()), optimizer=optimizer, lr=0.05, **settings)
    return net


def test_l2_is_weight_decay_for_sgd_and_is_not_for_adam() -> None:
    strength = 0.1
    for optimizer in ("sgd", "momentum", "adam"):  # torch's Adam puts its decay into the gradient
        l2 = decayed(optimizer, l2=strength)
        assert_close(l2, decayed(optimizer, weight_decay=strength), 1e-10)
    decoupled, coupled = (
        decayed("adamw", weight_decay=strength)[0].weight,  # type: ignore[index]
        decayed("adamw", l2=strength)[0].weight,  # type: ignore[index]
    )
    assert (decoupled - coupled).abs().max().item() > 0.01


@pytest.mark.parametrize("settings", [{"accumulate": 3}, {"precision": "fp16-mixed"}])
def test_l2_counts_once_an_update_and_is_not_scaled(settings: dict[str, Any]) -> None:
    nets = [toy_net(), toy_net()]
    for net, penalty in zip(nets, ("l2", "weight_decay"), strict=True):
        toy_fit(net, toy_data(), optimizer="sgd", lr=0.5, **{penalty: 0.5}, **settings)
    assert_close(nets[0], nets[1], 1e-5)


@pytest.mark.parametrize("setting", ["weight_decay", "l2", "l1"])
def test_biases_may_be_left_out_of_every_penalty(setting: str) -> None:
    class Biased(nn.Module):
        """Its outputs do not depend on it."""

        def __init__(self) -> None:
            super().__init__()
            self.kernel = nn.Parameter(torch.ones(2, 2))
            self.bias = nn.Parameter(torch.ones(2))

        def forward(self, x: Tensor) -> Tensor:
            return x + 0 * self.kernel.sum() + 0 * self.bias.sum()

    for penalize, biases in (("all", False), ("weights", True)):
        model = Biased()
        toy_fit(model, toy_data(), optimizer="sgd", lr=0.1, penalize=penalize, **{setting: 0.5})
        assert model.kernel.max().item() < 0.8
        assert (model.bias.tolist() == [1.0, 1.0]) == biases
