"""Channels side by side: asked for or by precision and device, kernels only, results the same."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from netwright.data.dataset import Data, Split
from netwright.data.preprocessing import Preprocessor
from netwright.data.spec import DataSpec
from netwright.train.callback import Callback
from netwright.train.memory_format import lay_out
from netwright.train.precision import Precision
from netwright.train.saving.checkpoint import load_checkpoint, save_checkpoint
from netwright.train.state import TrainState
from tests.repetition import for_each
from tests.train.toy_runs import assert_close, assert_same, copy_of, toy_data, toy_trainer

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


def small_net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3),
        nn.Flatten(),
        nn.Linear(8 * 4 * 4, 3),
    )


def is_channels_last(model: nn.Module) -> bool:
    kernels = [weight for weight in model.parameters() if weight.ndim == 4]
    return all(kernel.is_contiguous(memory_format=torch.channels_last) for kernel in kernels)


@for_each(
    ("asked", "precision", "device", "wanted"),
    [
        (None, "fp32", CPU, False),
        (None, "bf16-mixed", CPU, False),
        (None, "fp32", CUDA, False),
        (None, "bf16-mixed", CUDA, True),
        (None, "fp16-mixed", CUDA, True),
        (True, "fp32", CPU, True),
        (False, "bf16-mixed", CUDA, False),
    ],
)
def test_layout_is_as_asked_for_or_as_suits_the_device(
    asked: bool | None, precision: Precision, device: torch.device, wanted: bool
) -> None:
    model = small_net()
    before = copy_of(model)
    lay_out(model, asked, precision, device)
    assert is_channels_last(model) == wanted
    assert_same(copy_of(model), before)


def images() -> Data:
    like = toy_data(rows=20, val=4)
    numbers = torch.Generator().manual_seed(1)

    def pictured(split: Split) -> Split:
        shape = (len(split), 3, 6, 6)
        return Split(inputs=torch.randn(shape, generator=numbers), targets=split.targets)

    spec = DataSpec(
        inputs="image",
        input_shape=(3, 6, 6),
        target="class",
        num_outputs=3,
        class_names=like.spec.class_names,
    )
    preprocessor: Preprocessor = like.preprocessor
    val = None if like.val is None else pictured(like.val)
    return Data(
        name="pictures", spec=spec, train=pictured(like.train), val=val, preprocessor=preprocessor
    )


def trained(data: Data, *callbacks: Callback, **settings: Any) -> TrainState:
    trainer = toy_trainer(data, callbacks=callbacks, **settings)
    state = trainer.start(small_net(), data)
    trainer.fit(state, data)
    return state


def test_a_run_with_channels_last_is_the_plain_one_and_goes_on_bit_for_bit(tmp_path: Path) -> None:
    class Save(Callback):
        def on_step_end(self, state: TrainState) -> None:
            save_checkpoint(tmp_path / f"{state.step}", state)

    data = images()
    settings: dict[str, Any] = {"optimizer": "momentum", "lr": 0.05, "epochs": 2}
    plain = trained(data, **settings)
    whole = trained(data, Save(), channels_last=True, **settings)
    assert is_channels_last(whole.model)
    assert_close(whole.model, plain.model, 1e-4)
    again = toy_trainer(data, channels_last=True, **settings)
    state = again.start(small_net(), data)
    load_checkpoint(tmp_path / "3", state)
    again.fit(state, data)
    assert is_channels_last(state.model)
    assert_same(copy_of(state.model), copy_of(whole.model))


def test_a_kernel_that_is_read_elsewhere_holds_the_same_numbers() -> None:
    model = small_net()
    x: Tensor = torch.randn(2, 3, 6, 6)
    before = model.eval()(x)
    lay_out(model, True, "fp32", CPU)
    torch.testing.assert_close(model(x), before, rtol=1e-5, atol=1e-6)
