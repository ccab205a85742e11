"""The Jordan network: its contract, its wiring, and what it cannot remember."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.sequence.elman import Elman, ElmanConfig
from netwright.models.sequence.jordan import Jordan, JordanConfig
from netwright.models.sequence.sequence_model import SequenceModel
from netwright.testing.model_contract import MODEL_CHECKS, Build
from tests.models.sequence.specs import SPECS, series, train
from tests.repetition import for_each


@for_each("kind", SPECS)
@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Build], None], kind: str) -> None:
    check(lambda: Jordan.build(JordanConfig(hidden=4, embedding=3), SPECS[kind]))


def test_its_state_is_its_answer() -> None:
    model = Jordan.build(JordanConfig(hidden=4, embedding=3), SPECS["tokens"]).eval()
    text = torch.tensor([[1, 2, 3]])
    logits, (state,) = model.read(text)
    assert torch.equal(logits, state)
    torch.testing.assert_close(model(text)[:, -1], logits)


def test_answers_are_not_dropped() -> None:
    model = Jordan.build(JordanConfig(hidden=4, dropout=0.9), SPECS["series"]).train()
    x = torch.randn(3, 6, 2)
    assert torch.equal(model(x), model(x))


def recall_after_silence(numbers: torch.Generator) -> tuple[Tensor, Tensor]:
    """A sign comes at the first step and is asked for at the last; between them the answer is 0."""
    sign = 2 * torch.randint(2, (64,), generator=numbers).float() - 1
    x, y = torch.zeros(64, 4, 2), torch.zeros(64, 4, 1)
    x[:, 0, 0], x[:, -1, 1], y[:, -1, 0] = sign, 1.0, sign
    return x, y


@pytest.mark.slow
@pytest.mark.covers("rnn-design-patterns")
def test_of_three_wirings_the_one_from_the_output_forgets_what_it_does_not_say() -> None:
    spec = DataSpec(inputs="series", input_shape=(4, 2), target="tags", num_outputs=1)
    wirings: list[SequenceModel] = []
    with seeded(0):
        wirings.append(Elman.build(ElmanConfig(hidden=8, dropout=0.0), spec))
        wirings.append(Jordan.build(JordanConfig(hidden=8, dropout=0.0), spec))
        wirings.append(Elman.build(ElmanConfig(hidden=3, dropout=0.0), series(3, 2)))
    for model in wirings:
        x = torch.randn(1, 3, 2, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(model.double(), (x,))
        model.float()
    errors = []
    for model in wirings[:2]:
        train(model, recall_after_silence, nn.functional.mse_loss, steps=300)
        x, y = recall_after_silence(torch.Generator().manual_seed(1))
        errors.append((model(x) - y)[:, -1].square().mean().item())
    assert errors[0] < 0.01  # hidden to hidden
    assert errors[1] > 0.5  # output to hidden
