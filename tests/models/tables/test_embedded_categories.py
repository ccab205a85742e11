"""Networks for tables with embedded categories: the contract, what unseen ones leave, refusals."""

from typing import Any

import pytest
import torch

from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.models.baselines.trees import RandomForest
from netwright.models.ensembles.bagging import Bagging, BaggingConfig
from netwright.models.mlp import MLP, MLPConfig
from netwright.models.model import Model, check_fits
from netwright.models.tables.ft_transformer import FTTransformer, FTTransformerConfig
from netwright.models.tables.mlp_plr import MLPPLR, MLPPLRConfig
from netwright.models.tables.table_resnet import TableResNet, TableResNetConfig
from netwright.testing.model_contract import MODEL_CHECKS
from tests.models.tables.specs import table_spec
from tests.repetition import for_each

SPEC = table_spec(0, 1, 1, 2, 3, levels=(6, 0, 0, 0, 4))
NETWORKS: list[tuple[type[Model], Any]] = [
    (MLP, MLPConfig(hidden=(8,))),
    (MLPPLR, MLPPLRConfig(hidden=(8,), frequencies=3, width=2)),
    (TableResNet, TableResNetConfig(layers=1, width=8, hidden=8)),
    (FTTransformer, FTTransformerConfig(layers=1, heads=2, width=8, hidden=8)),
]


def named(network: tuple[type[Model], Any]) -> str:
    return network[0].__name__


@for_each("network", NETWORKS, ids=named)
def test_keeps_the_model_contract(network: tuple[type[Model], Any]) -> None:
    kind, config = network
    for check in MODEL_CHECKS:
        check(lambda: kind.build(config, SPEC))


@for_each("network", NETWORKS, ids=named)
def test_each_category_has_its_answer(network: tuple[type[Model], Any]) -> None:
    kind, config = network
    with seeded(0):
        model = kind.build(config, SPEC).eval()
        for table in (one for one in model.modules() if isinstance(one, torch.nn.Embedding)):
            torch.nn.init.normal_(table.weight[:-1].data)
    rows = torch.randn(1, 5).repeat(6, 1)
    rows[:, 0], rows[:, 4] = torch.arange(6.0), 1.0
    answers = model(rows)
    assert len(torch.unique(answers[:, 0])) == 6
    assert bool(answers.isfinite().all())


def test_waves_are_of_numbers_alone() -> None:
    model = MLPPLR.build(MLPPLRConfig(hidden=(8,), width=2), SPEC)
    assert model.numbers.tolist() == [2]  # of what the vectors leave: 0 or 1, 0 or 1, a number
    assert model.others.tolist() == [0, 1, *range(3, 3 + 3 + 2)]


def test_models_without_vectors_refuse_places() -> None:
    with pytest.raises(ConfigError, match="random-forest has no vectors for embedded categories"):
        check_fits(RandomForest, "random-forest", SPEC)
    with pytest.raises(ConfigError, match="decision-tree has no vectors"):
        Bagging.build(BaggingConfig(of="decision-tree", members=2), SPEC)
    assert len(Bagging.build(BaggingConfig(members=2), SPEC).members) == 2
