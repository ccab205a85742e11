"""The average of weights: by its formula, beside torch's, and where it stands in for the model."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from netwright.train.callback import Callback
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.evaluate import measure_quickly
from netwright.train.state import TrainState
from netwright.train.tasks.catalog import task_for
from netwright.train.weight_average import WeightAverage
from tests.train.token_data import small_lstm, spec_of
from tests.train.toy_runs import assert_same, copy_of, toy_data, toy_fit, toy_net, toy_start


def wander(model: nn.Module, steps: int) -> Iterator[int]:
    """Move weights and statistics; yields the number of each update."""
    random = torch.Generator().manual_seed(0)
    for step in range(1, steps + 1):
        for tensor in model.state_dict().values():
            if tensor.is_floating_point():
                tensor.add_(torch.randn(tensor.shape, generator=random))
        yield step


def test_equal_is_torchs_average_over_50_updates() -> None:
    model = toy_net(batch_norm=True).double()
    ours, theirs = WeightAverage(model, decay=None), AveragedModel(model, use_buffers=True)
    for step in wander(model, 50):
        ours.add(step)
        theirs.update_parameters(model)
    peer = theirs.module.state_dict()
    for name, mean in ours.mean.items():
        torch.testing.assert_close(mean, peer[name], rtol=1e-12, atol=1e-12)


def test_exponential_is_torchs_without_what_it_keeps_of_its_start() -> None:
    """The one of torch holds d^(t - 1) w_1 where d^(t - 1) (1 - d) w_1 is due: d^t w_1 too much."""
    decay, steps = 0.9, 50
    model = toy_net(batch_norm=True).double()
    ours = WeightAverage(model, decay=decay)
    update = get_ema_multi_avg_fn(decay)  # type: ignore[no-untyped-call]
    theirs = AveragedModel(model, multi_avg_fn=update, use_buffers=True)
    first: dict[str, Tensor] = {}
    for step in wander(model, steps):
        first = first or copy_of(model)
        ours.add(step)
        theirs.update_parameters(model)
    peer = theirs.module.state_dict()
    for name, mean in ours.mean.items():
        wanted = (peer[name] - decay**steps * first[name]) / (1 - decay**steps)
        torch.testing.assert_close(mean, wanted, rtol=1e-12, atol=1e-12)


def test_a_state_that_is_only_carried_has_no_mean() -> None:
    model = small_lstm(spec_of(4))
    average = WeightAverage(model, decay=None)
    assert set(average.mean) == set(model.state_dict()) - {"carried"}


def test_three_weights_by_hand() -> None:
    model = nn.Linear(1, 1, bias=False)
    averages = WeightAverage(model, decay=0.5), WeightAverage(model, decay=None, start=1)
    for step, value in enumerate((8.0, 4.0, 2.0), start=1):
        model.weight.data.fill_(value)
        for average in averages:
            average.add(step)
    exponential, equal = (average.mean["weight"].item() for average in averages)
    assert exponential == pytest.approx((8 * 0.25 + 4 * 0.5 + 2) / 1.75)
    assert equal == 3.0  # without the first


def test_an_update_that_was_not_made_counts_not_again() -> None:
    model = nn.Linear(1, 1)
    average = WeightAverage(model, decay=0.9)
    for step in (1, 2, 2):
        average.add(step)
    assert average.count == 2


def test_the_model_holds_the_average_for_a_block_and_then_its_own_weights() -> None:
    model = toy_net(batch_norm=True)
    average = WeightAverage(model, decay=None)
    for step in wander(model, 4):
        average.add(step)
    own = copy_of(model)
    with pytest.raises(RuntimeError, match="oh"), average.in_model():
        held = copy_of(model)
        raise RuntimeError("oh")
    assert_same({name: held[name] for name in average.mean}, average.mean)
    assert not torch.equal(held["1.running_var"], own["1.running_var"])
    assert_same(copy_of(model), own)


def test_while_nothing_was_averaged_the_model_stays_as_it_is() -> None:
    model = toy_net()
    average = WeightAverage(model, decay=None, start=10)
    for step in wander(model, 3):
        average.add(step)
    own = copy_of(model)
    with average.in_model():
        assert_same(copy_of(model), own)
    average.put_in()
    assert_same(copy_of(model), own)


def test_weights_that_are_shared_stay_shared() -> None:
    model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
    model[1].weight = model[0].weight
    average = WeightAverage(model, decay=None)
    for step in wander(model, 3):
        average.add(step)
    with average.in_model():
        assert torch.equal(copy_of(model)["1.weight"], average.mean["0.weight"])
        assert model[1].weight is model[0].weight


class Notes(Callback):
    """The weights of training after every update, and those of the model after every epoch."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Tensor]] = []
        self.epochs: list[dict[str, Tensor]] = []

    def on_step_end(self, state: TrainState) -> None:
        self.steps.append(copy_of(state.model))

    def on_epoch_end(self, state: TrainState) -> None:
        assert_same(state.training_weights(), self.steps[-1])
        self.epochs.append(copy_of(state.model))


def averaged_run(**settings: Any) -> tuple[TrainState, Notes]:
    notes = Notes()
    callbacks = [*settings.pop("callbacks", ()), notes]
    return toy_fit(toy_net(), toy_data(), callbacks=callbacks, **settings), notes


def test_training_goes_on_with_its_own_weights() -> None:
    _, averaged = averaged_run(average="exponential", average_decay=0.9)
    _, plain = averaged_run()
    assert_same(averaged.steps, plain.steps)


def test_equal_is_the_mean_over_the_last_quarter_of_the_updates() -> None:
    state, notes = averaged_run(average="equal")
    assert len(notes.steps) == 15
    last = torch.stack([weights["0.weight"] for weights in notes.steps[-4:]])  # a quarter of 15
    torch.testing.assert_close(state.model.state_dict()["0.weight"], last.mean(dim=0))
    assert_same(notes.epochs[0], notes.steps[4])  # not begun yet


def test_validation_is_that_of_the_averaged_weights() -> None:
    state, notes = averaged_run(average="exponential", average_decay=0.9)
    data, net = toy_data(), toy_net()
    assert data.val is not None
    for weights, loss in zip(notes.epochs, state.history.series("val/loss"), strict=True):
        net.load_state_dict(weights)
        assert measure_quickly(net, data.val, task_for(data))["loss"] == loss
    assert not torch.equal(notes.epochs[-1]["0.weight"], notes.steps[-1]["0.weight"])
    assert_same(copy_of(state.model), notes.epochs[-1])


def test_the_best_weights_are_averaged_ones() -> None:
    early = EarlyStopping(monitor="val/loss")
    state, notes = averaged_run(average="exponential", lr=0.5, callbacks=[early])
    losses = state.history.series("val/loss")
    best = notes.epochs[losses.index(min(losses))]
    assert_same(copy_of(state.model), best)


def test_an_average_comes_back() -> None:
    one, other = (WeightAverage(toy_net(seed=seed), decay=0.5) for seed in (0, 1))
    one.add(1)
    other.load_state_dict(one.state_dict())
    assert_same(other.state_dict(), one.state_dict())
    assert other.mean["0.weight"] is not one.mean["0.weight"]


def test_a_state_that_ended_a_run_goes_on_with_its_own_weights() -> None:
    state = toy_start(average="exponential")
    assert state.average is not None
    own = copy_of(state.model)
    with torch.no_grad():
        next(iter(state.model.parameters())).add_(1.0)
    state.average.add(1)
    state.model.load_state_dict(own)
    state.average.put_in()
    assert not torch.equal(state.model.state_dict()["0.weight"], own["0.weight"])
    assert_same(state.training_weights(), own)
    state.average.take_out()
    assert_same(copy_of(state.model), own)
