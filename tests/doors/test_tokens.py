"""Tokens with a target each, and rows with none: each trains, resumes, answers, reports."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

import netwright as nw
from netwright.core.errors import NetwrightError
from netwright.data.loading.loader import Batch
from tests.doors.door import Door, check_door, check_report
from tests.repetition import slow_but
from tests.undrawn import undrawn  # noqa: F401 - a fixture

BATCH: dict[str, Any] = {"batch_size": None, "save_steps": 1}  # batches are the loader's
WORDS, TAGS, LENGTH, ROWS = 7, 3, 6, 22
TOKENS = torch.randint(1, WORDS, (ROWS, LENGTH), generator=torch.Generator().manual_seed(0))


def lengths() -> list[int]:
    return [3 + row % 4 for row in range(ROWS)]


class Reader(nn.Module):
    """Says something of every token (B, T, C), or of the whole text (B, C)."""

    def __init__(self, outputs: int, *, of_text: bool = False) -> None:
        super().__init__()
        self.of_text = of_text
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.embedding, self.dropout = nn.Embedding(WORDS, 4), nn.Dropout(0.2)
            self.cells, self.head = nn.GRU(4, 8, batch_first=True), nn.Linear(8, outputs)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        states, _ = self.cells(self.dropout(self.embedding(input_ids)))
        mask = 1 if attention_mask is None else attention_mask[:, :, None]
        said: Tensor = self.head((states * mask).mean(dim=1) if self.of_text else states)
        return said


class Texts(Dataset[Any]):
    """Rows of tokens with what is given beside them."""

    def __init__(self, targets: Tensor) -> None:
        self.targets_of_rows = targets

    def __len__(self) -> int:
        return ROWS

    def __getitem__(self, place: int) -> Any:
        return TOKENS[place], self.targets_of_rows[place]


class Unlabelled(Texts):
    """Rows of two inputs and nothing else."""

    def __getitem__(self, place: int) -> Any:
        return {"input_ids": TOKENS[place], "attention_mask": torch.ones(LENGTH)}


def collate(items: list[Any]) -> dict[str, Tensor]:
    """As a data collator of transformers does: texts of a batch have one length, batches differ."""
    length = 3 + len(items) % 4
    tokens, targets = (torch.stack(parts)[:, :length] for parts in zip(*items, strict=True))
    return {"input_ids": tokens, "attention_mask": torch.ones_like(tokens), "labels": targets}


def without_targets(items: list[Any]) -> dict[str, Tensor]:
    batch = collate(items)
    return {name: batch[name] for name in ("input_ids", "attention_mask")}


def with_dict_targets(items: list[Any]) -> Any:
    batch = collate(items)
    return batch["input_ids"], {"tags": batch["labels"], "first": batch["labels"][:, 0]}


def tags() -> Tensor:
    found = TOKENS % TAGS
    found[:, -1] = -100
    return found


def loader(targets: Tensor, collate_fn: Any = collate, **settings: Any) -> DataLoader[Any]:
    return DataLoader(Texts(targets), 4, shuffle=True, collate_fn=collate_fn, **settings)


def next_token_loss(output: Tensor, inputs: dict[str, Tensor]) -> Tensor:
    tokens = inputs["input_ids"][:, 1:]
    return nn.functional.cross_entropy(output[:, :-1].flatten(0, 1), tokens.flatten())


def dict_step(module: nn.Module, batch: Batch) -> Tensor:
    output = module(batch.inputs)
    of_tags = nn.functional.cross_entropy(output.flatten(0, 1), batch.targets["tags"].flatten())
    return of_tags + nn.functional.cross_entropy(output[:, 0], batch.targets["first"])


def unlabelled_step(module: nn.Module, batch: Batch) -> Tensor:
    return nn.functional.mse_loss(module(batch.inputs), batch.inputs)


def numbers() -> Tensor:
    return torch.randn(ROWS, 5, generator=torch.Generator().manual_seed(1))


def autoencoder() -> nn.Module:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(5, 2), nn.Dropout(0.2), nn.Linear(2, 5))


class Variational(nn.Module):
    """A variational autoencoder: its reconstruction, and mean and log variance of its code."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.encoder, self.decoder = nn.Linear(5, 4), nn.Linear(2, 5)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        mean, logvar = self.encoder(x).chunk(2, dim=1)
        noise = torch.randn_like(mean) if self.training else 0
        return self.decoder(mean + noise * (logvar / 2).exp()), mean, logvar


def bound(output: tuple[Tensor, Tensor, Tensor], inputs: Tensor) -> Tensor:
    recon, mean, logvar = output
    divergence = (mean**2 + logvar.exp() - logvar - 1).sum(dim=1) / 2
    return ((recon - inputs) ** 2).sum(dim=1) + divergence


class Alone(Dataset[Tensor]):
    """Rows of numbers and nothing else."""

    def __len__(self) -> int:
        return ROWS

    def __getitem__(self, place: int) -> Tensor:
        return numbers()[place]


class Stream(IterableDataset[Any]):
    """Rows without targets, in their order."""

    def __iter__(self) -> Iterator[Tensor]:
        yield from numbers()


def columns(rows: int = ROWS) -> dict[str, Any]:
    ids = [TOKENS[row, :length].tolist() for row, length in enumerate(lengths())][:rows]
    return {"text": ["a text"] * len(ids), "input_ids": ids}


def dataset(rows: int = ROWS, **more: Any) -> Any:
    kept = {name: column[:rows] for name, column in more.items()}
    return pytest.importorskip("datasets").Dataset.from_dict({**columns(rows), **kept})


def stream(**more: Any) -> Any:
    return dataset(**more).to_iterable_dataset().shuffle(seed=0, buffer_size=9)


def labels_by_token() -> list[list[int]]:
    return [[-100, *(token % TAGS for token in ids[1:])] for ids in columns()["input_ids"]]


def classes() -> list[str]:
    return [("dull", "fine")[row % 2] for row in range(ROWS)]


def gpt() -> nn.Module:
    transformers = pytest.importorskip("transformers")
    sizes = {"n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 8}
    ends = {"bos_token_id": 0, "eos_token_id": 0}
    config = transformers.GPT2Config(vocab_size=9, **sizes, **ends)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model: nn.Module = transformers.GPT2LMHeadModel(config)
    return model


def new() -> dict[str, Tensor]:
    return {"input_ids": TOKENS[:3], "attention_mask": torch.ones(3, LENGTH).long()}


DOORS = {
    "a loader of tags": Door(
        given=lambda: {"data": loader(tags()), "validation": loader(tags())},
        model=lambda: Reader(5), settings=BATCH, new=new, note="one for each token",
    ),
    "a loader of tokens that are their own targets": Door(
        given=lambda: {"data": loader(TOKENS), "validation": loader(TOKENS)},
        model=lambda: Reader(WORDS), settings=BATCH, new=None,
        note="each is predicted from those before it",
    ),
    "a loader of tags and gradients of two batches": Door(
        given=lambda: {"data": loader(tags())},
        model=lambda: Reader(TAGS), settings={**BATCH, "accumulate": 2}, new=new,
    ),
    "a loader without targets and a loss": Door(
        given=lambda: {
            "data": DataLoader(TensorDataset(numbers()), 4, shuffle=True),
            "validation": DataLoader(TensorDataset(numbers()), 8),
            "loss": nn.MSELoss(),
        },
        model=autoencoder, settings=BATCH, new=numbers, note="the loss is your own",
    ),
    "a loader without targets and a loss of several parts": Door(
        given=lambda: {
            "data": DataLoader(TensorDataset(numbers()), 4, shuffle=True),
            "loss": bound,
        },
        model=Variational, settings=BATCH, new=numbers, note="the loss is your own",
    ),
    "a loader of dicts without targets and a loss": Door(
        given=lambda: {"data": loader(TOKENS, without_targets), "loss": next_token_loss},
        model=lambda: Reader(WORDS), settings=BATCH, new=None,
    ),
    "a loader without targets and a training step": Door(
        given=lambda: {
            "data": DataLoader(Alone(), 4, shuffle=True), "training_step": unlabelled_step,
        },
        model=autoencoder, settings=BATCH, new=None,
    ),
    "a loader of dicts of targets and a training step": Door(
        given=lambda: {"data": loader(TOKENS % TAGS, with_dict_targets),
                       "training_step": dict_step},
        model=lambda: Reader(TAGS), settings=BATCH, new=None,
    ),
    "a data set of tags": Door(
        given=lambda: {"data": Texts(tags())}, model=lambda: Reader(TAGS), settings={},
        new=lambda: TOKENS[:3], rows=(16, 2, 4),
    ),
    "a data set without targets": Door(
        given=lambda: {"data": TensorDataset(numbers()), "loss": nn.L1Loss()},
        model=autoencoder, settings={}, new=numbers, rows=(16, 2, 4),
    ),
    "a stream without targets": Door(
        given=lambda: {"data": Stream(), "loss": nn.MSELoss()},
        model=autoencoder, settings=BATCH, new=numbers,
    ),
    "a dataset of tokens and classes": Door(
        given=lambda: {"data": dataset(label=classes()), "validation": dataset(8, label=classes())},
        model=lambda: Reader(2, of_text=True), settings={}, new=new, rows=(22, 8, 0),
    ),
    "a dataset of tokens and tags": Door(
        given=lambda: {"data": dataset(labels=labels_by_token())},
        model=lambda: Reader(4), settings={}, new=new, note="one for each token",
    ),
    "a dataset of tokens alone for a model of transformers": Door(
        given=lambda: {"data": dataset()}, model=gpt, settings={}, new=None,
        note="each is predicted from those before it",
    ),
    "a stream of tokens and classes": Door(
        given=lambda: {"data": stream(label=[row % 2 for row in range(ROWS)])},
        model=lambda: Reader(2, of_text=True), settings=BATCH, new=new,
    ),
    "a stream of tokens and tags": Door(
        given=lambda: {"data": stream(labels=labels_by_token())},
        model=lambda: Reader(TAGS), settings=BATCH, new=new,
    ),
    "a stream of tokens alone for a model of transformers": Door(
        given=lambda: {"data": stream()}, model=gpt, settings=BATCH, new=None,
    ),
}  # fmt: skip
QUICKLY = [
    "a loader of tags",
    "a loader without targets and a loss",
    "a dataset of tokens and classes",
]


@pytest.mark.parametrize("name", slow_but(QUICKLY, DOORS))
def test_it_trains_resumes_and_predicts(tmp_path: Path, name: str) -> None:
    check_door(DOORS[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", DOORS)
@pytest.mark.usefixtures("undrawn")
def test_it_reports(tmp_path: Path, name: str) -> None:
    check_report(DOORS[name], tmp_path)


def test_the_loss_of_a_causal_model_is_that_of_its_tokens() -> None:
    def loss(**given: Any) -> float:
        settings: dict[str, Any] = {"epochs": 1, "save": False, "quiet": True, "device": "cpu"}
        value: float = nw.fit(gpt(), dataset(), **given, **settings).results["metrics"]["loss"]
        return value

    assert loss(loss="model") == pytest.approx(loss(), rel=1e-4)


def test_what_is_refused_names_the_way_that_works() -> None:
    settings: dict[str, Any] = {"save": False, "quiet": True}
    with pytest.raises(NetwrightError, match=r"loss=, a function of \(output, inputs\), or train"):
        nw.fit(Reader(WORDS), loader(TOKENS, without_targets), **settings)
    with pytest.raises(NetwrightError, match="give a DataLoader or Dataset whose inputs are token"):
        nw.fit(Reader(WORDS), (TOKENS, TOKENS), **settings)
    with pytest.raises(NetwrightError, match="no target that is one tensor: give a DataLoader"):
        nw.fit(Reader(TAGS), Unlabelled(TOKENS), **settings)
    run = nw.fit(Reader(WORDS), loader(TOKENS), epochs=1, **settings)
    with pytest.raises(NetwrightError, match=r"no label to predict: call run\.model with a batch"):
        run.predict(new())
