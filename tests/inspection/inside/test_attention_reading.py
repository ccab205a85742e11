"""Weights that are read are those by which the model read its values."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from netwright import inspection
from netwright.core.errors import ConfigError, DataError, UnknownNameError
from netwright.data.spec import DataSpec
from netwright.inspection.inside.attention_reading import (
    fused_weights,
    read_attention,
    show_attention,
)
from netwright.models.transformers.gpt import GPT, GPTConfig
from tests.inspection.untouched import untouched
from tests.repetition import for_each

B, H, Q, K, D = 2, 4, 5, 7, 3


def drawn(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def gpt(**settings: Any) -> GPT:
    torch.manual_seed(0)
    spec = DataSpec(inputs="tokens", input_shape=(6,), target="tokens", num_outputs=9, vocab_size=9)
    model = GPT.build(GPTConfig(layers=2, heads=4, width=16, **settings), spec)
    for weight in model.parameters():
        nn.init.normal_(weight, std=0.4)  # at the start attention is all but even
    return model


class WrittenOut(nn.Module):
    """Attention by its formula, as eager code has it."""

    def forward(self, x: Tensor) -> Tensor:
        return (x @ x.mT).softmax(dim=-1) @ x


MASKS: dict[str, dict[str, Any]] = {
    "none": {},
    "causal": {"is_causal": True},
    "yes or no": {"attn_mask": drawn(B, 1, Q, K) > -1},
    "added": {"attn_mask": drawn(Q, K)},
    "minus infinity": {"attn_mask": torch.zeros(Q, K).masked_fill(drawn(Q, K) > 1, -torch.inf)},
    "scale": {"scale": 0.3},
}


@for_each("given", list(MASKS))
def test_weights_times_values_are_what_fused_attention_gives(given: str) -> None:
    query, key, value = drawn(B, H, Q, D), drawn(B, H, K, D), drawn(B, H, K, D + 1)
    weights = fused_weights(query, key, value, **MASKS[given])
    out = functional.scaled_dot_product_attention(query, key, value, **MASKS[given])
    torch.testing.assert_close(weights @ value, out, atol=1e-6, rtol=0)


def test_grouped_heads_share_their_keys() -> None:
    query, key, value = drawn(B, H, Q, D), drawn(B, 2, K, D), drawn(B, 2, K, D + 1)
    weights = fused_weights(query, key, value, enable_gqa=True)
    out = functional.scaled_dot_product_attention(query, key, value, enable_gqa=True)
    torch.testing.assert_close(weights @ value.repeat_interleave(2, 1), out, atol=1e-6, rtol=0)


@pytest.mark.parametrize("settings", [{}, {"positions": "rotary", "kv_heads": 2}])
def test_gpt_has_the_weights_of_its_own_formula(settings: dict[str, Any]) -> None:
    model, tokens = gpt(**settings), torch.tensor([[1, 2, 3, 4, 5, 6], [8, 7, 6, 5, 4, 3]])
    with untouched(model):
        found = read_attention(model, tokens)
    assert list(found) == ["h.0.attn", "h.1.attn"]
    model.eval()
    for weights, own in zip(found.values(), model.attention_weights(tokens), strict=True):
        assert weights.max() > 0.6  # of row 0 aside, far from even
        torch.testing.assert_close(weights, own, atol=1e-6, rtol=0)
        torch.testing.assert_close(weights.sum(-1), torch.ones(2, 4, 6))


@pytest.mark.parametrize("is_training", [True, False])
def test_torchs_encoder_is_read_though_its_fast_path_hides_it(is_training: bool) -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model, x = nn.TransformerEncoder(layer, 2).train(is_training), drawn(B, Q, 8)
    with untouched(model):
        found = read_attention(model, x)
    assert list(found) == ["layers.0.self_attn", "layers.1.self_attn"]
    _, first = model.layers[0].eval().self_attn(x, x, x, average_attn_weights=False)
    assert first.shape == (B, 2, Q, Q)
    torch.testing.assert_close(found["layers.0.self_attn"], first)
    assert not torch.equal(found["layers.1.self_attn"], first)


def test_attention_that_is_written_out_is_seen_at_its_softmax() -> None:
    x = drawn(B, H, Q, D)
    assert read_attention(nn.Sequential(WrittenOut()), x) == {}  # nothing says that it is attention

    class SelfAttention(WrittenOut):
        pass

    (weights,) = read_attention(nn.Sequential(SelfAttention()), x).values()
    torch.testing.assert_close(weights, (x @ x.mT).softmax(-1))


def test_windows_before_the_heads_are_a_batch() -> None:
    class WindowAttention(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return functional.scaled_dot_product_attention(x, x, x)

    x = drawn(B, 3, H, Q, D)  # three windows
    (weights,) = read_attention(WindowAttention(), x).values()
    torch.testing.assert_close(weights, fused_weights(x, x).flatten(0, 1))
    assert show_attention(WindowAttention(), x).heads == H


def test_only_the_layers_that_are_asked_for_are_worked_out() -> None:
    tokens = torch.arange(6)[None]
    assert list(read_attention(gpt(), tokens, layers=["h.1.attn"])) == ["h.1.attn"]
    sentence = "^no attention was computed in a module 'h.2.attn'; did you mean 'h.1.attn'\\?$"
    with pytest.raises(UnknownNameError, match=sentence):
        read_attention(gpt(), tokens, layers=["h.2.attn"])


def test_a_module_that_is_called_again_has_each_call() -> None:
    attention = nn.MultiheadAttention(8, 2, batch_first=True)

    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attn = attention

        def forward(self, x: Tensor) -> Tensor:
            for _ in range(2):
                x = self.attn(x, x, x, need_weights=False)[0]
            return x

    assert list(read_attention(Twice(), drawn(B, Q, 8))) == ["attn", "attn, call 2"]


def test_maps_show_the_first_example_by_its_tokens() -> None:
    tokens = torch.tensor([[1, 2, 3, 4, 5, 6]])
    view = inspection.show_attention(gpt(), tokens, tokens=list("abcdef"))
    assert view.queries == view.keys == tuple("abcdef")
    assert view.heads == 8
    assert view.maps[0].name == "h.0.attn, head 0"
    weights = inspection.read_attention(gpt(), tokens)["h.0.attn"][0, 0]
    torch.testing.assert_close(torch.tensor(view.maps[0].weights), weights, check_dtype=False)


def test_maps_of_nothing_and_of_different_sizes_are_refused() -> None:
    with pytest.raises(DataError, match=r"^Linear computed no attention that could be shown$"):
        show_attention(nn.Linear(2, 2), torch.ones(1, 2))
    model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    sentence = (
        "^layers must name attentions of one size, got encoder.layers.0.self_attn 7 x 7, "
        "decoder.layers.0.self_attn 5 x 5, decoder.layers.0.multihead_attn 5 x 7$"
    )
    with pytest.raises(ConfigError, match=sentence):
        show_attention(model, drawn(1, K, 8), drawn(1, Q, 8))
    cross = ["decoder.layers.0.multihead_attn"]
    view = show_attention(
        model, drawn(1, K, 8), drawn(1, Q, 8), layers=cross, tokens=list("abcdefg")
    )
    assert (view.queries, view.keys) == (tuple("01234"), tuple("abcdefg"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["GPT2", "Bert", "ViT"])
def test_hugging_face_models_have_their_own_weights(name: str) -> None:
    hugging_face = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4}
    settings = {
        "GPT2": {"n_embd": 16, "n_layer": 2, "n_head": 4, "vocab_size": 9, "n_positions": 8},
        "Bert": {**sizes, "intermediate_size": 32, "vocab_size": 9},
        "ViT": {**sizes, "intermediate_size": 32, "image_size": 8, "patch_size": 4},
    }[name]
    kind, config = (getattr(hugging_face, f"{name}{part}") for part in ("Model", "Config"))
    fused, plain = (  # each with a config of its own, which keeps how it attends
        kind._from_config(config(**settings), attn_implementation=way).eval()
        for way in ("sdpa", "eager")
    )
    for weight in fused.parameters():
        nn.init.normal_(weight, std=0.4)
    plain.load_state_dict(fused.state_dict())
    x = drawn(2, 3, 8, 8) if name == "ViT" else torch.tensor([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]])
    theirs = plain(x, output_attentions=True).attentions
    for weights, own in zip(read_attention(fused, x).values(), theirs, strict=True):
        torch.testing.assert_close(weights, own, atol=1e-5, rtol=0)
