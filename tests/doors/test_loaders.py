"""torch's loaders and data sets: each trains, resumes exactly or says why not, answers, reports."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset

import netwright as nw
from netwright.core.errors import DataError, NetwrightError
from netwright.data.loading.loader import Batch
from netwright.train.callback import Callback
from netwright.train.state import TrainState
from tests.data.batches.loaders import Forgetful, Noisy, Stream, noisy_loader, rows
from tests.doors.door import Door, check_door
from tests.doors.two_inputs import TwoInputs, two_inputs
from tests.repetition import slow_but
from tests.undrawn import undrawn  # noqa: F401 - a fixture

BATCH: dict[str, Any] = {"batch_size": None, "save_steps": 1}  # batches are the loader's


def seeded_module(make: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
    def made() -> nn.Module:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            return make()

    return made


def net(outputs: int = 2) -> Callable[[], nn.Module]:
    """A module that draws, so that its draws and those of the data could mix."""
    return seeded_module(
        lambda: nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, outputs))
    )


def as_dicts(items: list[Any]) -> dict[str, torch.Tensor]:
    inputs, targets = zip(*items, strict=True)
    numbers = torch.stack(inputs)
    return {
        "numbers": numbers,
        "category": torch.arange(len(items)) % 5,
        "labels": torch.stack(targets),
    }


class StopAfter(Callback):
    """Ends a run after so many updates, as a signal does."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def on_step_end(self, state: TrainState) -> None:
        if state.step == self.steps:
            state.cut_short("a test")


class Words(nn.Module):
    """The mean of embedded tokens (B, T), however long the texts of a batch are."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(7, 4), nn.Linear(4, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.head(self.embedding(tokens).mean(dim=1))
        return logits


def own_step(module: nn.Module, batch: Batch) -> torch.Tensor:
    return nn.functional.cross_entropy(module(batch.inputs), batch.targets)


def as_tokens(items: list[Any]) -> dict[str, torch.Tensor]:
    """Tokens with a mask, filled up to the longest of the batch."""
    tokens, labels = padded(items)
    return {"input_ids": tokens, "attention_mask": (tokens > 0).long(), "labels": labels}


def bert() -> nn.Module:
    """BERT, as small as it can be."""
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.BertConfig(vocab_size=7, intermediate_size=8, num_labels=2, **sizes)
    model: nn.Module = transformers.BertForSequenceClassification(config)
    return model


class Rows(Dataset[Any]):
    """Rows of several inputs as dicts."""

    def __init__(self) -> None:
        self.inputs, self.classes_of_rows = two_inputs(22)

    def __len__(self) -> int:
        return 22

    def __getitem__(self, place: int) -> dict[str, Any]:
        parts = {key: part[place] for key, part in self.inputs.items()}
        return {**parts, "label": int(self.classes_of_rows[place])}


def padded(items: list[Any]) -> Any:
    texts = [torch.full((1 + int(target) + len(items) % 3,), 1) for _, target in items]
    tokens = nn.utils.rnn.pad_sequence(texts, batch_first=True)
    return tokens, torch.stack([target for _, target in items])


def images() -> DataLoader[Any]:
    random = torch.Generator().manual_seed(0)
    pixels = torch.rand(16, 1, 6, 6, generator=random)
    return DataLoader(TensorDataset(pixels, torch.arange(16) % 2), batch_size=4, shuffle=True)


def reals(columns: int) -> DataLoader[Any]:
    inputs, _ = rows()
    return DataLoader(TensorDataset(inputs, inputs[:, :columns] * 2), batch_size=4, shuffle=True)


def weighed() -> DataLoader[Any]:
    weights = torch.linspace(0.1, 1, 22)
    return DataLoader(TensorDataset(*rows(), weights), batch_size=4, shuffle=True)


def new() -> Any:
    return torch.zeros(3, 3)


DOORS = {
    "a loader with draws": Door(
        given=lambda: {"data": noisy_loader(), "validation": noisy_loader(shuffle=False)},
        model=net(), settings=BATCH, new=new, rows=(22, 22, 0),
    ),
    "a loader with workers": Door(
        given=lambda: {"data": noisy_loader(num_workers=2)}, model=net(), settings=BATCH, new=new
    ),
    "a loader and a model by name": Door(
        given=lambda: {"data": noisy_loader()}, settings={"hidden": (4,), **BATCH}, new=new
    ),
    "a loader that leaves out the last batch": Door(
        given=lambda: {"data": noisy_loader(drop_last=True)}, model=net(), settings=BATCH, new=new
    ),
    "a loader and gradients of two batches": Door(
        given=lambda: {"data": noisy_loader()},
        model=net(), settings={**BATCH, "accumulate": 2}, new=new,
    ),
    "a loader with validation and test": Door(
        given=lambda: {
            "data": noisy_loader(),
            "validation": DataLoader(TensorDataset(*rows(8, 1)), batch_size=8),
            "test": DataLoader(TensorDataset(*rows(6, 2)), batch_size=4),
        },
        model=net(), settings=BATCH, new=new, rows=(22, 8, 6),
    ),
    "a loader of weighed rows": Door(
        given=lambda: {"data": weighed()}, model=net(), settings=BATCH, new=new
    ),
    "a loader of one real": Door(
        given=lambda: {"data": reals(1)}, model=net(1), settings=BATCH, new=new,
        note="treated as 1 real",
    ),
    "a loader of several reals": Door(
        given=lambda: {"data": reals(2), "validation": reals(2)}, model=net(2), settings=BATCH,
        new=new,
    ),
    "a loader of images": Door(
        given=lambda: {"data": images()},
        model=seeded_module(
            lambda: nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32, 2))
        ),
        settings=BATCH, new=lambda: torch.zeros(3, 1, 6, 6),
    ),
    "a loader of dicts": Door(
        given=lambda: {"data": noisy_loader(collate_fn=as_dicts)},
        model=seeded_module(TwoInputs), settings=BATCH,
        new=lambda: {key: part[:3] for key, part in two_inputs(8)[0].items()},
    ),
    "a loader of texts of all lengths": Door(
        given=lambda: {"data": DataLoader(Noisy(), batch_size=5, shuffle=True, collate_fn=padded)},
        model=seeded_module(Words), settings=BATCH, new=lambda: torch.ones(3, 4).long(),
    ),
    "a stream that ends": Door(
        given=lambda: {"data": DataLoader(Stream(), batch_size=4)}, model=net(), settings=BATCH,
        new=new,
    ),
    "an endless stream": Door(
        given=lambda: {"data": DataLoader(Stream(endless=True), batch_size=4)},
        model=net(), settings={**BATCH, "epochs": None, "max_steps": 8}, new=new,
        note="the first 200 batches of the DataLoader",
    ),
    "a loader and a training step": Door(
        given=lambda: {"data": noisy_loader(), "training_step": own_step},
        model=net(), settings=BATCH, new=new,
    ),
    "a loader of dicts for a model of transformers": Door(
        given=lambda: {"data": noisy_loader(collate_fn=as_tokens)},
        model=seeded_module(bert), settings=BATCH,
        new=lambda: as_tokens([Noisy()[row] for row in range(3)]),
    ),
    "a data set with draws": Door(
        given=lambda: {"data": Noisy()}, model=net(), new=new, rows=(16, 2, 4), settings={},
    ),
    "a part of a data set with validation": Door(
        given=lambda: {"data": Subset(Noisy(), range(2, 20)), "validation": Noisy()},
        settings={"hidden": (4,)}, new=new, rows=(18, 22, 0),
    ),
    "a data set of dicts": Door(
        given=lambda: {"data": Rows()}, model=seeded_module(TwoInputs), settings={},
        new=lambda: {key: part[:3] for key, part in two_inputs(8)[0].items()}, rows=(16, 2, 4),
    ),
    "a data set of tensors": Door(
        given=lambda: {"data": TensorDataset(*rows()), "test": TensorDataset(*rows(6, 1))},
        new=new, rows=(20, 2, 6),
    ),
    "a stream": Door(given=lambda: {"data": Stream()}, model=net(), settings=BATCH, new=new),
}  # fmt: skip
QUICKLY = ["a loader with draws", "a loader of dicts", "a data set with draws"]
ENDLESS = "an endless stream"


@pytest.mark.parametrize("name", slow_but(QUICKLY, [name for name in DOORS if name != ENDLESS]))
def test_it_trains_resumes_and_predicts(tmp_path: Path, name: str) -> None:
    check_door(DOORS[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", DOORS)
@pytest.mark.usefixtures("undrawn")
def test_it_reports(tmp_path: Path, name: str) -> None:
    run = DOORS[name].fit(tmp_path / "run")
    assert "</html>" in run.report(tmp_path / "page.html").read_text(encoding="utf-8")


def test_an_endless_stream_goes_on_where_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("netwright.data.batches.sample.MOST_BATCHES", 8)
    door = DOORS[ENDLESS]
    whole = door.fit(tmp_path / "whole")
    door.fit(tmp_path / "parts", callbacks=[StopAfter(3)])
    again = door.fit(tmp_path / "parts", resume="auto")
    for one, other in zip(whole.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(one, other)
    with pytest.raises(NetwrightError, match="give max_steps"):
        door.fit(tmp_path / "other", epochs=2, max_steps=None)


def test_a_loader_that_does_not_repeat_is_refused_or_allowed(tmp_path: Path) -> None:
    def fit(seed: int, **settings: Any) -> nw.Run:
        loader = DataLoader(Forgetful(seed), batch_size=4)
        settings = {"epochs": 2, "quiet": True, "out": tmp_path / "run", **settings}
        return nw.fit(net()(), loader, **settings, save_steps=1, device="cpu")

    fit(0, max_steps=2)
    with pytest.raises(NetwrightError, match="the loader of the train split gives different"):
        fit(1, resume="auto")
    assert fit(1, resume="auto", allow="data").results["status"] == "done"


def test_a_loader_whose_later_epochs_differ_is_noticed_by_its_checksum(tmp_path: Path) -> None:
    def fit(**settings: Any) -> nw.Run:
        loader = DataLoader(Forgetful(), batch_size=4)
        settings = {"epochs": 3, "quiet": True, "out": tmp_path / "run", **settings}
        return nw.fit(net()(), loader, **settings, save_steps=1, device="cpu")

    fit(max_steps=8)
    with pytest.raises(DataError, match="does not repeat its batches: the 2 of epoch 2 are not"):
        fit(resume="auto")
    assert fit(resume="auto", allow="data").results["status"] == "done"


class Fragile(nn.Linear):
    """Fails on one row of the noisy rows, wherever it comes."""

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        output = super().forward(inputs)
        is_there = ((inputs - rows()[0][9]).abs() < 0.03).all(dim=1).any()
        return output * torch.nan if self.training and is_there else output


def test_a_run_that_goes_back_takes_the_same_batches_again(tmp_path: Path) -> None:
    def weights(policy: str) -> torch.Tensor:
        module = seeded_module(lambda: Fragile(3, 2))()
        settings: dict[str, Any] = {"epochs": 2, "quiet": True, "save": False, "device": "cpu"}
        run = nw.fit(module, noisy_loader(), on_non_finite=policy, **settings)
        assert run.results["notes"][-1].startswith(
            "batches skipped because of non-finite values: 2"
        )
        weight: torch.Tensor = run.model.get_parameter("weight")
        return weight

    assert torch.equal(weights("roll-back"), weights("skip"))


def test_a_run_is_measured_on_and_asked_of_other_loaders(tmp_path: Path) -> None:
    run = DOORS["a loader with draws"].fit(tmp_path / "run")
    other = DataLoader(TensorDataset(*rows(9, 3)), batch_size=4)
    inputs, targets = rows(9, 3)
    named = [("low", "high")[target] for target in targets.tolist()]
    assert run.evaluate(other) == pytest.approx(run.evaluate((inputs, named)), rel=1e-5)
    assert list(run.predict(other)) == list(run.predict(inputs))
    assert run.baseline(other)["accuracy"] > 0
    assert run.evaluate() == run.results["metrics"]


def test_what_a_loader_cannot_do_is_refused_with_the_way_that_works(tmp_path: Path) -> None:
    for settings, told in (
        ({"batch_size": 8}, "batch_size is that of the DataLoader, 4: remove batch_size=8"),
        ({"optimizer": "lbfgs"}, "lbfgs uses all rows at a step"),
        ({"val_size": 0.2}, "give validation=DataLoader"),
    ):
        with pytest.raises(NetwrightError, match=told):
            nw.fit(net()(), noisy_loader(), save=False, quiet=True, **settings)
    with pytest.raises(NetwrightError, match="cannot be divided into folds: give its Dataset"):
        nw.cross_validate(net()(), noisy_loader(), quiet=True)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize("workers", [0, 1])
def test_by_a_graph_a_loader_that_pins_its_memory_teaches_the_same(
    tmp_path: Path, workers: int
) -> None:
    weights = []
    for capture in ("on", "off"):
        loader = noisy_loader(num_workers=workers, pin_memory=True)
        settings: dict[str, Any] = {"epochs": 4, "quiet": True, "device": "cuda"}
        run = nw.fit(net()(), loader, out=tmp_path / capture, capture=capture, **settings)
        assert not [note for note in run.results["notes"] if "graph" in note]
        weights.append(run.model.state_dict())
    for name, weight in weights[0].items():
        assert torch.equal(weight, weights[1][name])
