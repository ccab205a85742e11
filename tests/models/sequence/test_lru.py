"""The linear recurrent unit as a model: its contract, its ring, and what its config refuses."""

from collections.abc import Callable

import pytest
import torch

from netwright.core.config import parse
from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.layers.recurrence.linear_recurrent_unit import LinearRecurrentUnit
from netwright.models.sequence.lru import LRU, LRUConfig
from netwright.testing.model_contract import MODEL_CHECKS, Build
from tests.models.sequence.specs import SPECS
from tests.repetition import for_each

SMALL = LRUConfig(hidden=4, embedding=3)


@for_each("kind", SPECS)
@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Build], None], kind: str) -> None:
    check(lambda: LRU.build(SMALL, SPECS[kind]))


def test_all_blocks_begin_on_the_ring_of_the_config() -> None:
    with seeded(0):
        model = LRU.build(
            LRUConfig(hidden=64, layers=3, r_min=0.3, r_max=0.6, max_phase=1.0), SPECS["series"]
        )
    units = [part for part in model.modules() if isinstance(part, LinearRecurrentUnit)]
    assert len(units) == 3
    for unit in units:
        values = unit.eigenvalues().detach()
        assert 0.3 <= float(values.abs().min()) <= float(values.abs().max()) <= 0.6
        assert 0 <= float(values.angle().min()) <= float(values.angle().max()) <= 1.0


def test_the_first_token_is_still_felt_after_a_thousand_steps() -> None:
    with seeded(0):
        model = LRU.build(LRUConfig(hidden=32), SPECS["tokens"]).eval()
    tokens = torch.ones(1, 1000, dtype=torch.int64)
    changed = tokens.clone()
    changed[0, 0] = 2
    with torch.no_grad():
        felt = (model(tokens) - model(changed)).abs().amax(dim=2)[0]
    assert float(felt[-1]) > 1e-5


def test_a_ring_without_width_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"^r_max must be larger than r_min = 0\.9, got 0\.9$"):
        LRUConfig(r_min=0.9, r_max=0.9)


@pytest.mark.parametrize("setting", [{"r_max": 1.0}, {"r_min": -0.1}, {"max_phase": 7.0}], ids=str)
def test_a_ring_outside_of_the_disc_is_refused(setting: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=f"^{next(iter(setting))} "):
        parse(LRUConfig, setting)
