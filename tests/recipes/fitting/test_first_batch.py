"""The first batch: shapes as they are, nothing moved, and mistakes told by layer."""

import re
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from netwright.core.errors import ConfigError, ShapeError
from netwright.data.array_encoder import ArrayEncoder
from netwright.data.catalog import SOURCES, load
from netwright.data.dataset import Data, Split
from netwright.data.spec import VARIES, DataSpec
from netwright.models.mlp import MLP, MLPConfig
from netwright.models.vision.detr import DETR, DETRConfig
from netwright.recipes.fitting.first_batch import time_step, try_first_batch
from netwright.train.tasks import per_token
from netwright.train.tasks.catalog import task_for
from tests.train.token_data import KINDS, small_lstm, text_data


@pytest.fixture(scope="module")
def iris() -> Data:
    source = SOURCES.load("iris")
    return source.load(source.config())


def test_layers_come_with_their_shapes_and_parameters(iris: Data) -> None:
    model = MLP(MLPConfig(hidden=(5,), dropout=0.0), iris.spec)
    first = try_first_batch(model, iris, task_for(iris), 8)
    assert [(layer.path, layer.kind, layer.shape) for layer in first.layers] == [
        ("hidden.0.0", "Linear", (8, 5)),
        ("hidden.0.1", "ReLU", (8, 5)),
        ("head", "Linear", (8, 3)),
    ]
    # 4 * 5 + 5 for the hidden layer, 5 * 3 + 3 for the head.
    assert [layer.parameters for layer in first.layers] == [25, 0, 18]
    assert (first.parameters, first.rows) == (43, 8)


def test_the_model_stays_as_it_was(iris: Data) -> None:
    model = MLP(MLPConfig(hidden=(5,), batch_norm=True), iris.spec)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    try_first_batch(model, iris, task_for(iris), 8)
    assert time_step(model, iris, task_for(iris), 8) > 0
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert model.training
    assert all(parameter.grad is None for parameter in model.parameters())
    assert not any(module._forward_hooks for module in model.modules())


def test_of_a_large_vocabulary_no_more_logits_are_made_than_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = text_data()
    task = task_for(data)
    assert try_first_batch(small_lstm(data.spec), data, task, 8).rows == 8
    monkeypatch.setattr(per_token, "MOST_AT_ONCE", 3 * 4 * KINDS)
    assert try_first_batch(small_lstm(data.spec), data, task, 8).rows == 8
    monkeypatch.setattr(per_token, "LARGE_VOCABULARY", KINDS)
    assert try_first_batch(small_lstm(data.spec), data, task, 8).rows == 3
    assert try_first_batch(small_lstm(data.spec), data, task, 2).rows == 2
    monkeypatch.setattr(per_token, "MOST_AT_ONCE", 1)
    assert try_first_batch(small_lstm(data.spec), data, task, 8).rows == 1


def test_texts_of_any_length_are_counted_by_the_length_at_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = text_data()
    data = replace(data, spec=replace(data.spec, input_shape=(VARIES,)))
    monkeypatch.setattr(per_token, "MOST_AT_ONCE", 3 * 4 * KINDS)
    monkeypatch.setattr(per_token, "LARGE_VOCABULARY", KINDS)
    assert try_first_batch(small_lstm(data.spec), data, task_for(data), 8).rows == 3


def test_a_step_of_a_large_vocabulary_is_timed_as_it_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = text_data()
    monkeypatch.setattr(per_token, "LARGE_VOCABULARY", KINDS)
    model = small_lstm(data.spec)
    monkeypatch.setattr(model, "forward", None)  # all logits are never made
    assert time_step(model, data, task_for(data), 8) > 0


class ReturnsText(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> str:
        return "text"


class FailsInTraining(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.map = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            raise KeyError("oh")
        out: Tensor = self.map(x)
        return out


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(5, 3)),
            "layer '2' fails on inputs of shape (8, 4): "
            "mat1 and mat2 shapes cannot be multiplied (8x6 and 5x3)",
        ),
        (
            nn.Linear(4, 2),
            "the model's output must have shape (8, 3) for the 3 classes of iris, got (8, 2)",
        ),
        (FailsInTraining(), "layer 'model' fails on inputs of shape (8, 4): 'oh'"),
        (ReturnsText(), "the model must return a tensor or an Output, got str"),
    ],
)
def test_refuses_a_model_that_does_not_fit(iris: Data, model: nn.Module, sentence: str) -> None:
    with pytest.raises(ShapeError) as refused:
        try_first_batch(model, iris, task_for(iris), 8)
    assert str(refused.value).replace("addmm: ", "") == sentence  # newer torch names its kernel


def masks_of(rows: int = 6) -> Data:
    spec = DataSpec(
        inputs="image", input_shape=(1, 4, 5), target="mask", num_outputs=2, class_names=("a", "b")
    )
    encoder = ArrayEncoder(input_shape=(1, 4, 5), target="class", num_outputs=2)
    targets = torch.arange(rows * 20).view(rows, 4, 5).remainder(2).byte()
    train = Split(inputs=torch.zeros(rows, 1, 4, 5), targets=targets)
    return Data(name="toy", spec=spec, train=train, preprocessor=encoder)


def test_a_model_of_masks_gives_a_logit_a_class_and_pixel() -> None:
    data = masks_of()
    first = try_first_batch(nn.Conv2d(1, 2, 1), data, task_for(data), 4)
    assert first.layers[0].shape == (4, 2, 4, 5)
    sentence = (
        "the model's output must have shape (4, 2, 4, 5) for the 2 classes of toy, got (4, 2, 2, 3)"
    )
    with pytest.raises(ShapeError, match=f"^{re.escape(sentence)}$"):
        try_first_batch(nn.Conv2d(1, 2, 3), data, task_for(data), 4)


class ReadsRows(nn.Module):
    """A module of one's own with a recurrent layer; notes the mode in which that is called."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.head = nn.GRU(4, 3, 2, batch_first=True, dropout=0.5), nn.Linear(3, 3)
        self.modes: list[tuple[bool, float]] = []

    def forward(self, x: Tensor) -> Tensor:
        self.modes.append((self.rnn.training, self.rnn.dropout))
        scores: Tensor = self.head(self.rnn(x[:, None])[0][:, 0])
        return scores


def test_a_step_is_timed_with_recurrent_layers_as_cudnn_goes_back_through_them(iris: Data) -> None:
    model = ReadsRows().to("meta")  # stands for a GPU
    assert time_step(model, iris, task_for(iris), 8) > 0
    assert set(model.modes) == {(True, 0.0)}
    assert (model.rnn.training, model.rnn.dropout) == (True, 0.5)


def test_more_objects_than_queries_are_refused_though_the_first_batch_has_fewer() -> None:
    data = load("shapes", n=40, side=16, objects=2)
    data.train.targets[:4, 1, 0] = -1
    model = DETR.build(DETRConfig(queries=1, layers=1, width=8), data.spec)
    with pytest.raises(ConfigError, match=r"train split of shapes has 2 objects, .* has 1 query:"):
        try_first_batch(model, data, task_for(data), 4)
