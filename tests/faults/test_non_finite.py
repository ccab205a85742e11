"""T23: NaN and infinity in inputs, targets, the loss or a gradient: no weight ever sees them.

The guilty batch is found in its own step, whatever the policy; what the run leaves, in memory and
on disk, is finite.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

import netwright as nw
from netwright.core.errors import RunError
from netwright.core.outputs import Output
from netwright.data.dataset import Data
from netwright.data.loading.loader import Batch, BatchLoader
from netwright.train.callback import Callback
from netwright.train.callbacks import non_finite, save_checkpoints
from netwright.train.callbacks.non_finite import MOST_IN_A_ROW, GuardNonFinite
from netwright.train.callbacks.save_checkpoints import SaveCheckpoints
from netwright.train.run_setting_groups import Policy
from netwright.train.saving.checkpoint import begin_save
from netwright.train.saving.checkpoint_store import list_checkpoints, newest_good
from netwright.train.state import TrainState
from netwright.train.tasks.regression import Regression
from netwright.train.updates import capture_rules
from tests.faults.scenario import Figures, Scenario
from tests.faults.test_io_faults import quick_disk
from tests.train.toy_runs import FEATURES, copy_of, toy_data, toy_fit, toy_net

NAN, INF = float("nan"), float("inf")
BATCHES = 5  # of 4 rows, in an epoch
POLICIES: tuple[Policy, ...] = ("stop", "skip", "roll-back")
KINDS: dict[str, tuple[str, float]] = {
    "input NaN": ("inputs", NAN),
    "input Inf": ("inputs", INF),
    "target NaN": ("targets", NAN),
    "loss": ("loss", INF),
    "gradient": ("gradient", NAN),
}


@dataclass(frozen=True)
class Case:
    """A fault and where it comes for the first time.

    Args:
        kind: of `KINDS`.
        policy: what is to be done.
        place: the batch of the epoch.
        epoch: the epoch.
        settings: of training.
    """

    kind: str
    policy: Policy
    place: int = 2
    epoch: int = 0
    settings: dict[str, Any] = field(default_factory=dict)


PLACES = ((2, 0), (0, 0), (4, 0), (1, 1), (3, 1))  # in the middle, first, last; in a later epoch
CASES = [
    Case(kind, policy, place, epoch)
    for policy in POLICIES
    for kind, (place, epoch) in zip(KINDS, PLACES, strict=True)
]
CASES += [Case("input NaN", policy, settings={"accumulate": 2}) for policy in POLICIES]
CASES += [
    Case("input NaN", policy, settings={"precision": "fp16-mixed"}) for policy in POLICIES[:2]
]
CASES += [Case("input NaN", "stop", 3, settings={"optimizer": "lbfgs"})]


class Poisoned(Regression):
    """A task whose loss is spoilt where a certain row learns."""

    row: int = -1

    def loss(self, output: Tensor | Output, batch: Batch) -> Tensor:
        loss = super().loss(output, batch)
        bad = torch.is_grad_enabled() and self.row in batch.rows
        return loss * INF if bad else loss


class Poison(Callback):
    """Puts a fault into the data, the task or the model when its epoch begins."""

    def __init__(self, case: Case, data: Data, task: Poisoned, row: int) -> None:
        self.case, self.data, self.task, self.row = case, data, task, row
        self.done = False

    def on_epoch_start(self, state: TrainState) -> None:
        if self.done or state.epoch != self.case.epoch:
            return
        self.done = True
        what, value = KINDS[self.case.kind]
        if what == "loss":
            self.task.row = self.row
        elif what == "gradient":
            first = next(state.model.parameters())
            first.register_hook(self.spoil_gradient(state))  # type: ignore[no-untyped-call]
        else:
            getattr(self.data.train, what)[self.row] = value

    def spoil_gradient(self, state: TrainState) -> Callable[[Tensor], Tensor]:
        def spoil(grad: Tensor) -> Tensor:
            assert state.batch is not None
            return grad * NAN if self.row in state.batch.rows else grad

        return spoil


class Watch(Callback):
    """What was learned from, and whether anything was ever not finite after a batch.

    An update that turns out to have moved nothing is not counted by the run: its step is behind the
    last, or made again.
    """

    def __init__(self) -> None:
        self.places: dict[int, tuple[int, int]] = {}
        self.weights: dict[int, dict[str, Tensor]] = {}
        self.poisoned = 0

    def on_fit_start(self, state: TrainState) -> None:
        self.state = state
        self.weights[0] = copy_of(state.model)

    def on_step_end(self, state: TrainState) -> None:
        self.places[state.step] = (state.epoch, state.position - 1)
        self.weights[state.step] = copy_of(state.model)

    def on_batch_end(self, state: TrainState) -> None:
        self.poisoned += count_bad(state.model.state_dict())

    @property
    def updates(self) -> list[tuple[int, int]]:
        return [place for step, place in self.places.items() if step <= self.state.step]

    @property
    def good(self) -> dict[str, Tensor]:
        return self.weights[max(step for step in self.weights if step <= self.state.step)]


def count_bad(tensors: dict[str, Tensor]) -> int:
    return sum(not bool(tensor.isfinite().all()) for tensor in tensors.values())


@dataclass
class Outcome:
    """What a case gave: whether the promise held, and what is not finite."""

    caught: bool
    poisoned: int


def judge(case: Case, folder: Path, device: str = "cpu") -> Outcome:
    """Train with the fault."""
    folder.mkdir()
    data, task = toy_data("real").to(torch.device(device)), Poisoned.plain(3)
    order = BatchLoader(data.train, 4).order(case.epoch)
    row = int(order[4 * case.place + 1])
    watch = Watch()
    save = SaveCheckpoints(folder, every_steps=1, keep=2)
    calls = [Poison(case, data, task, row), GuardNonFinite(case.policy), watch, save]
    settings = {"epochs": case.epoch + 2, "optimizer": "momentum", "lr": 0.01, **case.settings}
    settings |= {"device": device, "on_non_finite": case.policy}
    net = toy_net(batch_norm=True)
    state: TrainState | None = None
    sentence = ""
    try:
        state = toy_fit(net, data, callbacks=calls, task=task, **settings)
    except RunError as error:
        sentence = str(error)
    guilty = guilty_places(data, row, case, settings)
    caught = not set(watch.updates) & set(guilty) and newest_good(folder)[1] == []
    if case.policy == "stop":
        caught = caught and is_told(case, sentence, row, order) and is_same(net, watch.good)
    else:
        caught = caught and state is not None and state.passed_over == guilty
    on_disk = sum(
        count_bad(load_file(place / "model.safetensors")) for place in list_checkpoints(folder)
    )
    return Outcome(caught, watch.poisoned + count_bad(net.state_dict()) + on_disk)


def guilty_places(
    data: Data, row: int, case: Case, settings: dict[str, Any]
) -> list[tuple[int, int]]:
    """The batches of all updates that the row has a part in, from the first fault on."""
    together, found = settings.get("accumulate", 1), list[tuple[int, int]]()
    for epoch in range(case.epoch, settings["epochs"]):
        place = BatchLoader(data.train, 4).order(epoch).tolist().index(row) // 4
        first = place // together * together
        found += [(epoch, near) for near in range(first, min(first + together, BATCHES))]
    return found


def is_told(case: Case, sentence: str, row: int, order: Tensor) -> bool:
    """Whether the refusal names the step, the batch and its rows."""
    together = case.settings.get("accumulate", 1)
    step = (case.epoch * BATCHES + case.place) // together + 1
    rows = order[4 * case.place :][:4].tolist()
    where = f"at step {step}, epoch {case.epoch + 1}, batch {case.place + 1} (rows {rows} ...)"
    return where in sentence and row in rows


def is_same(net: nn.Module, wanted: dict[str, Tensor]) -> bool:
    return all(torch.equal(tensor, wanted[name]) for name, tensor in net.state_dict().items())


def stops_in_a_row(policy: Policy, device: str = "cpu") -> Outcome:
    """One batch more than may be left out: whether the run ends, with finite weights."""
    data, net = toy_data(rows=80, val=0), toy_net(batch_norm=True)
    order = BatchLoader(data.train, 4).order(0)
    data.train.inputs[order[4 : 8 + 4 * MOST_IN_A_ROW : 4]] = NAN
    sentence = ""
    try:
        toy_fit(net, data, callbacks=[GuardNonFinite(policy)], epochs=1, device=device)
    except RunError as error:
        sentence = str(error)
    wanted = f"{MOST_IN_A_ROW} updates in a row were skipped; non-finite value at step 2, "
    return Outcome(sentence.startswith(wanted), count_bad(net.state_dict()))


class Own(nn.Module):
    """A caller's module that gives NaN for one of the rows, while it learns."""

    def __init__(self, row: Tensor) -> None:
        super().__init__()
        self.scores, self.row = nn.Linear(FEATURES, 3), row

    def forward(self, x: Tensor) -> Tensor:
        bad = (x == self.row).all(dim=1, keepdim=True) & self.training
        scores: Tensor = self.scores(x.masked_fill(bad, NAN))
        return scores


def goes_on_with_own(policy: Policy, folder: Path, device: str = "cpu") -> Outcome:
    """The same by `nw.fit`: the run ends well and its notes name the first batch."""
    data = toy_data()
    row = int(BatchLoader(data.train, 4).order(0)[4 * 3])
    model = Own(data.train.inputs[row].to(device))
    settings: dict[str, Any] = {"batch_size": 4, "epochs": 3, "on_non_finite": policy}
    settings["device"] = device
    ended = nw.fit(model, data, out=folder, quiet=True, **settings)
    note = "batches skipped because of non-finite values: 3, the first is batch 4 of epoch 1"
    poisoned = count_bad(model.state_dict()) + count_bad(
        load_file(folder / "model/model.safetensors")
    )
    return Outcome(note in ended.results["notes"], poisoned)


def measure(folder: Path, device: str = "cpu") -> Figures:
    with quick_disk():
        outcomes = [judge(case, folder / str(number), device) for number, case in enumerate(CASES)]
        for policy in POLICIES[1:]:
            own = goes_on_with_own(policy, folder / policy, device)
            outcomes += [stops_in_a_row(policy, device), own]
    return Figures(
        n=len(outcomes),
        passed=sum(outcome.caught and not outcome.poisoned for outcome in outcomes),
        counts={
            "caught in their step": sum(outcome.caught for outcome in outcomes),
            "poisoned tensors": sum(outcome.poisoned for outcome in outcomes),
        },
    )


SCENARIO = Scenario(
    code="T23",
    title="Numbers that are not finite",
    measure=measure,
    least={"caught in their step": 25},
)


def test_no_weight_sees_a_number_that_is_not_finite(tmp_path: Path) -> None:
    figures = measure(tmp_path)
    assert SCENARIO.is_green(figures), figures
    assert (figures.n, figures.counts["poisoned tensors"]) == (25, 0)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize("sees_each", [True, False])
def test_so_it_is_on_cuda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sees_each: bool) -> None:
    """Where a caller's callback sees each update, and where nobody does and none is waited for."""
    if not sees_each:
        monkeypatch.setattr(capture_rules, "KNOWN", (*capture_rules.KNOWN, "tests."))
    figures = measure(tmp_path, "cuda")
    assert (figures.n, figures.counts["caught in their step"]) == (25, 25)
    assert figures.counts["poisoned tensors"] == 0


def unguarded(folder: Path) -> Path | None:
    """The newest checkpoint of a run whose third update is poison, and that nobody guards."""
    data = toy_data()
    data.train.inputs[BatchLoader(data.train, 4).order(0)[8]] = NAN
    with suppress(RunError):
        toy_fit(toy_net(), data, callbacks=[SaveCheckpoints(folder, every_steps=1)])
    return newest_good(folder)[0]


def test_weights_that_are_not_finite_are_never_written(tmp_path: Path) -> None:
    assert unguarded(tmp_path) == tmp_path / "checkpoints" / "step-000002"


def test_planted_bug_a_checkpoint_that_is_not_looked_at_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unchecked(*args: Any, then: Callable[[], None]) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Tensor, "isfinite", lambda values: torch.tensor(True))
            begin_save(*args, then=then)

    monkeypatch.setattr(save_checkpoints, "begin_save", unchecked)
    assert unguarded(tmp_path) != tmp_path / "checkpoints" / "step-000002"


class LooksAfterwards(GuardNonFinite):
    """Planted: the weights have moved when it looks."""

    def on_before_update(self, state: TrainState) -> None:
        pass

    def on_step_end(self, state: TrainState) -> None:
        if count_bad(state.model.state_dict()):
            raise RunError("too late")


class LooksAtTheLoss(GuardNonFinite):
    """Planted: gradients are not looked at."""

    def on_before_update(self, state: TrainState) -> None:
        if not state.loss.isfinite():
            super().on_before_update(state)


class LeavesBuffers(GuardNonFinite):
    """Planted: the forward pass of a bad batch stays in batch norm's running sums."""

    def on_epoch_start(self, state: TrainState) -> None:
        super().on_epoch_start(state)
        self.buffers, self.before = [], []


@pytest.mark.parametrize(
    ("guard", "case"),
    [
        (LooksAfterwards, Case("input NaN", "stop")),
        (LooksAfterwards, Case("gradient", "stop")),
        (LooksAtTheLoss, Case("gradient", "stop")),
        (LooksAtTheLoss, Case("gradient", "roll-back")),
        (LeavesBuffers, Case("input Inf", "skip")),
        (LeavesBuffers, Case("input NaN", "stop")),
    ],
)
def test_planted_bugs_of_the_guard_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guard: type[GuardNonFinite], case: Case
) -> None:
    monkeypatch.setitem(globals(), "GuardNonFinite", guard)
    outcome = judge(case, tmp_path / "case")
    assert outcome.poisoned or not outcome.caught


def test_planted_bug_a_patience_without_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(non_finite, "MOST_IN_A_ROW", 10**6)
    assert not stops_in_a_row("skip").caught
