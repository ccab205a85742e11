"""Long short-term memory: its contract, its first values, its variant, and what it counts."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.sequence.lstm import LSTM, LSTMConfig
from netwright.testing.model_contract import MODEL_CHECKS, Build
from tests.models.sequence.specs import SPECS, train
from tests.repetition import for_each

CONFIGS = {
    "plain": LSTMConfig(hidden=4, embedding=3),
    "cell gate": LSTMConfig(hidden=4, embedding=3, layers=2, output_gate="cell"),
}


@for_each("name", CONFIGS)
@for_each("kind", SPECS)
@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Build], None], kind: str, name: str) -> None:
    check(lambda: LSTM.build(CONFIGS[name], SPECS[kind]))


@pytest.mark.parametrize("name", CONFIGS)
def test_forget_gates_start_open(name: str) -> None:
    stack = LSTM.build(CONFIGS[name], SPECS["series"]).backbone
    for layer in range(stack.layers):
        weights = stack.weights(layer)
        assert (weights["bias_ih"][4:8] + weights["bias_hh"][4:8]).tolist() == [1.0] * 4


def test_the_output_gate_that_reads_the_cell_has_weights_of_its_own() -> None:
    usual, variant = (LSTM.build(config, SPECS["series"]).backbone for config in CONFIGS.values())
    assert usual.weights(0)["weight_ih"].shape == (16, 2)
    assert variant.weights(0)["weight_ih"].shape == (12, 2)
    assert variant.weights(0)["weight_co"].shape == (4, 4)
    outputs, _ = variant(torch.randn(2, 6, 2))
    assert outputs.shape == (2, 6, 4)


def more_up_than_down(numbers: torch.Generator, steps: int | None = None) -> tuple[Tensor, Tensor]:
    steps = steps or int(torch.randint(5, 11, (), generator=numbers))
    x = 2 * torch.randint(2, (64, steps, 1), generator=numbers).float() - 1
    return x, (x.sum((1, 2)) > 0).long()


@pytest.mark.slow
@pytest.mark.covers("rnn-parameter-sharing")
def test_counting_that_was_learned_on_ten_steps_holds_on_twenty() -> None:
    models = []
    for steps in (10, 20):
        spec = DataSpec(inputs="series", input_shape=(steps, 1), target="class", num_outputs=2)
        with seeded(0):
            models.append(LSTM.build(LSTMConfig(hidden=8, dropout=0.0), spec))
    shapes = [[part.shape for part in model.parameters()] for model in models]
    assert shapes[0] == shapes[1]  # no weight knows how long a sequence is
    train(models[0], more_up_than_down, nn.functional.cross_entropy, steps=200)
    x, y = more_up_than_down(torch.Generator().manual_seed(1), 20)
    assert (models[0](x).argmax(1) == y).float().mean() >= 0.95
