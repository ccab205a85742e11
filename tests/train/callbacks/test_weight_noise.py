"""Noise on weights: what it adds to the loss, and that no trace of it stays."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from netwright.core.errors import RunError
from netwright.core.seeding import seeded
from netwright.train.callback import Callback
from netwright.train.callbacks.non_finite import GuardNonFinite
from netwright.train.callbacks.weight_noise import WeightNoise
from netwright.train.evaluate import measure_quickly
from netwright.train.noise import noise_like, stream_on
from netwright.train.state import TrainState
from netwright.train.tasks.catalog import task_for
from tests.train.toy_runs import assert_same, copy_of, toy_data, toy_fit, toy_net, toy_start


@pytest.mark.slow
@pytest.mark.covers("weight-noise")
def test_a_linear_model_loses_the_variance_times_the_length_of_the_input() -> None:
    sigma, draws = 0.3, 4_000
    x = torch.tensor([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]], dtype=torch.float64)
    y = torch.tensor([[0.5], [1.0]], dtype=torch.float64)
    with seeded(0):
        model = nn.Linear(3, 1, bias=False).double()
    state, noise = toy_start(model, lr=0.1), WeightNoise(sigma, seed=0)
    noise.on_epoch_start(state)
    losses = torch.zeros(draws, 2, dtype=torch.float64)
    with torch.no_grad():
        clean = (model(x) - y).square().squeeze(1)
        for draw in range(draws):
            state.position = draw
            noise.on_batch_start(state)
            losses[draw] = (model(x) - y).square().squeeze(1)
            noise.on_batch_end(state)
    wanted = clean + sigma**2 * x.square().sum(dim=1)
    error = losses.std(dim=0) / draws**0.5
    assert bool(((losses.mean(dim=0) - wanted).abs() < 4 * error).all())
    assert bool((error < 0.05 * wanted).all())


class Watch(Callback):
    """The weights at the user's events: none of them may see noise."""

    def __init__(self) -> None:
        self.before: list[Tensor] = []
        self.seen = 0

    def on_epoch_start(self, state: TrainState) -> None:
        self.before = [weight.detach().clone() for weight in state.learned_weights()]

    def on_before_update(self, state: TrainState) -> None:
        self.compare(state)

    def on_step_end(self, state: TrainState) -> None:
        self.on_epoch_start(state)

    def on_batch_end(self, state: TrainState) -> None:
        self.compare(state)

    def compare(self, state: TrainState) -> None:
        self.seen += 1
        for weight, before in zip(state.learned_weights(), self.before, strict=True):
            assert torch.equal(weight, before)


@pytest.mark.parametrize("accumulate", [1, 2])
def test_the_very_weights_are_back_before_updates_and_after_batches(accumulate: int) -> None:
    watch = Watch()
    toy_fit(toy_net(), toy_data(), accumulate=accumulate, weight_noise=0.5, callbacks=[watch])
    assert watch.seen > 15


def test_the_gradient_is_that_of_the_noisy_weights_and_the_step_starts_without() -> None:
    data, net = toy_data(rows=4), toy_net()
    by_hand = toy_net()
    toy_fit(net, data, optimizer="sgd", lr=0.5, epochs=1, weight_noise=0.2, seed=7)
    weights = list(by_hand.parameters())
    before = [weight.detach().clone() for weight in weights]
    noise = noise_like(before, stream_on(torch.device("cpu"), 7, "weight-noise", 0, 1))
    with torch.no_grad():
        for weight, part in zip(weights, noise, strict=True):
            weight.add_(0.2 * part)
    loss = F.cross_entropy(by_hand(data.train.inputs), data.train.targets)
    grads = torch.autograd.grad(loss, weights)
    for weight, start, grad in zip(net.parameters(), before, grads, strict=True):
        torch.testing.assert_close(weight.detach(), start - 0.5 * grad)


def test_frozen_parts_get_no_noise() -> None:
    state, noise = toy_start(lr=0.1), WeightNoise(0.5, seed=0)
    first, *rest = state.learned_weights()
    first.requires_grad_(False)
    noise.on_epoch_start(state)
    before = [weight.detach().clone() for weight in (first, *rest)]
    noise.on_batch_start(state)
    assert torch.equal(first, before[0])
    assert not any(map(torch.equal, rest, before[1:]))


def test_validation_is_measured_without_noise() -> None:
    data, net = toy_data(), toy_net()
    state = toy_fit(net, data, epochs=1, weight_noise=0.5)
    assert data.val is not None
    clean = measure_quickly(net, data.val, task_for(data))
    assert state.history.latest("val/loss") == clean["loss"]


class Breaks(nn.Module):
    """A net whose fourth forward pass fails."""

    def __init__(self) -> None:
        super().__init__()
        self.net, self.passes = toy_net(), 0

    def forward(self, x: Tensor) -> Tensor:
        self.passes += 1
        if self.passes == 4:
            raise RuntimeError("the roof came down")
        out: Tensor = self.net(x)
        return out


def test_an_error_in_the_middle_of_a_batch_leaves_no_noise() -> None:
    broken, whole = Breaks(), toy_net()
    with pytest.raises(RuntimeError, match="the roof came down"):
        toy_fit(broken, toy_data(), weight_noise=0.5)
    toy_fit(whole, toy_data(rows=20), weight_noise=0.5, callbacks=[StopAfter(3)])
    assert_same(copy_of(broken.net), copy_of(whole))


class StopAfter(Callback):
    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_end(self, state: TrainState) -> None:
        if state.step == self.step:
            state.cut_short("enough")


@pytest.mark.parametrize("policy", ["stop", "skip", "roll-back"])
def test_the_guard_finds_bad_batches_and_weights_without_noise(policy: str) -> None:
    data, net = toy_data(), toy_net()
    data.train.inputs[7, 0] = torch.inf
    guard = GuardNonFinite(policy)  # type: ignore[arg-type]
    if policy == "stop":
        with pytest.raises(RunError, match="the inputs of row 7 are not finite"):
            toy_fit(net, data, weight_noise=0.1, callbacks=[guard])
    else:
        state = toy_fit(net, data, weight_noise=0.1, callbacks=[guard])
        assert len(state.passed_over) == 3
    assert all(bool(weight.isfinite().all()) for weight in net.parameters())


def test_an_error_before_the_first_epoch_finds_no_noise_to_take_away() -> None:
    state, before = toy_start(), toy_net()
    WeightNoise(0.5, seed=0).on_abort(state)
    assert_same(copy_of(state.model), copy_of(before))
