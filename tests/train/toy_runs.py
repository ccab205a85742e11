"""Small data, small nets and short runs: what the tests of training share."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from netwright.core.outputs import Output, logits_of
from netwright.core.seeding import seeded
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.dataset import Data, Split
from netwright.data.loading.loader import Batch
from netwright.data.spec import DataSpec
from netwright.data.targets import ArrayTarget
from netwright.train.callback import Callback
from netwright.train.settings import TrainConfig
from netwright.train.state import TrainState
from netwright.train.tasks.catalog import task_for
from netwright.train.tasks.classification import Classification
from netwright.train.tasks.task import Task
from netwright.train.trainer import Trainer

FEATURES, OUTPUTS = 3, 3
SHORT: dict[str, Any] = {"epochs": 3, "batch_size": 4, "device": "cpu"}


def toy_data(
    target: ArrayTarget = "class", *, rows: int = 20, val: int = 12, test: int = 0, seed: int = 0
) -> Data:
    """Normal inputs; classes, labels or reals that follow from them."""
    random = torch.Generator().manual_seed(seed)

    def split(count: int) -> Split:
        inputs = torch.randn(count, FEATURES, generator=random)
        if target == "class":
            return Split(inputs=inputs, targets=inputs.argmax(dim=1))
        return Split(inputs=inputs, targets=(inputs > 0).float() if target == "labels" else inputs)

    names = ("a", "b", "c") if target in {"class", "labels"} else ()
    return Data(
        name="toy",
        spec=DataSpec(
            inputs="features",
            input_shape=(FEATURES,),
            target=target,
            num_outputs=OUTPUTS,
            class_names=names,
        ),
        train=split(rows),
        val=split(val) if val else None,
        test=split(test) if test else None,
        preprocessor=ArrayEncoder(
            input_shape=(FEATURES,), target=target, num_outputs=OUTPUTS, class_names=names
        ),
    )


def weighed(split: Split, weights: Sequence[float]) -> Split:
    return replace(split, weights=torch.tensor(weights))


def repeated(split: Split, times: Sequence[int]) -> Split:
    """Each row as often as it is told to."""
    return split.take(torch.repeat_interleave(torch.tensor(times)))


def doubled(data: Data) -> Data:
    """The same in float64, where laws hold to 1e-12."""

    def wide(split: Split) -> Split:
        reals = split.targets.is_floating_point()
        return Split(
            inputs=split.inputs.double(),
            targets=split.targets.double() if reals else split.targets,
            weights=None if split.weights is None else split.weights.double(),
        )

    return replace(data, train=wide(data.train), val=None if data.val is None else wide(data.val))


def toy_net(*, seed: int = 0, batch_norm: bool = False, dropout: float = 0.0) -> nn.Sequential:
    """Two layers; the same seed gives the same weights, and the caller's generator stays."""
    with seeded(seed):
        layers: list[nn.Module] = [nn.Linear(FEATURES, 5)]
        layers += [nn.BatchNorm1d(5)] if batch_norm else []
        layers += [nn.ReLU(), nn.Dropout(dropout), nn.Linear(5, OUTPUTS)]
        return nn.Sequential(*layers)


def whole_batch(split: Split) -> Batch:
    return Batch(split.inputs, split.targets, split.weights, torch.arange(len(split)))


def toy_trainer(
    data: Data,
    *,
    callbacks: Sequence[Callback] = (),
    seed: int = 0,
    task: Task | None = None,
    **settings: Any,
) -> Trainer:
    config = TrainConfig(**{**SHORT, **settings})
    return Trainer(config, task or task_for(data), callbacks=callbacks, seed=seed)


def toy_start(model: nn.Module | None = None, **settings: Any) -> TrainState:
    """A run before its first step, for callbacks that are called by hand."""
    data = toy_data()
    return toy_trainer(data, **settings).start(model or toy_net(), data)


def toy_fit(model: nn.Module, data: Data, **settings: Any) -> TrainState:
    trainer = toy_trainer(data, **settings)
    state = trainer.start(model, data)
    trainer.fit(state, data)
    return state


class Ramp(nn.Module):
    """One weight; with `Curve`, each update adds 1 to it."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        return self.weight.expand(len(x))


class Curve(Classification):
    """After the i-th epoch (from 0) validation loss and accuracy are both `values[i]`."""

    def __init__(self, values: Sequence[float]) -> None:
        super().__init__(OUTPUTS)
        self.values = values

    def loss(self, output: Tensor | Output, batch: Batch) -> Tensor:
        reached = logits_of(output)
        return -reached.mean() if torch.is_grad_enabled() else torch.tensor(self.at(reached))

    def headline_sum(
        self, output: Tensor | Output, targets: Tensor, weights: Tensor | None
    ) -> Tensor:
        return torch.tensor(self.at(logits_of(output)) * len(targets))

    def at(self, reached: Tensor) -> float:
        return self.values[max(0, int(reached[0]) - 1)]


def curve_fit(values: Sequence[float], *callbacks: Callback, **settings: Any) -> TrainState:
    """A run of one step an epoch whose validation follows the curve."""
    task, rows = Curve(values), 4
    fixed = {"optimizer": "sgd", "lr": 1.0, "batch_size": rows, "epochs": len(values), **settings}
    return toy_fit(Ramp(), toy_data(rows=rows), task=task, callbacks=callbacks, **fixed)


def copy_of(model: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


def assert_same(got: Any, wanted: Any) -> None:
    """Two trees of tensors and plain values are equal, tensors bit for bit."""
    if isinstance(wanted, Tensor):
        assert isinstance(got, Tensor)
        assert got.dtype == wanted.dtype
        torch.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)
    elif isinstance(wanted, Mapping):
        assert list(got) == list(wanted)
        for key in wanted:
            assert_same(got[key], wanted[key])
    elif isinstance(wanted, list | tuple):
        assert type(got) is type(wanted)
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            assert_same(one, other)
    else:
        assert type(got) is type(wanted)
        assert repr(got) == repr(wanted)  # floats to the last bit, and NaN is NaN


def assert_close(got: nn.Module, wanted: nn.Module, tolerance: float) -> None:
    """The weights of two models agree to a tolerance."""
    for one, other in zip(got.parameters(), wanted.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)
