"""A small model and small data for each kind of task, by name."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from netwright.core.seeding import seeded
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.catalog import load
from netwright.data.dataset import Data, Split
from netwright.data.spec import DataSpec
from netwright.models.transformers.gpt import GPT, GPTConfig
from netwright.train.own.loss import OwnLoss
from netwright.train.tasks.catalog import task_for
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.tasks.next_token import NextToken
from netwright.train.tasks.per_token import LARGE_VOCABULARY
from netwright.train.tasks.task import Task
from netwright.train.tasks.unlabelled import Unlabelled
from tests.train.token_data import KINDS, small_lstm, tagged_data, text_data
from tests.train.toy_runs import toy_data, toy_net

ROWS = 100


class Case(NamedTuple):
    model: nn.Module
    data: Data
    task: Task


def of_target(kind: str) -> Case:
    data = toy_data(kind, rows=ROWS, val=0)  # type: ignore[arg-type]
    return Case(toy_net(batch_norm=True), data, task_for(data))


def of_text() -> Case:
    data = replace(text_data(length=4 * ROWS + 1), val=None)
    return Case(small_lstm(data.spec), data, task_for(data))


def of_large_vocabulary() -> Case:
    """Logits are made in parts; on CUDA by a kernel of its own."""
    data, kinds = replace(text_data(length=4 * ROWS + 1), val=None), LARGE_VOCABULARY + 3
    spec = replace(data.spec, num_outputs=kinds, vocab_size=kinds)
    with seeded(0):
        model = GPT.build(GPTConfig(layers=2, heads=2, width=8, dropout=0.1), spec)
    return Case(model, replace(data, spec=spec), LanguageModelling(kinds))


def of_next_token() -> Case:
    data = replace(text_data(length=4 * ROWS + 1), val=None)
    split = Split(inputs=data.train.inputs, targets=data.train.inputs)
    return Case(small_lstm(data.spec), replace(data, train=split), NextToken(KINDS))


def of_tags() -> Case:
    data = tagged_data()
    rows = data.train.take(torch.arange(ROWS) % len(data.train))
    with seeded(0):
        model = nn.Sequential(nn.Embedding(7, 5), nn.ReLU(), nn.Linear(5, 4))
    return Case(model, replace(data, train=rows), task_for(data))


def of_tags_by_lstm() -> Case:
    """Rows of unequal length, which torch packs for its recurrent kernels."""
    case = of_tags()
    return case._replace(model=small_lstm(case.data.spec))


def of_masks() -> Case:
    draw = torch.Generator().manual_seed(0)
    split = Split(
        inputs=torch.randn(ROWS, 2, 4, 5, generator=draw),
        targets=torch.randint(3, (ROWS, 4, 5), generator=draw, dtype=torch.uint8),
    )
    spec = DataSpec(
        inputs="image",
        input_shape=(2, 4, 5),
        target="mask",
        num_outputs=3,
        class_names=("a", "b", "c"),
    )
    encoder = ArrayEncoder(input_shape=(2, 4, 5), target="class", num_outputs=3)
    data = Data(name="toy", spec=spec, train=split, preprocessor=encoder)
    with seeded(0):
        return Case(nn.Conv2d(2, 3, 3, padding=1), data, task_for(data))


class FromMean(nn.Module):
    """Each token of an answer from the one before it and the mean of all."""

    def __init__(self, tokens: int, answers: int) -> None:
        super().__init__()
        self.answers = answers
        self.embedding, self.head = nn.Embedding(tokens, 4), nn.Linear(4, tokens)

    def forward(self, inputs: Tensor) -> Tensor:
        inside = self.embedding(inputs)
        logits: Tensor = self.head(inside[:, -self.answers :] + inside.mean(1, keepdim=True))
        return logits


def of_pairs() -> Case:
    data = replace(load("reverse", n=150, length=4), val=None, test=None)
    with seeded(0):
        model = FromMean(data.spec.num_outputs, data.train.targets.shape[1])
    return Case(model, data, task_for(data))


def unlabelled() -> Case:
    data = toy_data("real", rows=ROWS, val=0)
    task = Unlabelled()
    task.own_loss = OwnLoss(nn.MSELoss())
    return Case(toy_net(batch_norm=True), data, task)


EACH_TASK: dict[str, Callable[[], Case]] = {
    "class": lambda: of_target("class"),
    "labels": lambda: of_target("labels"),
    "real": lambda: of_target("real"),
    "text": of_text,
    "large-vocabulary": of_large_vocabulary,
    "next-token": of_next_token,
    "tags": of_tags,
    "masks": of_masks,
    "pairs": of_pairs,
    "unlabelled": unlabelled,
}
