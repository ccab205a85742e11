"""Attention and embeddings in steps compute what torch's functions compute."""

import math
import re
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from netwright.core.errors import ConfigError
from netwright.core.seeding import generator
from netwright.core.trees import tensors_of
from netwright.inspection.stepper.readable_kernels import (
    embedding,
    multi_head_attention_forward,
    scaled_dot_product_attention,
)
from netwright.inspection.stepper.step_through import step_through
from tests.repetition import for_each


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=generator(0, *shape), dtype=torch.float64)


@for_each(
    "settings",
    [
        {},
        {"is_causal": True},
        {"scale": 0.3},
        {"attn_mask": torch.ones(3, 3).tril().bool()},
        {"attn_mask": drawn(3, 3)},
        {"attn_mask": torch.ones(3, 3).tril(-1).bool()},
        {"attn_mask": torch.zeros(3, 3).masked_fill(torch.ones(3, 3).triu().bool(), -math.inf)},
    ],
    ids=["plain", "causal", "scale", "mask", "added", "nothing allowed", "nothing added"],
)
def test_attention_is_that_of_torch(settings: dict[str, Any]) -> None:
    query, key, value = (drawn(2, 4, 3, 5) + place for place in range(3))
    wanted = functional.scaled_dot_product_attention(query, key, value, **settings)
    found = scaled_dot_product_attention(query, key, value, **settings)
    torch.testing.assert_close(found, wanted)


def test_few_heads_of_keys_serve_many_of_queries() -> None:
    query, key = drawn(1, 4, 3, 5), drawn(1, 2, 3, 5)
    wanted = functional.scaled_dot_product_attention(query, key, key, enable_gqa=True)
    found = scaled_dot_product_attention(query, key, key, enable_gqa=True)
    torch.testing.assert_close(found, wanted)


@for_each("form", ["plain", "single", "forbidden", "batched", "padding", "both"])
def test_heads_are_those_of_torch(form: str) -> None:
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(6, 2, dtype=torch.float64)
    query, key = (
        (drawn(3, 6), drawn(4, 6)) if form == "single" else (drawn(3, 2, 6), drawn(4, 2, 6))
    )
    masks: dict[str, torch.Tensor] = {}
    if form in {"forbidden", "both"}:
        masks["attn_mask"] = torch.ones(3, 4).triu(1).bool()
    if form == "batched":
        masks["attn_mask"] = torch.ones(4, 3, 4).triu(1).bool()
    if form in {"padding", "both"}:
        masks["key_padding_mask"] = torch.tensor([[False, False, False, True], [False] * 4])
    wanted, _ = layer(query, key, key, need_weights=False, **masks)
    found, _ = multi_head_attention_forward(
        query,
        key,
        key,
        6,
        2,
        layer.in_proj_weight,
        layer.in_proj_bias,
        None,
        None,
        False,
        0.0,
        layer.out_proj.weight,
        layer.out_proj.bias,
        **masks,
    )
    torch.testing.assert_close(found, wanted)


class Weighing(nn.Module):
    """What a loss may make of outputs and weights of attention."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.attention, self.settings = nn.MultiheadAttention(4, 2), settings

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        read, weights = self.attention(x, x, x, **self.settings)
        found: torch.Tensor = read.square().sum()
        return found if weights is None else found + weights.square().sum()


@for_each(
    "settings",
    [
        {},
        {"average_attn_weights": False},
        {"need_weights": False, "attn_mask": torch.ones(3, 3).triu().bool()},
        {"attn_mask": torch.ones(3, 3).triu(1).bool()},
    ],
    ids=["mean", "heads", "nothing allowed", "causal"],
)
@for_each("shape", [(3, 2, 4), (3, 4)], ids=["batch", "single"])
def test_weights_are_given_where_they_are_wanted(
    settings: dict[str, Any], shape: tuple[int, ...]
) -> None:
    model, x = Weighing(**settings).double().eval(), drawn(*shape)
    stepped = step_through(model, x)
    assert stepped.loss == pytest.approx(model(x).item(), rel=1e-9)
    assert stepped.disagreement < 1e-9
    assert stepped.flagged == ()


@for_each(
    "cell",
    [
        nn.RNNCell(2, 3, dtype=torch.float64),
        nn.RNNCell(2, 3, nonlinearity="relu", bias=False, dtype=torch.float64),
        nn.GRUCell(2, 3, dtype=torch.float64),
        nn.LSTMCell(2, 3, dtype=torch.float64),
    ],
    ids=["tanh", "relu", "gru", "lstm"],
)
def test_cells_are_those_of_torch_and_show_their_gates(cell: nn.Module) -> None:
    stepped = step_through(cell, drawn(1, 2), loss=lambda state: tensors_of(state)[0].sum())
    assert not [step.name for step in stepped.steps if "cell" in step.name]
    assert stepped.loss == pytest.approx(tensors_of(cell(drawn(1, 2)))[0].sum().item(), rel=1e-12)
    assert stepped.disagreement < 1e-12


def test_the_row_of_padding_is_read_and_not_taught() -> None:
    weight, tokens = drawn(4, 3).requires_grad_(), torch.tensor([[1, 3, 3]])
    torch.testing.assert_close(embedding(tokens, weight, -1), weight[tokens])
    (found,) = torch.autograd.grad(embedding(tokens, weight, -1).sum(), weight)
    wanted = torch.zeros(4, 3, dtype=torch.float64)
    wanted[1] = 1
    assert torch.equal(found, wanted)


def test_what_is_not_written_out_is_refused() -> None:
    sentence = "an embedding with max_norm or scale_grad_by_freq cannot be stepped through"
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        embedding(torch.tensor([0]), drawn(2, 2), max_norm=1.0)
    x = drawn(3, 6)
    with pytest.raises(ConfigError, match=r"^attention with added keys, or with keys and values"):
        multi_head_attention_forward(
            x, x, x, 6, 2, None, None, None, None, True, 0.0, drawn(6, 6), None
        )
