"""oneDNN in training: which networks do without it, what is measured and kept; same results."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

import netwright as nw
from netwright.core.seeding import random_state
from netwright.data.spec import DataSpec
from netwright.models.mlp import MLP, MLPConfig
from netwright.train.callback import FunctionCallback
from netwright.train.profiling import onednn
from netwright.train.profiling.onednn import (
    FILE,
    LARGEST,
    Use,
    agreed_use,
    chosen_use,
    is_dense,
    measured_use,
    use_in,
    with_onednn,
)
from netwright.train.ranks import joined
from netwright.train.settings import TrainConfig
from tests.repetition import for_each
from tests.train.test_ranks import gives, run_ranks
from tests.train.toy_runs import assert_same, toy_data, toy_fit, toy_net

PATIENT = 60.0  # seconds, on a machine with much else to do
DENSE = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 2))


def is_on() -> bool:
    return bool(torch.backends.mkldnn.enabled)


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Use]:
    """What was measured, on a machine that is faster without it."""
    times: list[Use] = []

    def measure() -> tuple[Use, str]:
        times.append("off")
        return "off", "because"

    monkeypatch.setattr(onednn, "measured_use", measure)
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "new" / "home"))
    return times


def kept(tmp_path: Path) -> Path:
    return tmp_path / "new" / "home" / FILE


class Matrix(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 2)
        self.weight = nn.Parameter(torch.ones(2, 2))


def test_a_network_of_dense_layers_is_one() -> None:
    assert is_dense(DENSE)
    assert is_dense(nn.Linear(1024, LARGEST // 1024))
    spec = DataSpec(inputs="features", input_shape=(2,), target="class", num_outputs=2)
    assert is_dense(MLP.build(MLPConfig(hidden=(8, 8), dropout=0.1, residual=True), spec))


OTHERS: dict[str, Callable[[], nn.Module]] = {
    "no weights": nn.ReLU,
    "norm": lambda: nn.LayerNorm(3),
    "convolution": lambda: nn.Sequential(nn.Conv2d(1, 2, 3), nn.Linear(2, 2)),
    "recurrent": lambda: nn.Sequential(nn.GRU(2, 2), nn.Linear(2, 2)),
    "gelu": lambda: nn.Sequential(nn.Linear(2, 2), nn.GELU()),
    "own weight": Matrix,
    "large": lambda: nn.Linear(1024, LARGEST // 1024 + 1),
}


@for_each("name", OTHERS)
def test_others_are_not(name: str) -> None:
    assert not is_dense(OTHERS[name]())


def test_a_block_is_without_it_and_leaves_it_as_it_was() -> None:
    with with_onednn("off"):
        assert not is_on()
        with with_onednn("on"):
            assert not is_on()  # the caller's own choice stays
    assert is_on()
    with pytest.raises(KeyError), with_onednn("off"):
        raise KeyError
    assert is_on()


def test_of_blocks_that_overlap_the_last_one_restores_it() -> None:
    first, second = with_onednn("off"), with_onednn("off")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not is_on()
    second.__exit__(None, None, None)
    assert is_on()


def test_it_stays_off_where_the_caller_switched_it_off() -> None:
    torch._C._set_mkldnn_enabled(False)
    with with_onednn("off"):
        assert not is_on()
    assert not is_on()


def test_a_run_of_another_thread_that_ends_leaves_it_off() -> None:
    seen: list[bool] = []
    began, goes_on = threading.Event(), threading.Event()

    def hold(state: Any) -> None:
        began.set()
        assert goes_on.wait(PATIENT)

    def end_the_other(state: Any) -> None:
        goes_on.set()
        other.join(PATIENT)
        seen.append(is_on())

    def train(look: Callable[[Any], None]) -> None:
        watch = FunctionCallback("on_step_end", look)
        toy_fit(toy_net(), toy_data(), callbacks=[watch], onednn="off", epochs=1)

    other = threading.Thread(target=train, args=(hold,))
    other.start()
    assert began.wait(PATIENT)
    train(end_the_other)
    assert not other.is_alive()
    assert seen and not any(seen)
    assert is_on()


def test_while_it_is_off_nothing_is_measured(tmp_path: Path, measured: list[Use]) -> None:
    with with_onednn("off"):
        assert chosen_use() == "off"
    assert not measured and not kept(tmp_path).exists()
    chosen_use()
    assert measured == ["off"]


def test_it_is_measured_once_and_remembered_with_the_reason(
    tmp_path: Path, measured: list[Use]
) -> None:
    assert chosen_use() == chosen_use() == "off"
    assert measured == ["off"]
    [(kind, choice)] = json.loads(kept(tmp_path).read_text()).items()
    assert choice == {"use": "off", "reason": "because"}
    assert f"{torch.get_num_threads()} threads, torch {torch.__version__}" in kind
    kept(tmp_path).write_text(json.dumps({kind: {"use": "on", "reason": "measured elsewhere"}}))
    assert chosen_use() == "on"


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"a": 1}', '{"KIND": {"use": "perhaps"}}', '{"KIND": "off"}']
)
def test_what_no_measurement_gives_is_measured_again(
    text: str, tmp_path: Path, measured: list[Use]
) -> None:
    chosen_use()
    [kind] = json.loads(kept(tmp_path).read_text())
    kept(tmp_path).write_text(text.replace("KIND", kind))
    assert chosen_use() == "off"
    assert len(measured) == 2
    assert json.loads(kept(tmp_path).read_text())[kind]["use"] == "off"


def test_where_nothing_can_be_kept_it_is_measured_each_time(
    tmp_path: Path, measured: list[Use], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NETWRIGHT_HOME", str(tmp_path / "file" / "home"))
    assert chosen_use() == chosen_use() == "off"
    assert len(measured) == 2


def test_it_goes_where_a_small_layer_is_at_least_twice_as_fast_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds = {"on": 21e-6, "off": 10e-6}
    monkeypatch.setattr(onednn, "_layer_seconds", lambda use: seconds[use])
    use, reason = measured_use()
    assert use == "off"
    assert reason == ("128 rows through a layer of 128 x 10 take 21 us with oneDNN, 10 us without")
    seconds["on"] = 20e-6
    assert measured_use()[0] == "on"


def test_measuring_draws_nothing_and_leaves_the_flag() -> None:
    before = random_state()
    use, _ = measured_use()
    assert use in {"on", "off"}
    assert_same(random_state(), before)
    assert is_on()


def test_what_is_asked_for_is_done(measured: list[Use]) -> None:
    assert use_in(DENSE, TrainConfig(onednn="on", device="cpu")) == "on"
    assert use_in(nn.Conv1d(1, 1, 1), TrainConfig(onednn="off", device="cpu")) == "off"
    assert not measured
    assert use_in(DENSE, TrainConfig(device="cpu")) == "off"


@pytest.mark.parametrize("changed", [{"precision": "bf16-mixed"}, {"compile": True}])
def test_other_kernels_keep_it(changed: dict[str, Any], measured: list[Use]) -> None:
    assert use_in(DENSE, TrainConfig(device="cpu", **changed)) == "on"
    assert use_in(OTHERS["convolution"](), TrainConfig(device="cpu")) == "on"
    assert not measured


def test_a_run_trains_without_it_and_says_so_where_it_goes_on_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[bool] = []

    def look(state: Any) -> None:
        seen.append(is_on())

    def fit(**settings: Any) -> None:
        nw.fit(
            "mlp", "moons", hidden=(8,), device="cpu", callbacks={"on_step_end": look}, **settings
        )

    fit(out=tmp_path / "run", epochs=1, onednn="off")
    assert seen and not any(seen)
    assert is_on()
    fit(resume=tmp_path / "run", epochs=2, onednn="off")
    assert "last bits" not in capsys.readouterr().err
    seen.clear()
    fit(resume=tmp_path / "run", epochs=3, onednn="on")
    assert seen and all(seen)
    assert "oneDNN was off, is on: results may differ" in capsys.readouterr().err


@pytest.mark.parametrize("saved", get_args(Use))
def test_a_resumed_run_keeps_the_choice_of_its_checkpoint(
    saved: Use, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[bool] = []

    def fit(**settings: Any) -> None:
        look = {"on_step_end": lambda state: seen.append(is_on())}
        nw.fit("mlp", "moons", hidden=(8,), device="cpu", callbacks=look, **settings)

    monkeypatch.setattr(onednn, "chosen_use", lambda: saved)
    fit(out=tmp_path / "run", epochs=1)
    monkeypatch.setattr(onednn, "chosen_use", lambda: "on" if saved == "off" else "off")
    fit(resume=tmp_path / "run", epochs=2)
    assert set(seen) == {saved == "on"}
    assert "oneDNN" not in capsys.readouterr().err


def agree() -> Use:
    onednn.chosen_use = lambda: "off" if os.environ["RANK"] == "0" else "on"
    with joined(PATIENT) as ranks:
        return agreed_use(DENSE, TrainConfig(device="cpu"), ranks)


def test_all_ranks_take_the_choice_of_the_first(tmp_path: Path) -> None:
    assert gives(run_ranks(tmp_path, 2, agree)) == ["off", "off"]


def steps_of(use: Use, updates: int) -> tuple[Tensor, list[Tensor], list[Tensor]]:
    """The first logits and gradients of an MLP, and its weights after so many updates."""
    random = torch.Generator().manual_seed(0)
    inputs = torch.randn(updates, 128, 64, generator=random)
    labels = torch.randint(0, 10, (updates, 128), generator=random)
    with torch.random.fork_rng(), with_onednn(use):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        first: tuple[Tensor, list[Tensor]] | None = None
        for batch, targets in zip(inputs, labels, strict=True):
            logits = model(batch)
            optimizer.zero_grad()
            torch.autograd.backward(cross_entropy(logits, targets))
            grads = [weight.grad for weight in model.parameters() if weight.grad is not None]
            first = first or (logits.detach(), [grad.clone() for grad in grads])
            optimizer.step()
    assert first is not None
    return *first, [weight.detach() for weight in model.parameters()]


def test_logits_gradients_and_the_weights_after_50_updates_are_the_same() -> None:
    for got, wanted in zip(steps_of("off", 50), steps_of("on", 50), strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-5)
