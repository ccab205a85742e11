"""What is exported takes inputs as a user has them, and gives what the run predicts."""

import copy
from typing import Any

import pytest
import torch

import netwright as nw
from netwright.data.spec import DataSpec
from netwright.models.mlp import MLP, MLPConfig
from netwright.recipes.exchange.input_scaling import build_input_scaling
from netwright.recipes.exchange.predictor import Predictor
from netwright.train.tasks.language_modelling import LanguageModelling
from netwright.train.tasks.masked_tokens import MaskedTokens
from netwright.train.tasks.regression import Regression


def test_raw_rows_give_the_probabilities_of_the_run(moons_run: nw.Run) -> None:
    scaling = build_input_scaling(moons_run.preprocessor, moons_run.spec)
    model = copy.deepcopy(moons_run.model).cpu()  # other tests share the run
    predictor = Predictor(model, moons_run.task, moons_run.spec, scaling)
    rows = torch.tensor([[0.5, 0.25], [1.5, -0.5]], dtype=torch.float64)
    wanted = torch.from_numpy(moons_run.predict_proba(rows.numpy()))
    with torch.no_grad():
        torch.testing.assert_close(predictor(rows), wanted, rtol=0, atol=1e-6)
    encoded = moons_run.preprocessor.encode(rows.numpy())
    torch.testing.assert_close(predictor.raw(encoded), rows)
    torch.testing.assert_close(predictor.of_run(encoded), wanted, rtol=0, atol=1e-6)
    assert predictor.output_name == "probabilities"


def spec(target: Any, outputs: int) -> DataSpec:
    return DataSpec(inputs="features", input_shape=(3,), target=target, num_outputs=outputs)


def test_reals_are_in_the_units_of_the_target() -> None:
    model = MLP.build(MLPConfig(hidden=()), spec("real", 2)).eval()
    task = Regression(torch.tensor([100.0, 0.0]), torch.tensor([10.0, 1.0]))
    predictor = Predictor(model, task, spec("real", 2), None)
    rows = torch.randn(4, 3)
    wanted = model(rows) * torch.tensor([10.0, 1.0]) + torch.tensor([100.0, 0.0])
    torch.testing.assert_close(predictor(rows), wanted)
    assert predictor.raw(rows) is rows
    assert predictor.output_name == "values"


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_logits_of_tokens_stay_logits(scale: float) -> None:
    outputs = scale * torch.randn(2, 3, 5)

    class Fixed(torch.nn.Module):
        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            return outputs

    tokens = DataSpec(
        inputs="tokens", input_shape=(3,), target="tokens", num_outputs=5, vocab_size=5
    )
    predictor = Predictor(Fixed(), LanguageModelling(5), tokens, None)
    assert torch.equal(predictor(torch.zeros(2, 3, dtype=torch.int64)), outputs)
    assert predictor.output_name == "logits"


def test_masked_tokens_are_probabilities_which_no_impossible_logit_dwarfs() -> None:
    masked = DataSpec(
        inputs="masked", input_shape=(3,), target="tokens", num_outputs=5, vocab_size=6
    )
    predictor = Predictor(torch.nn.Identity(), MaskedTokens(5), masked, None)
    outputs = torch.randn(2, 3, 5)
    torch.testing.assert_close(predictor(outputs), outputs.softmax(2))
    assert predictor.output_name == "probabilities"
