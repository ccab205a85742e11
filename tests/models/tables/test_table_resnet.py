"""The residual network for tables: its formula by hand, and blocks that change nothing."""

import pytest
import torch
from torch.nn.functional import linear

from netwright.core.config import parse
from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.models.tables.table_resnet import TableResNet, TableResNetConfig
from tests.models.tables.specs import table_spec

CONFIG = TableResNetConfig(layers=2, width=4, hidden=6)


def test_outputs_are_the_formula_of_the_card() -> None:
    with seeded(0):
        model = TableResNet.build(CONFIG, table_spec(0, 1, 2)).eval()
        x = torch.randn(5, 3)
    state = model.state_dict()

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        # Without a step its statistics are mean 0 and variance 1.
        return torch.add(x * state[f"{name}.weight"] / (1 + 1e-5) ** 0.5, state[f"{name}.bias"])

    def affine(x: torch.Tensor, name: str) -> torch.Tensor:
        return linear(x, state[f"{name}.weight"], state[f"{name}.bias"])

    out = affine(x, "first")
    for block in ("blocks.0", "blocks.1"):
        hidden = affine(norm(out, f"{block}.0"), f"{block}.1").relu()
        out = out + affine(hidden, f"{block}.4")
    torch.testing.assert_close(model(x), affine(norm(out, "norm").relu(), "head"))


def test_a_block_whose_last_layer_is_zero_changes_nothing() -> None:
    with seeded(0):
        model = TableResNet.build(CONFIG, table_spec(0, 1)).eval()
    shallow = TableResNet.build(TableResNetConfig(layers=1, width=4, hidden=6), table_spec(0, 1))
    shallow.load_state_dict(
        {name: value for name, value in model.state_dict().items() if "blocks.1" not in name}
    )
    for weight in model.blocks[1][4].parameters():  # type: ignore[index]
        torch.nn.init.zeros_(weight)
    x = torch.randn(3, 2)
    torch.testing.assert_close(model(x), shallow.eval()(x))


def test_what_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="layers"):
        parse(TableResNetConfig, {"layers": 0})
    with pytest.raises(ConfigError, match="dropout"):
        parse(TableResNetConfig, {"dropout": 1})
