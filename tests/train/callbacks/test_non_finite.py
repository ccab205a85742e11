"""NaN and infinity: caught before the update, told with the place, and never a false alarm.

Where the run may go on, it is the run that never saw the guilty batches.
"""

import math
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from netwright.core.errors import RunError
from netwright.data.dataset import Data
from netwright.data.loading.loader import BatchLoader
from netwright.train.callback import Callback
from netwright.train.callbacks.early_stopping import EarlyStopping
from netwright.train.callbacks.non_finite import MOST_IN_A_ROW, GuardNonFinite
from netwright.train.callbacks.step_limit import StepLimit
from netwright.train.ranks import Ranks
from netwright.train.run_setting_groups import Policy
from netwright.train.saving.checkpoint import load_checkpoint, save_checkpoint
from netwright.train.state import TrainState
from netwright.train.tasks.regression import Regression
from netwright.train.updates import finite_check
from tests.repetition import for_each
from tests.train.toy_runs import (
    assert_close,
    assert_same,
    copy_of,
    toy_data,
    toy_fit,
    toy_net,
    toy_start,
    toy_trainer,
    whole_batch,
)

NAN = float("nan")


@pytest.fixture(params=["waits", "reads later"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each update is looked at before it is made, or left out by the device and read of later."""
    if request.param != "waits":
        monkeypatch.setattr(finite_check, "WAITED_FOR", ("cpu", "cuda"))
    return str(request.param)


class Remember(Callback):
    """The weights after the last update, and the rows of the batch at hand."""

    weights: dict[str, Tensor]

    def on_fit_start(self, state: TrainState) -> None:
        self.weights = copy_of(state.model)
        self.state = state

    def on_step_end(self, state: TrainState) -> None:
        self.weights = copy_of(state.model)


class Root(nn.Module):
    """sqrt(w x): at x = 0 the value is 0 and the slope is infinite, so 0 * inf = NaN."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(3, 3, bias=False)
        nn.init.ones_(self.inner.weight)

    def forward(self, x: Tensor) -> Tensor:
        roots: Tensor = self.inner(x.abs()).sqrt()
        return roots


class Logarithm(Root):
    """The parts are finite, what is done between them is not: log of a negative number."""

    def forward(self, x: Tensor) -> Tensor:
        logs: Tensor = self.inner(x).log()
        return logs


def spoil(data: Data, what: str, row: int | list[int], value: float) -> Data:
    values = getattr(data.train, what).clone()
    values[row] = value
    return replace(data, train=replace(data.train, **{what: values}))


def caught(model: nn.Module, data: Data, **settings: Any) -> tuple[str, Remember]:
    """The refusal; nothing has moved since the last good update."""
    remember = Remember()
    with pytest.raises(RunError) as refusal:
        toy_fit(model, data, callbacks=[GuardNonFinite(), remember], **settings)
    assert_same(copy_of(model), remember.weights)  # with batch norm's buffers
    return str(refusal.value), remember


@for_each("value", [NAN, float("inf"), -float("inf")])
@for_each("optimizer", ["adam", "momentum", "lbfgs"])
def test_a_bad_input_is_told_with_its_row_and_nothing_moves(value: float, optimizer: str) -> None:
    data = spoil(toy_data(), "inputs", 13, value)
    sentence, remember = caught(toy_net(batch_norm=True), data, optimizer=optimizer)
    state = remember.state
    assert state.batch is not None
    rows = state.batch.rows.tolist()
    assert 13 in rows
    number = state.position  # in the first epoch the batch is also the step
    assert sentence.startswith(
        f"non-finite value at step {number}, epoch 1, batch {number} (rows {rows} ...): "
        "the inputs of row 13 are not finite; the learning rate is "
    )


def test_a_bad_target_is_told_with_its_row() -> None:
    sentence, _ = caught(toy_net(), spoil(toy_data("real"), "targets", 4, NAN), task=plain())
    assert "the targets of row 4 are not finite" in sentence


def plain() -> Regression:
    return Regression.plain(3)


def test_a_gradient_alone_is_enough() -> None:
    data = spoil(toy_data("real"), "inputs", 7, 0.0)
    sentence, remember = caught(Root(), data, task=plain(), lr=1e-3, optimizer="sgd")
    assert remember.state.loss.isfinite()
    assert "the loss is finite, the gradient of 'inner.weight' is not" in sentence


class RootOfBoth(Root):
    """A weight whose gradient is finite, and one that is not used, come before the other."""

    def __init__(self) -> None:
        super().__init__()
        inner = self.inner
        del self.inner
        self.scale, self.idle = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + self.scale


def test_the_weight_whose_gradient_is_not_finite_is_named_and_no_other() -> None:
    data = spoil(toy_data("real"), "inputs", 7, 0.0)
    sentence, _ = caught(RootOfBoth(), data, task=plain(), lr=1e-3, optimizer="sgd")
    assert "the loss is finite, the gradient of 'inner.weight' is not" in sentence


def test_what_a_model_does_between_its_layers_is_seen() -> None:
    sentence, _ = caught(Logarithm(), toy_data("real"), task=plain())
    assert "the output of layer 'model' is not finite" in sentence


def test_an_infinite_loss_of_finite_outputs_is_seen() -> None:
    data = spoil(toy_data("real"), "targets", 2, 1e30)  # its square is too large for float32
    sentence, _ = caught(toy_net(), data, task=plain())
    assert "outputs are finite, the loss is not" in sentence


def test_a_learning_rate_that_explodes_is_caught_and_told() -> None:
    sentence, remember = caught(toy_net(), toy_data("real"), optimizer="sgd", lr=1e15)
    assert remember.state.step >= 1  # the first update was large, and finite
    assert re.search(r"the output of layer '\d' is not finite|the loss is not", sentence)
    assert sentence.endswith("the learning rate is 1e+15, a smaller one often helps")


def test_the_innermost_layer_is_named_and_all_hooks_are_taken_off() -> None:
    class Blow(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x / 0

    model = nn.Sequential(nn.Linear(3, 3), nn.Sequential(nn.ReLU(), Blow()), nn.Linear(3, 3))
    sentence, _ = caught(model, toy_data())
    assert "the output of layer '1.1' is not finite" in sentence
    assert not any(part._forward_hooks for part in model.modules())


def test_later_steps_and_epochs_are_counted() -> None:
    class Poison(Callback):
        def on_step_end(self, state: TrainState) -> None:
            if state.step == 6:  # 5 steps an epoch
                data.train.inputs[:] = NAN

    data = toy_data(val=0)
    with pytest.raises(RunError, match="non-finite value at step 7, epoch 2, batch 2 "):
        toy_fit(toy_net(), data, callbacks=[GuardNonFinite(), Poison()])


@for_each("precision", ["fp32", "fp16-mixed"])
@for_each("place", [0, 3, 4])
def test_of_batches_that_are_added_up_the_guilty_one_is_named(place: int, precision: str) -> None:
    row = first_rows(toy_data(), 0, [place])[0]
    data = spoil(toy_data(), "inputs", row, NAN)
    settings = {"accumulate": 5, "precision": precision}
    sentence, _ = caught(toy_net(batch_norm=True), data, **settings)
    assert f"at step 1, epoch 1, batch {place + 1} (rows [{row}, " in sentence
    assert f"the inputs of row {row} are not finite" in sentence


@for_each("settings", [{"l1": 0.1}, {"average": "exponential"}])
def test_what_follows_an_update_does_not_follow_a_bad_one(settings: dict[str, Any]) -> None:
    data = spoil(toy_data(rows=40), "inputs", first_rows(toy_data(rows=40), 0, [3])[0], NAN)
    means: list[Any] = []

    class Means(Callback):
        def on_step_end(self, state: TrainState) -> None:
            if state.average is not None:
                means.append((state.average.count, copy_of_tensors(state.average.mean)))

    remember, last = Remember(), Means()
    with pytest.raises(RunError, match="at step 4, "):
        toy_fit(toy_net(), data, callbacks=[GuardNonFinite(), remember, last], **settings)
    assert remember.state.step == 3
    assert_same(copy_of(remember.state.model), remember.weights)
    if remember.state.average is not None:
        assert means[2][0] == remember.state.average.count == 3
        for _, mean in means[2:]:  # with those of updates that moved nothing
            assert_same(remember.state.average.mean, mean)


def copy_of_tensors(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in tensors.items()}


def test_the_rate_that_is_told_is_that_of_the_bad_update() -> None:
    row = first_rows(toy_data(), 0, [3])[0]
    data = spoil(toy_data(), "inputs", row, NAN)
    sentence, remember = caught(toy_net(), data, warmup=10, lr=0.1)
    assert "the learning rate is 0.04," in sentence
    assert remember.state.samples == 12


def test_after_a_refusal_the_measures_and_the_schedule_are_those_before_the_bad_batch() -> None:
    data, bad = toy_data(rows=40), first_rows(toy_data(rows=40), 0, [3])[0]
    _, remember = caught(toy_net(), spoil(data, "inputs", bad, NAN), warmup=10)
    state, wanted = remember.state, toy_start(warmup=10)
    for _ in range(3):
        wanted.optimizer.step()
        wanted.schedule.step()
    assert state.schedule.state_dict() == wanted.schedule.state_dict()
    assert state.lr == wanted.lr
    assert (state.running.rows, len(state.recent.held), state.recent.updates) == (12, 3, 3)
    assert all(math.isfinite(value) for value in state.running.values().values())


@for_each("bad", [3, 4, 5])
def test_a_run_that_is_stopped_after_a_bad_batch_ends_by_it_and_is_cleaned_up(bad: int) -> None:
    data = spoil(toy_data(), "inputs", first_rows(toy_data(), 0, [bad - 1])[0], NAN)
    ended: list[str] = []

    class End(Callback):
        def on_abort(self, state: TrainState) -> None:
            ended.append("abort")
            assert "found_inf" not in vars(state.optimizer)

    calls = [GuardNonFinite(), End(), StepLimit(5)]
    with pytest.raises(RunError, match=f"at step {bad}, "):
        toy_fit(toy_net(), data, callbacks=calls, epochs=1)
    assert ended == ["abort"]


@pytest.mark.parametrize("optimizer", ["adam", "sgd", "lbfgs"])
@pytest.mark.parametrize("target", ["class", "labels", "real"])
def test_a_healthy_run_is_not_touched(target: Any, optimizer: str) -> None:
    watched, alone = (toy_net(dropout=0.3, batch_norm=True) for _ in range(2))
    settings: dict[str, Any] = {"optimizer": optimizer, "epochs": 1, "batch_size": 10}
    toy_fit(watched, toy_data(target), callbacks=[GuardNonFinite()], **settings)
    toy_fit(alone, toy_data(target), **settings)
    assert_same(copy_of(watched), copy_of(alone))


def test_large_gradients_are_no_alarm_although_their_squares_are_infinite() -> None:
    data = toy_data("real", val=0)
    huge = replace(data, train=replace(data.train, targets=data.train.targets * 1e17))
    settings = {"task": plain(), "optimizer": "sgd", "lr": 1e-20, "epochs": 1}
    norms: list[Tensor] = []

    class Norms(Callback):
        def on_before_update(self, state: TrainState) -> None:
            for parameter in state.model.parameters():
                assert parameter.grad is not None
                parameter.grad.mul_(1e5)
                norms.append(parameter.grad.norm())

    toy_fit(toy_net(), huge, callbacks=[Norms(), GuardNonFinite()], **settings)
    assert any(bool(norm.isinf()) for norm in norms)


def first_rows(data: Data, epoch: int, places: list[int]) -> list[int]:
    """The first row of each of these batches of 4 in an epoch."""
    order = BatchLoader(data.train, 4).order(epoch)
    return [int(order[4 * place]) for place in places]


def run(data: Data, policy: Policy, passed_over: Any = (), **settings: Any) -> dict[str, Any]:
    """All that a run leaves, with the draws that would come next."""
    early, draws = EarlyStopping(restore_best=False), list[float]()

    class Draw(Callback):
        def on_fit_end(self, state: TrainState) -> None:
            draws.append(torch.rand(()).item())

    calls = [GuardNonFinite(policy, [early]), early, Draw()]
    dropout = settings.pop("dropout", 0.0)
    trainer = toy_trainer(data, callbacks=calls, **{"schedule": "cosine", **settings})
    state = trainer.start(toy_net(batch_norm=True, dropout=dropout), data)
    state.passed_over = list(passed_over)
    trainer.fit(state, data)
    return {
        "model": copy_of(state.model),
        "optimizer": state.optimizer.state_dict(),
        "schedule": state.schedule.state_dict(),
        "history": [{**asdict(row), "time": 0} for row in state.history],
        "early": early.state_dict(),
        "counts": [state.epoch, state.step, state.samples],
        "passed_over": state.passed_over,
        "draws": draws,
    }


# In epochs 1, 2, 3 the row is in batch 2, 0, 3: at accumulate 2 the first or the second of a pair.
GUILTY = [(0, 2), (1, 0), (2, 3)]
PAIRS = [(0, 2), (0, 3), (1, 0), (1, 1), (2, 2), (2, 3)]


@for_each(("accumulate", "left_out"), [(1, GUILTY), (2, PAIRS)])
@for_each(("policy", "dropout"), [("skip", 0.0), ("roll-back", 0.4)])
def test_a_run_that_goes_on_is_the_one_that_passes_the_batches_over_from_the_start(
    policy: Policy, dropout: float, accumulate: int, left_out: list[tuple[int, int]]
) -> None:
    data = toy_data()
    row = first_rows(data, 0, [2])[0]
    settings = {"accumulate": accumulate, "dropout": dropout}
    got = run(spoil(data, "inputs", row, NAN), policy, **settings)
    assert got["passed_over"] == left_out
    assert_same(got, run(data, "stop", left_out, **settings))


@for_each("accumulate", [1, 2])
@for_each("policy", ["skip", "roll-back"])
def test_a_loop_written_by_hand_without_those_batches_ends_with_the_same_weights(
    policy: Policy, accumulate: int
) -> None:
    data, net, by_hand = toy_data(), toy_net(), toy_net()
    row = first_rows(data, 0, [2])[0]
    calls = [GuardNonFinite(policy)]
    spoilt = spoil(data, "inputs", row, NAN)
    toy_fit(net, spoilt, callbacks=calls, accumulate=accumulate, optimizer="sgd", lr=0.1)
    sgd = torch.optim.SGD(by_hand.parameters(), lr=0.1)
    for epoch in range(3):
        order = BatchLoader(data.train, 4).order(epoch)
        for start in range(0, 20, 4 * accumulate):
            rows = order[start : start + 4 * accumulate]
            if row not in rows:
                sgd.zero_grad()
                loss = F.cross_entropy(by_hand(data.train.inputs[rows]), data.train.targets[rows])
                loss.backward()  # type: ignore[no-untyped-call]
                sgd.step()
    assert_close(net, by_hand, 1e-6)


@for_each("policy", ["skip", "roll-back"])
def test_ten_updates_may_be_left_out_in_a_row_and_no_more(policy: Policy) -> None:
    data, most = toy_data(rows=100, val=0), MOST_IN_A_ROW  # 25 batches
    ten_twice = first_rows(data, 0, [*range(1, 1 + most), *range(2 + most, 2 + 2 * most)])
    settings: dict[str, Any] = {"callbacks": [GuardNonFinite(policy)], "epochs": 1}
    state = toy_fit(toy_net(), spoil(data, "inputs", ten_twice, NAN), **settings)
    assert (len(state.passed_over), state.step) == (2 * most, 25 - 2 * most)

    eleven = first_rows(data, 0, list(range(1, 2 + most)))
    net = toy_net(batch_norm=True)
    with pytest.raises(RunError) as refusal:
        toy_fit(net, spoil(data, "inputs", eleven, NAN), **settings)
    assert str(refusal.value).startswith(
        f"10 updates in a row were skipped; non-finite value at step 2, epoch 1, batch 12 "
        f"(rows [{eleven[-1]}, "
    )
    assert all(bool(tensor.isfinite().all()) for tensor in net.state_dict().values())


@for_each("policy", ["skip", "roll-back"])
def test_an_epoch_of_which_nothing_is_left_ends_the_run_by_that_reason(policy: Policy) -> None:
    data = toy_data()
    data.train.inputs[:] = NAN
    sentence = "there is nothing to measure: every batch of the epoch was skipped"
    with pytest.raises(RunError, match=f"^{sentence}$"):
        toy_fit(toy_net(), data, callbacks=[GuardNonFinite(policy)])


@for_each("policy", ["skip", "roll-back"])
def test_float16_goes_on_too_and_its_overflows_are_left_to_the_scaler(policy: Policy) -> None:
    data = toy_data()
    row = first_rows(data, 0, [2])[0]
    settings: dict[str, Any] = {"precision": "fp16-mixed", "epochs": 1}

    def fit(given: Data) -> TrainState:
        guard = GuardNonFinite(policy)
        return toy_fit(toy_net(batch_norm=True), given, callbacks=[guard], **settings)

    state = fit(spoil(data, "inputs", row, NAN))
    assert (state.passed_over, state.step) == ([(0, 2)], 4)
    assert state.scaler is not None
    assert state.scaler.get_scale() == 2.0 ** (15 if policy == "skip" else 16)
    assert all(bool(tensor.isfinite().all()) for tensor in state.model.state_dict().values())

    class Overflow(Callback):
        def on_fit_start(self, state: TrainState) -> None:
            weight = next(state.model.parameters())
            weight.register_hook(  # type: ignore[no-untyped-call]
                lambda grad: grad * torch.inf if state.samples == 8 else grad
            )

    calls = [Overflow(), GuardNonFinite(policy)]
    state = toy_fit(toy_net(), data, callbacks=calls, **settings)
    assert (state.passed_over, state.step) == ([], 4)


class StopAfter(Callback):
    """Ends after so many examples, also between two batches of one update."""

    def __init__(self, samples: int) -> None:
        self.samples = samples

    def on_batch_end(self, state: TrainState) -> None:
        if state.samples == self.samples:
            state.cut_short("enough")


@pytest.mark.parametrize("place", [1, 3])  # in the update that waits, in a later one
@pytest.mark.parametrize("policy", ["skip", "roll-back"])
def test_a_run_that_goes_on_between_two_batches_of_an_update_leaves_out_the_same(
    tmp_path: Path, policy: Policy, place: int
) -> None:
    data = spoil(toy_data(), "inputs", first_rows(toy_data(), 0, [place])[0], NAN)

    def trained(*calls: Callback, go_on: Path | None = None) -> TrainState:
        calls = (GuardNonFinite(policy), *calls)
        trainer = toy_trainer(data, callbacks=calls, accumulate=2)
        state = trainer.start(toy_net(), data)
        if go_on is not None:
            load_checkpoint(go_on, state)
        trainer.fit(state, data)
        return state

    stopped = trained(StopAfter(4))
    assert stopped.accumulated == 1
    save_checkpoint(tmp_path / "between", stopped)
    whole, resumed = trained(), trained(go_on=tmp_path / "between")
    assert resumed.passed_over == whole.passed_over
    assert_same(copy_of(resumed.model), copy_of(whole.model))
    assert_same(resumed.optimizer.state_dict(), whole.optimizer.state_dict())


@pytest.mark.parametrize("epoch", [0, 1])
@pytest.mark.parametrize("policy", ["stop", "skip", "roll-back"])
def test_a_run_that_is_cut_short_before_a_bad_update_is_left_out_can_be_saved(
    tmp_path: Path, policy: Policy, epoch: int
) -> None:
    class Spoil(Callback):
        def on_epoch_start(self, state: TrainState) -> None:
            if state.epoch == epoch:
                data.train.inputs[:] = NAN

    data, remember = toy_data(val=0), Remember()
    calls = [GuardNonFinite(policy), Spoil(), remember, StopAfter(20 * epoch + 4)]
    state = toy_fit(toy_net(batch_norm=True), data, callbacks=calls, accumulate=2)
    assert (state.samples, state.accumulated) == (20 * epoch + 4, 1)
    assert_same(copy_of(state.model), remember.weights)
    save_checkpoint(tmp_path / "between", state)


class SecondOfTwo(Ranks):
    """Rank 1, whose peer has finite losses and the gradients that all share."""

    def any(self, flag: bool, work: str = "") -> bool:
        return flag

    def gather(self, content: bytes, work: str = "") -> list[bytes]:
        return [b'[false, "I have seen nothing"]', content]


@for_each(("loss", "cause"), [(NAN, "rank 1: non-finite"), (1.0, "rank 0: I have seen")])
def test_of_several_ranks_the_one_whose_loss_is_not_finite_tells_the_cause(
    loss: float, cause: str
) -> None:
    state, guard = toy_start(), GuardNonFinite()
    guard.on_fit_start(state)
    state.ranks, state.batch = SecondOfTwo(1, 2), whole_batch(toy_data().train)
    state.loss = torch.tensor(loss)
    weight = state.learned_weights()[0]
    weight.grad = torch.full_like(weight, NAN)
    with pytest.raises(RunError, match=f"^{cause}"):
        guard.on_before_update(state)


def test_how_many_updates_were_left_out_in_a_row_goes_on_with_the_run() -> None:
    guard, again = GuardNonFinite("skip"), GuardNonFinite("skip")
    assert guard.state_dict() == {}
    guard.in_a_row, guard.last_bad = 3, (1, 4)
    again.load_state_dict(guard.state_dict())
    assert (again.in_a_row, again.last_bad) == (3, (1, 4))
    state = toy_start()
    state.samples = 4
    again.on_fit_start(state)
    assert again.in_a_row == 3
    state.samples = 0
    again.on_fit_start(state)
    assert (again.in_a_row, again.last_bad) == (0, (0, 0))
