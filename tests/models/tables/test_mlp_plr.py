"""The MLP on waves: which features are numbers, its formula, and steps that a plain MLP misses."""

import pytest
import torch

from netwright.core.config import parse
from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.models.mlp import MLP, MLPConfig
from netwright.models.tables.mlp_plr import MLPPLR, MLPPLRConfig
from netwright.testing.model_contract import MODEL_CHECKS
from tests.models.sequence.specs import train
from tests.models.tables.specs import table_spec

SMALL = MLPPLRConfig(hidden=(6,), frequencies=3, width=2)


def test_categories_stay_as_they_are_and_numbers_become_vectors() -> None:
    with seeded(0):
        model = MLPPLR.build(SMALL, table_spec(0, 1, 1, 2)).eval()
        x = torch.randn(5, 4)
    assert model.embedding is not None
    vectors = model.embedding(x[:, [0, 3]]).flatten(1)
    torch.testing.assert_close(model(x), model.mlp(torch.cat((x[:, 1:3], vectors), 1)))
    assert (model.numbers.tolist(), model.others.tolist()) == ([0, 3], [1, 2])


def test_a_table_of_categories_alone() -> None:
    for check in MODEL_CHECKS:
        check(lambda: MLPPLR.build(SMALL, table_spec(0, 0, 1, 1, 1)))
    assert MLPPLR.build(SMALL, table_spec(0, 0)).embedding is None


def test_it_draws_stripes_that_a_plain_mlp_does_not() -> None:
    x = torch.linspace(-2, 2, 200)[:, None]
    stripes = ((x[:, 0] * 4).floor() % 2).long()  # sixteen of them

    def share(model: torch.nn.Module) -> float:
        loss = torch.nn.functional.cross_entropy
        train(model, lambda numbers: (x, stripes), loss, steps=150)
        return float((model(x).argmax(1) == stripes).float().mean())

    with seeded(0):
        waves = MLPPLRConfig(hidden=(32,), dropout=0, spread=1.0)
        assert share(MLPPLR.build(waves, table_spec(0))) > 0.95
        assert share(MLP.build(MLPConfig(hidden=(32,), dropout=0), table_spec(0))) < 0.8


def test_what_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="spread"):
        parse(MLPPLRConfig, {"spread": 0})
    with pytest.raises(ConfigError, match="spread"):
        parse(MLPPLRConfig, {"spread": 1e300})
    with pytest.raises(ConfigError, match="frequencies"):
        parse(MLPPLRConfig, {"frequencies": -1})
