"""The gated recurrent unit: its contract, in both conventions."""

from collections.abc import Callable

from netwright.models.sequence.gru import GRU, GRUConfig
from netwright.testing.model_contract import MODEL_CHECKS, Build
from tests.models.sequence.specs import SPECS
from tests.repetition import for_each

CONFIGS = {
    "after": GRUConfig(hidden=4, embedding=3),
    "before": GRUConfig(hidden=4, embedding=3, layers=2, reset="before"),
}


@for_each("name", CONFIGS)
@for_each("kind", SPECS)
@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Build], None], kind: str, name: str) -> None:
    check(lambda: GRU.build(CONFIGS[name], SPECS[kind]))


def test_the_published_convention_has_one_bias_a_block() -> None:
    torch_form, published = (
        GRU.build(config, SPECS["series"]).backbone for config in CONFIGS.values()
    )
    assert sum(part.numel() for part in torch_form.weights(0).values()) == 3 * (4 * (2 + 4) + 8)
    assert sum(part.numel() for part in published.weights(0).values()) == 3 * (4 * (2 + 4) + 4)
