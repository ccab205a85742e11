"""Number formats: matrix work in half, weights and losses in float32, and training that works."""

from typing import Any

import pytest
import torch
from torch import Tensor

from netwright.train.callback import Callback
from netwright.train.precision import autocast, build_scaler
from netwright.train.state import TrainState
from tests.train.toy_runs import toy_data, toy_fit, toy_net

CPU = torch.device("cpu")
FORMATS: list[Any] = [
    ("fp32", torch.float32),
    ("bf16-mixed", torch.bfloat16),
    ("fp16-mixed", torch.float16),
]


@pytest.mark.parametrize(("precision", "dtype"), FORMATS)
def test_matrix_products_are_in_the_format_of_the_name(precision: Any, dtype: torch.dtype) -> None:
    with autocast(precision, CPU):
        assert toy_net()(torch.ones(2, 3)).dtype == dtype
    assert toy_net()(torch.ones(2, 3)).dtype == torch.float32


@pytest.mark.parametrize(("precision", "dtype"), FORMATS)
def test_only_float16_needs_a_scaler(precision: Any, dtype: torch.dtype) -> None:
    assert (build_scaler(precision, CPU) is not None) == (dtype == torch.float16)


@pytest.mark.parametrize(("precision", "dtype"), FORMATS)
def test_every_format_trains_float32_weights(precision: Any, dtype: torch.dtype) -> None:
    formats: set[torch.dtype] = set()

    class Look(Callback):
        def on_step_end(self, state: TrainState) -> None:
            assert state.loss.dtype == torch.float32

    def note(module: Any, given: Any, output: Tensor) -> None:
        if module.training:
            formats.add(output.dtype)

    model = toy_net(batch_norm=True)
    model[0].register_forward_hook(note)
    settings = {"precision": precision, "lr": 0.05, "epochs": 6, "callbacks": [Look()]}
    losses = toy_fit(model, toy_data(rows=40), **settings).history.series("train/loss")
    assert formats == {dtype}
    assert {tensor.dtype for tensor in model.parameters()} == {torch.float32}
    assert losses[-1] < 0.8 * losses[0]
