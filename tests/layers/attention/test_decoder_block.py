"""The decoder block: torch's own layer with the same weights, never ahead, always at the source."""

from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from netwright.core.seeding import seeded
from netwright.layers.attention.cross_attention import CrossAttention
from netwright.layers.attention.decoder_block import DecoderBlock
from netwright.layers.attention.feedforward import FeedForward
from netwright.layers.attention.masks import length_mask
from netwright.layers.attention.multihead_attention import MultiHeadAttention

NAMES = {
    "self_attn.in_proj_": "attn.c_attn.",
    "self_attn.out_proj.": "attn.c_proj.",
    "multihead_attn.out_proj.": "cross.c_proj.",
    "linear1.": "mlp.c_fc.",
    "linear2.": "mlp.c_proj.",
    "norm1.": "ln_1.",
    "norm2.": "ln_cross.",
    "norm3.": "ln_2.",
}


def build(width: int = 8, heads: int = 2, hidden: int = 12, **options: Any) -> DecoderBlock:
    return DecoderBlock(
        MultiHeadAttention(width, heads, causal=True),
        CrossAttention(width, heads),
        FeedForward(width, hidden, nn.ReLU()),
        **options,
    )


def drawn(**options: Any) -> DecoderBlock:
    with seeded(0):
        block = build(**options).double()
        for weight in block.parameters():
            nn.init.normal_(weight, std=0.5)
    return block.eval()


def draw(*shape: int, seed: int = 0) -> Tensor:
    numbers = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=numbers, dtype=torch.float64)


def keep_first(kept: list[Tensor], _: nn.Module, given: tuple[Tensor, ...]) -> None:
    kept.append(given[0])


@pytest.mark.parametrize("pre_norm", [False, True])
def test_it_is_torchs_own_layer_with_the_same_weights(pre_norm: bool) -> None:
    block = drawn(pre_norm=pre_norm)
    reference = nn.TransformerDecoderLayer(
        8, 2, 12, dropout=0.0, batch_first=True, norm_first=pre_norm
    ).double()
    own = block.state_dict()
    same = {t + kind: own[o + kind] for t, o in NAMES.items() for kind in ("weight", "bias")}
    fused = {
        f"multihead_attn.in_proj_{kind}": torch.cat(
            (own[f"cross.q_attn.{kind}"], own[f"cross.c_attn.{kind}"])
        )
        for kind in ("weight", "bias")
    }
    reference.load_state_dict({**same, **fused})
    x, memory, mask = draw(3, 4, 8), draw(3, 5, 8, seed=1), length_mask(torch.tensor([5, 3, 1]), 5)
    causal = nn.Transformer.generate_square_subsequent_mask(4, dtype=torch.float64)
    wanted = reference(x, memory, tgt_mask=causal, memory_key_padding_mask=~mask[:, 0])
    torch.testing.assert_close(block(x, block.cross.project(memory, mask)), wanted)


@pytest.mark.covers("transformer-decoder-layer")
def test_it_is_causal_depends_on_the_source_and_has_the_weights_of_2017() -> None:
    with torch.device("meta"):
        first = build(512, 8, 2048)
    assert sum(weight.numel() for weight in first.parameters()) == 4_204_032
    block, x = drawn(pre_norm=False), draw(2, 5, 8)
    source, other = (block.cross.project(draw(2, 3, 8, seed=seed)) for seed in (1, 2))
    changed = x.clone()
    changed[:, 3:] += 1
    assert torch.equal(block(changed, source)[:, :3], block(x, source)[:, :3])
    assert not torch.allclose(block(changed, source)[:, 3:], block(x, source)[:, 3:])
    moved = (block(x, other) - block(x, source)).norm(dim=-1)
    assert bool((moved > 1e-3).all())  # at every place


@pytest.mark.parametrize("pre_norm", [False, True])
def test_reading_on_from_a_cache_is_reading_the_whole(pre_norm: bool) -> None:
    block, x = drawn(pre_norm=pre_norm), draw(2, 4, 8)
    bias = draw(2, 4, 4, seed=3)
    source, cache, outs = block.cross.project(draw(2, 3, 8, seed=1)), block.attn.start(2, 4), []
    with torch.no_grad():
        for start, stop in ((0, 2), (2, 3), (3, 4)):
            out, cache = block.extend(x[:, start:stop], cache, source, bias[:, start:stop, :stop])
            outs.append(out)
    torch.testing.assert_close(
        torch.cat(outs, dim=1), block(x, source, bias), rtol=1e-10, atol=1e-10
    )


def test_where_it_looks_is_what_its_cross_attention_is_asked() -> None:
    for pre_norm in (False, True):
        block, x = drawn(pre_norm=pre_norm), draw(2, 4, 8)
        source = block.cross.project(draw(2, 3, 8, seed=1))
        asked: list[Tensor] = []
        hook = block.cross.register_forward_pre_hook(partial(keep_first, asked))
        block(x, source)
        hook.remove()
        torch.testing.assert_close(
            block.cross_weights(x, source), block.cross.attention_weights(asked[0], source)
        )


def test_what_is_added_is_dropped_while_training_only() -> None:
    block, x = drawn(dropout=0.5), draw(2, 5, 8)
    source = block.cross.project(x)
    assert torch.equal(block(x, source), block(x, source))
    with seeded(0):
        assert not torch.equal(block.train()(x, source), block(x, source))
