"""The FT-Transformer: parity with torch's encoder, no order among columns, what is refused."""

import pytest
import torch
from torch import nn

from netwright.core.config import parse
from netwright.core.errors import ConfigError
from netwright.core.seeding import seeded
from netwright.models.tables.ft_transformer import FTTransformer, FTTransformerConfig
from netwright.testing.model_contract import MODEL_CHECKS
from tests.models.sequence.specs import train
from tests.models.tables.specs import table_spec

SMALL = FTTransformerConfig(layers=1, heads=2, width=8, hidden=12, dropout=0)


def test_a_block_is_torchs_encoder_layer() -> None:
    with seeded(0):
        model = FTTransformer.build(SMALL, table_spec(0, 1, 1, 2)).eval()
        x = torch.randn(3, 4)
    layer = nn.TransformerEncoderLayer(8, 2, 12, 0.0, batch_first=True, norm_first=True).eval()
    (block,) = model.blocks
    attn = {name: weight for name, weight in block.attn.named_parameters()}
    with torch.no_grad():
        for theirs, ours in (
            (layer.norm1, block.ln_1),
            (layer.norm2, block.ln_2),
            (layer.linear1, block.mlp.c_fc),
            (layer.linear2, block.mlp.c_proj),
        ):
            theirs.load_state_dict(ours.state_dict())
        assert set(attn) == {"c_attn.weight", "c_attn.bias", "c_proj.weight", "c_proj.bias"}
        layer.self_attn.in_proj_weight.copy_(attn["c_attn.weight"])
        layer.self_attn.in_proj_bias.copy_(attn["c_attn.bias"])
        layer.self_attn.out_proj.weight.copy_(attn["c_proj.weight"])
        layer.self_attn.out_proj.bias.copy_(attn["c_proj.bias"])
        tokens = torch.cat((model.class_token.expand(3, -1, -1), model.tokens(x)), dim=1)
        wanted = model.head(model.ln_f(layer(tokens)[:, 0]).relu())
    torch.testing.assert_close(model(x), wanted)


def test_columns_have_no_order() -> None:
    with seeded(0):
        model = FTTransformer.build(SMALL, table_spec(0, 1, 2)).eval()
        x = torch.randn(4, 3)
    before, order = model(x), torch.tensor([2, 0, 1])
    with torch.no_grad():
        model.tokens.weight.copy_(model.tokens.weight[order])
        model.tokens.bias.copy_(model.tokens.bias[order])
    torch.testing.assert_close(model(x[:, order]), before)


def test_it_keeps_the_contract_on_columns_of_categories() -> None:
    for check in MODEL_CHECKS:
        check(lambda: FTTransformer.build(SMALL, table_spec(0, 0, 1, 2, 2)))


def test_it_learns_what_two_columns_say_only_together() -> None:
    def batch(numbers: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        x = torch.randn(64, 2, generator=numbers)
        return x, (x[:, 0] * x[:, 1] > 0).long()

    with seeded(0):
        model = FTTransformer.build(SMALL, table_spec(0, 1))
    train(model, batch, nn.functional.cross_entropy, steps=150)
    x, y = batch(torch.Generator().manual_seed(9))
    assert float((model(x).argmax(1) == y).float().mean()) > 0.85


def test_what_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="heads"):
        FTTransformerConfig(width=10, heads=3)
    with pytest.raises(ConfigError, match="layers"):
        parse(FTTransformerConfig, {"layers": 0})
