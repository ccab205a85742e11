"""The doctor beside real runs: planted illnesses are found, healthy runs are left in peace."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import netwright as nw
from netwright.core.errors import RunError
from netwright.core.finding import Finding
from netwright.core.seeding import seeded
from netwright.data.dataset import Data, Split
from netwright.models.catalog import MODELS
from netwright.recipes.explain.explain import explain
from netwright.recipes.fitting.run_findings import options_taken
from netwright.recipes.run.report import write_report
from netwright.train.callback import Callback
from netwright.train.callbacks.doctor import Doctor
from netwright.train.state import TrainState
from netwright.train.watching.symptoms import OPTIONS
from tests.repetition import slow_but
from tests.train.toy_runs import FEATURES, OUTPUTS, toy_data

SHORT: dict[str, Any] = {"epochs": 3, "batch_size": 16, "device": "cpu", "quiet": True}


def net(
    *,
    depth: int = 1,
    width: int = 32,
    activation: type[nn.Module] = nn.ReLU,
    gain: float = 1.0,
    bias: float = 0.0,
) -> nn.Sequential:
    """Hidden layers as He draws them; a plant makes weights `gain` times as large, sets biases."""
    layers: list[nn.Module] = []
    with seeded(0):
        widths = [FEATURES, *[width] * depth]
        for before in widths[:-1]:
            layer = nn.Linear(before, width)
            nn.init.kaiming_normal_(layer.weight)
            with torch.no_grad():
                layer.weight.mul_(gain)
                layer.bias.fill_(bias)
            layers += [layer, activation()]
        return nn.Sequential(*layers, nn.Linear(widths[-1], OUTPUTS))


class TwoParts(nn.Module):
    """A first and a second part; detached, the first never hears of the loss."""

    def __init__(self, *, is_detached: bool) -> None:
        super().__init__()
        with seeded(0):
            self.first, self.second = nn.Linear(FEATURES, 16), nn.Linear(16, OUTPUTS)
        self.is_detached = is_detached

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.first(x).relu()
        output: Tensor = self.second(hidden.detach() if self.is_detached else hidden)
        return output


class Logarithm(nn.Module):
    """The log of what a ReLU left: minus infinity where that is 0."""

    def forward(self, x: Tensor) -> Tensor:
        return x.relu().log()


def usual() -> Data:
    return toy_data(rows=128, val=48, test=48)


def mixed_up(rows: int) -> Data:
    """Classes that have nothing to do with the inputs."""
    data, random = toy_data(rows=rows, val=48, test=48), torch.Generator().manual_seed(1)

    def mixed(split: Split) -> Split:
        order = torch.randperm(len(split), generator=random)
        return replace(split, targets=split.targets[order])

    assert data.val is not None
    assert data.test is not None
    return replace(data, train=mixed(data.train), val=mixed(data.val), test=mixed(data.test))


def rare(*, apart: float) -> Data:
    """One row in 500 is of a second class, which lies so far from the first; a third is common."""
    data = toy_data(rows=2000, val=500, test=500)

    def thinned(split: Split) -> Split:
        is_rare = torch.arange(len(split)) % 500 == 0
        inputs = split.inputs + apart * is_rare[:, None] * torch.tensor([-1.0, 1.0, -1.0])
        common = (split.inputs[:, 0] > 0).long() * 2
        return Split(inputs=inputs, targets=torch.where(is_rare, 1, common))

    assert data.val is not None
    assert data.test is not None
    return replace(data, train=thinned(data.train), val=thinned(data.val), test=thinned(data.test))


def far_off(value: float) -> Data:
    """The inputs themselves, but for three rows."""
    data = toy_data("real", rows=300, val=48, test=48)
    targets = data.train.targets.clone()
    targets[[5, 80, 200]] = value
    return replace(data, train=replace(data.train, targets=targets))


def one_of_a_kind(*, is_one: bool) -> Data:
    """The last class has one training row, or as many as it should."""
    data = toy_data(rows=128, val=48, test=48)
    rows = (data.train.targets != 2).nonzero().flatten().tolist()
    last = (data.train.targets == 2).nonzero().flatten().tolist()
    return replace(data, train=data.train.take(torch.tensor(rows + last[: 1 if is_one else None])))


class Spoil(Callback):
    """A number of one row is lost after the data was checked, as in a file that is read late."""

    def __init__(self, data: Data) -> None:
        self.data = data

    def on_fit_start(self, state: TrainState) -> None:
        self.data.train.inputs[77, 1] = torch.nan


@dataclass(frozen=True, kw_only=True)
class Plant:
    """An illness, the run that has it and the same run without it.

    Args:
        illness: what is to be found.
        ill: model and data of the ill run.
        well: of its healthy twin; the same where only settings make it ill.
        settings: of both.
        poison: settings of the ill run alone.
    """

    illness: str
    ill: Callable[[], tuple[nn.Module, Data]]
    well: Callable[[], tuple[nn.Module, Data]] = lambda: (net(), usual())
    settings: dict[str, Any] = field(default_factory=dict)
    poison: dict[str, Any] = field(default_factory=dict)


PLANTS = {
    "biases of -100": Plant(illness="dead-units", ill=lambda: (net(bias=-100.0), usual())),
    "tanh of weights 100 times too large": Plant(
        illness="saturated-units",
        ill=lambda: (net(activation=nn.Tanh, gain=100.0), usual()),
        well=lambda: (net(activation=nn.Tanh), usual()),
    ),
    "twelve layers, each four times too large": Plant(
        illness="exploding-gradients",
        ill=lambda: (net(depth=12, gain=4.0), usual()),
        well=lambda: (net(depth=12), usual()),
    ),
    "twelve layers of sigmoids": Plant(
        illness="vanishing-gradients",
        ill=lambda: (net(depth=12, activation=nn.Sigmoid), usual()),
        well=lambda: (net(depth=12), usual()),
    ),
    "a learning rate of 100": Plant(
        illness="rate-too-high", ill=lambda: (net(), usual()), poison={"lr": 100.0}
    ),
    "a learning rate of 1e-7": Plant(
        illness="rate-too-low", ill=lambda: (net(), usual()), poison={"lr": 1e-7}
    ),
    "a wide net on 24 rows of chance": Plant(
        illness="overfitting",
        ill=lambda: (net(width=256), mixed_up(24)),
        well=lambda: (net(width=256), usual()),
        settings={"epochs": 15, "lr": 0.01},
    ),
    "classes that follow from nothing": Plant(
        illness="plateau",
        ill=lambda: (net(depth=0), mixed_up(128)),
        well=lambda: (net(depth=0), usual()),
        settings={"epochs": 10, "lr": 0.02},
    ),
    "a first part that is detached": Plant(
        illness="frozen-part",
        ill=lambda: (TwoParts(is_detached=True), usual()),
        well=lambda: (TwoParts(is_detached=False), usual()),
    ),
    "a softmax before the cross-entropy": Plant(
        illness="squashed-outputs",
        ill=lambda: (nn.Sequential(net(), nn.Softmax(dim=1)), usual()),
    ),
    "one row in 500 of a class": Plant(
        illness="imbalance",
        ill=lambda: (net(), rare(apart=1.0)),
        well=lambda: (net(), rare(apart=20.0)),
        settings={"lr": 0.01},
    ),
    "three targets of 1e5": Plant(
        illness="target-outliers",
        ill=lambda: (net(), far_off(1e5)),
        well=lambda: (net(), far_off(1.0)),
        settings={"epochs": 5, "lr": 0.01},
    ),
    "a class of one row": Plant(
        illness="single-row-class",
        ill=lambda: (net(), one_of_a_kind(is_one=True)),
        well=lambda: (net(), one_of_a_kind(is_one=False)),
    ),
}


# The other illnesses are found in networks of many layers, or among many rows.
QUICK_PLANTS = [
    *("biases of -100", "tanh of weights 100 times too large", "a learning rate of 100"),
    *("a learning rate of 1e-7", "a first part that is detached", "three targets of 1e5"),
    *("a softmax before the cross-entropy", "a class of one row"),
]


def findings(given: tuple[nn.Module, Data], out: Path, settings: dict[str, Any]) -> list[Finding]:
    model, data = given
    run = nw.fit(model, data, out=out, **{**SHORT, **settings})
    return [Finding(**values) for values in run.results["findings"]]


@pytest.mark.parametrize("name", slow_but(QUICK_PLANTS, PLANTS))
def test_a_planted_illness_is_found_and_its_twin_is_in_good_health(
    tmp_path: Path, name: str
) -> None:
    plant = PLANTS[name]
    ill = findings(plant.ill(), tmp_path / "ill", {**plant.settings, **plant.poison})
    assert [finding.illness for finding in ill] == [plant.illness]
    assert explain(ill[0].see)
    assert findings(plant.well(), tmp_path / "well", plant.settings) == []


@pytest.mark.parametrize(
    ("model", "is_spoilt", "sentence"),
    [
        (net, True, "the inputs of row 77 are not finite"),
        (lambda: nn.Sequential(net(), Logarithm()), False, "the output of layer '1' is not finite"),
    ],
    ids=["a row that holds NaN", "the logarithm of 0"],
)
def test_where_nan_comes_from_is_told_beside_the_error_that_ends_the_run(
    tmp_path: Path,
    model: Callable[[], nn.Module],
    is_spoilt: bool,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = usual()
    calls = [Spoil(data)] if is_spoilt else []
    with pytest.raises(RunError, match=sentence):
        nw.fit(model(), data, out=tmp_path, callbacks=calls, **{**SHORT, "quiet": False})
    (told,) = [line for line in capsys.readouterr().err.splitlines() if "doctor:" in line]
    assert sentence in told
    assert explain(told.rpartition("netwright explain ")[2].rstrip(")"))


def test_no_two_plants_are_of_the_same_illness() -> None:
    assert len({plant.illness for plant in PLANTS.values()}) == len(PLANTS) == 13


@pytest.fixture(scope="module")
def prose(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prose") / "book.txt"
    path.write_text("the quick brown fox jumps over the lazy dog, and then it sleeps. " * 80)
    return path


TINY_GPT = {"width": 16, "layers": 1, "heads": 2, "batch_size": 4, "epochs": 2}
HEALTHY: dict[str, tuple[str, str, dict[str, Any]]] = {
    "mlp on digits": ("mlp", "digits", {"epochs": 1}),
    "cnn on digits": ("cnn", "digits", {"epochs": 1}),
    "linear regression on diabetes": ("linear-regression", "diabetes", {"epochs": 5}),
    "lstm on adding": ("lstm", "adding", {"n": 400, "length": 10, "epochs": 3}),
    "gpt on a book": ("gpt", "book", TINY_GPT),
    "tanhs that are sure of moons": (
        "mlp",
        "moons",
        {"activation": "tanh", "lr": 0.05, "epochs": 15},
    ),
}


@pytest.mark.parametrize("name", slow_but(["mlp on digits", "gpt on a book"], HEALTHY))
def test_of_a_healthy_run_nothing_is_said(
    tmp_path: Path, name: str, prose: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data, settings = HEALTHY[name]
    source: str | Path = prose if data == "book" else data
    run = nw.fit(model, source, out=tmp_path / "run", **settings)
    assert run.results["findings"] == []
    assert "doctor" not in capsys.readouterr().err
    steps = max(row.step for row in run.history)  # one search is enough for a line
    assert len(run.layer_history) >= min(10, steps)


@pytest.mark.parametrize(
    ("optimizer", "lr", "lower", "epochs"),
    [
        ("adam", 0.3, "0.03", 1),
        ("sgd", 5.0, "0.5", 1),
        ("sgd", 2.0, "0.2", 1),
        ("sgd", 1.0, "0.1", 3),
    ],
)
def test_a_rate_that_kills_units_is_blamed_for_it(
    tmp_path: Path, optimizer: str, lr: float, lower: str, epochs: int
) -> None:
    run = nw.fit(
        "mlp",
        "digits",
        out=tmp_path / "run",
        hidden=(64, 32),
        optimizer=optimizer,
        lr=lr,
        **{**SHORT, "epochs": epochs, "batch_size": 32},
    )
    (finding,) = (Finding(**values) for values in run.results["findings"])
    assert finding.illness == "rate-too-high"
    assert "of the ReLU units after layer" in finding.sentence
    assert finding.fix == (
        f"Lower the learning rate, which was {lr:g}: try --lr {lower}, or let --find-lr suggest one"
    )


def test_relu6_of_a_module_of_ones_own_is_in_good_health(tmp_path: Path) -> None:
    with seeded(0):
        model = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU6(), nn.Linear(64, 10))
    assert nw.fit(model, "digits", out=tmp_path / "run", **SHORT).results["findings"] == []


@pytest.mark.parametrize(("clip_norm", "is_ill"), [(1.0, False), (1e9, True)])
def test_a_gradient_is_not_cut_by_a_limit_beyond_its_length(
    tmp_path: Path, clip_norm: float, is_ill: bool
) -> None:
    found = findings((net(depth=12, gain=4.0), usual()), tmp_path / "run", {"clip_norm": clip_norm})
    assert ("exploding-gradients" in [one.illness for one in found]) == is_ill


@pytest.mark.slow
def test_only_a_model_that_has_the_option_is_told_to_use_it(tmp_path: Path) -> None:
    given = {"hidden": (16,) * 12, "activation": "sigmoid", **SHORT, "epochs": 1}
    (told,) = nw.fit("mlp", usual(), out=tmp_path / "run", **given).results["findings"]
    name, _, value = told["fix"].partition("--set model.")[2].partition(")")[0].partition("=")
    assert (name, value) == ("activation", "relu")
    assert nw.fit("mlp", usual(), out=tmp_path / "mended", **{**given, name: value})
    (untold,) = findings((net(depth=12, activation=nn.Sigmoid), usual()), tmp_path / "own", {})
    assert untold.illness == told["illness"] == "vanishing-gradients"
    assert "--set" not in untold.fix


def test_of_lenet_elman_and_resnet_only_the_first_is_told_options_it_takes() -> None:
    lenet, elman, resnet = (
        options_taken(MODELS.load(name).settings()) for name in ("lenet5", "elman", "resnet18")
    )
    assert lenet == set(OPTIONS)
    assert elman == resnet == set()  # the initializer of elman is one of two


def reported(run: nw.Run, folder: Path) -> str:
    """The page of a run, without the views, which take longer."""
    page = write_report(folder / "page.html", run, {}, sample=None, environment={})
    return page.read_text(encoding="utf-8")


def test_what_was_found_is_told_written_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    run = nw.fit(net(bias=-100.0), usual(), out=out, **{**SHORT, "quiet": False})
    (finding,) = (Finding(**values) for values in run.results["findings"])
    assert f"note: doctor: {finding}" in capsys.readouterr().err
    opened = nw.open_run(out, net())
    assert opened.results["findings"] == run.results["findings"]
    assert opened.layer_history.to_text() == run.layer_history.to_text()
    assert json.loads((out / "layers.jsonl").read_text().split("\n")[0]) == {"layers": ["0", "2"]}
    page = reported(run, tmp_path)
    assert "Doctor" in page
    assert "of the ReLU units after layer" in page
    assert "netwright explain leaky-relu" in page


def test_the_report_of_a_healthy_run_says_what_was_watched(
    moons_run: nw.Run, tmp_path: Path
) -> None:
    page = reported(moons_run, tmp_path)
    seen = moons_run.layer_history
    assert f"The doctor found nothing; it watched 2 layers at {len(seen)} steps." in page


def test_without_the_doctor_nothing_is_watched_and_the_model_is_the_same(tmp_path: Path) -> None:
    runs = [
        nw.fit(net(), usual(), out=tmp_path / str(on), doctor=on, **SHORT) for on in (True, False)
    ]
    assert "findings" not in runs[1].results
    assert len(runs[1].layer_history) == 0
    assert not (tmp_path / "False" / "layers.jsonl").exists()
    for one, other in zip(runs[0].model.parameters(), runs[1].model.parameters(), strict=True):
        assert torch.equal(one, other)
    assert "Doctor" not in reported(runs[1], tmp_path)


def test_it_may_be_switched_off_or_on_when_a_run_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "run"
    settings = {**SHORT, "out": out}
    nw.fit(net(), usual(), max_steps=4, **settings)
    run = nw.fit(net(), usual(), max_steps=8, doctor=False, resume="auto", **settings)
    assert run.layer_history.steps == [1, 2, 3, 4]
    run = nw.fit(net(), usual(), resume="auto", **settings)
    assert run.layer_history.steps[4:6] == [9, 13]


def test_a_user_may_watch_a_run_with_a_doctor_of_their_own(tmp_path: Path) -> None:
    own = Doctor()
    run = nw.fit(net(), usual(), out=tmp_path / "run", callbacks=[own], **SHORT)
    assert own.seen.to_text() == run.layer_history.to_text()
