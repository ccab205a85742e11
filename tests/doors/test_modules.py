"""Modules, losses, metrics, optimizers, steps of one's own: each trains, resumes and predicts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import balanced_accuracy_score, make_scorer, median_absolute_error
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import SGD, NAdam
from torch.optim.lr_scheduler import CosineAnnealingLR, OneCycleLR, ReduceLROnPlateau

from netwright.core.seeding import seeded
from netwright.data.loading.loader import Batch
from netwright.train.state import TrainState
from tests.doors.door import Door, check_door, check_report
from tests.repetition import slow_but
from tests.undrawn import undrawn  # noqa: F401 - a fixture

ROWS = 40


@dataclass
class Said:
    features: Tensor
    logits: Tensor


class Net(nn.Module):
    """Two layers over anything that can be flattened; `give` says what it returns."""

    def __init__(self, inputs: int, outputs: int, give: Callable[[Tensor, Tensor], Any]) -> None:
        super().__init__()
        with seeded(0):
            self.body = nn.Sequential(nn.Flatten(), nn.Linear(inputs, 5), nn.ReLU())
            self.head = nn.Linear(5, outputs)
        self.give = give

    def forward(self, x: Tensor) -> Any:
        features = self.body(x)
        return self.give(self.head(features), features)


GIVES: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "a tensor": lambda logits, features: logits,
    "a tuple": lambda logits, features: (logits, features),
    "a dict": lambda logits, features: {"features": features, "logits": logits},
    "a dataclass": lambda logits, features: Said(features, logits),
}


def features(rows: int = ROWS, shape: tuple[int, ...] = (3,)) -> Any:
    return np.random.default_rng(0).normal(size=(rows, *shape)).astype(np.float32)


DATA: dict[str, tuple[Callable[[], Any], Callable[[], Any], int, int]] = {
    "classes": (lambda: (features(), np.arange(ROWS) % 3), lambda: features(5), 3, 3),
    "reals": (lambda: (features(), features()[:, :2]), lambda: features(5), 3, 2),
    "images": (
        lambda: (features(shape=(1, 4, 4)), np.arange(ROWS) % 2),
        lambda: features(5, (1, 4, 4)),
        16,
        2,
    ),
}


def door(kind: str, give: str = "a tensor", dtype: Any = torch.float32, **given: Any) -> Door:
    data, new, inputs, outputs = DATA[kind]
    return Door(
        given=lambda: {"data": data(), **given},
        new=new,
        model=lambda: Net(inputs, outputs, GIVES[give]).to(dtype),
        settings={},
    )


def rows_of_loss(output: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(output, targets, reduction="none") ** 2


def of_dict(output: dict[str, Tensor], targets: Tensor) -> Tensor:
    return functional.mse_loss(output["logits"], targets) + output["features"].square().mean()


def surest(predictions: Tensor, targets: Tensor) -> Tensor:
    return predictions.amax(dim=1).mean()


def in_turn(module: Net, batch: Batch) -> Iterator[tuple[str, Tensor]]:
    yield "head", functional.cross_entropy(module(batch.inputs), batch.targets)
    yield "body", functional.cross_entropy(module(batch.inputs), batch.targets)


def distilled(module: Net, batch: Batch) -> Tensor:
    soft = torch.full_like(logits := module(batch.inputs), 1 / logits.shape[1])
    return functional.cross_entropy(logits, batch.targets) + functional.cross_entropy(logits, soft)


def on_epoch_end(state: TrainState) -> None:
    assert state.history.latest("val/loss") > 0


def grouped(module: nn.Module) -> list[dict[str, Any]]:
    body, head = module.children()
    return [{"params": list(body.parameters()), "lr": 1e-3}, {"params": list(head.parameters())}]


DOORS = {
    **{
        f"{give} of {kind}{' in float64' if dtype == torch.float64 else ''}": door(
            kind, give, dtype
        )
        for kind in DATA
        for give in GIVES
        for dtype in (torch.float32, torch.float64)
    },
    "a loss that is a module": door("classes", loss=nn.CrossEntropyLoss(label_smoothing=0.1)),
    "a loss of each row": door("images", loss=rows_of_loss),
    "a loss of counts": door("reals", loss=nn.HuberLoss(delta=0.5)),
    "a loss of a dict": door("reals", "a dict", loss=of_dict),
    "a metric that is a function": door("classes", metrics=surest, monitor="val/surest"),
    "a scorer": door("images", metrics={"balance": make_scorer(balanced_accuracy_score)}),
    "a metric of scikit-learn": door("reals", metrics=[median_absolute_error]),
    "an optimizer's class": door("classes", optimizer=NAdam, lr=0.01),
    "a partial optimizer": door("reals", optimizer=partial(SGD, lr=0.1, momentum=0.9)),
    "a function of parameters": door("images", optimizer=lambda weights: SGD(weights, lr=0.1)),
    "an optimizer for each child": door("classes", optimizer={"body": NAdam, "head": NAdam}),
    "a schedule by epoch": door("classes", schedule=partial(CosineAnnealingLR, T_max=2)),
    "a schedule by update": door(
        "images", schedule=partial(OneCycleLR, max_lr=0.1, total_steps=99)
    ),
    "a plateau": door("reals", schedule=ReduceLROnPlateau),
    "groups of parameters": door("classes", parameter_groups=grouped),
    "a function by event": door("classes", callbacks=[on_epoch_end]),
    "functions by a dict": door("reals", callbacks={"on_epoch_end": on_epoch_end}),
    "a training step": door("images", training_step=distilled),
    "a training step by turns": door(
        "classes", training_step=in_turn, optimizer={"head": partial(SGD, lr=0.1), "body": NAdam}
    ),
}
QUICKLY = ["a dict of images in float64", "a loss of a dict", "a training step by turns"]


@pytest.mark.parametrize("name", slow_but(QUICKLY, DOORS))
def test_it_trains_resumes_and_predicts(tmp_path: Path, name: str) -> None:
    check_door(DOORS[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", DOORS)
@pytest.mark.usefixtures("undrawn")
def test_it_reports(tmp_path: Path, name: str) -> None:
    check_report(DOORS[name], tmp_path)


@pytest.mark.slow
def test_a_model_of_transformers_takes_its_batch_by_name_and_its_own_loss(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=11, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=8, max_position_embeddings=8, num_labels=2,
    )  # fmt: skip
    tokens = torch.arange(ROWS * 6).reshape(ROWS, 6) % 11
    rows = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    items = [
        {**{name: part[row] for name, part in rows.items()}, "labels": row % 2}
        for row in range(ROWS)
    ]

    def model() -> Any:
        with seeded(0):
            return transformers.BertForSequenceClassification(config)

    def own_loss(module: Any, batch: Batch) -> Tensor:
        loss: Tensor = module(**batch.inputs, labels=batch.targets).loss
        return loss

    def loader() -> Any:
        return torch.utils.data.DataLoader(items, batch_size=8)  # type: ignore[arg-type]

    for given in ({}, {"loss": "model"}, {"training_step": own_loss}):
        hugging = Door(
            given=lambda given=given: {"data": loader(), "validation": loader(), **given},  # type: ignore[misc]
            new=None,
            model=model,
            settings={"batch_size": None},
        )
        run = check_door(hugging, tmp_path / "-".join(given))
        assert "classifier.weight" in run.model.state_dict()


@pytest.mark.slow
def test_a_language_model_of_transformers_learns_by_its_own_loss(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    (tmp_path / "text.txt").write_text("the quick brown fox jumps over the lazy dog. " * 20)
    config = transformers.GPT2Config(
        vocab_size=32, n_positions=8, n_embd=8, n_layer=1, n_head=2,
        bos_token_id=None, eos_token_id=None,
    )  # fmt: skip

    def model() -> Any:
        with seeded(0):
            return transformers.GPT2LMHeadModel(config)

    run = check_door(
        Door(
            given=lambda: {"data": tmp_path / "text.txt", "loss": "model"},
            new=None,
            model=model,
            settings={"window": 8},
        ),
        tmp_path,
    )
    batch = run.data.train.inputs[:4]
    own = run.model(run.task.inputs(Batch(batch, run.data.train.targets[:4], None, batch)))
    hers: Any = run.model.own
    hers = hers(input_ids=batch, labels=batch)
    assert torch.equal(own.whole.loss, hers.loss)
    assert run.evaluate()["perplexity"] > 1
