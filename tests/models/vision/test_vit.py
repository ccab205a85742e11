"""The vision transformer: torch's layers with the same weights, patches and positions by hand.

`vit_tiny.safetensors` was written by benchmarks/vit_parity.py: a ViTForImageClassification of
`transformers`, a few images, and their logits.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from netwright.core.errors import ConfigError, ShapeError
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.layers.patches import patchify
from netwright.models.exchange.vit_weights import from_vit
from netwright.models.vision.vit import ViT, ViTConfig
from netwright.testing.model_contract import MODEL_CHECKS
from netwright.theory.images.shape_images import draw_shapes
from tests.models.sequence.specs import train
from tests.repetition import for_each

SMALL: dict[str, Any] = {"patch": 2, "layers": 2, "heads": 2, "width": 8}


def images(*shape: int, classes: int = 3) -> DataSpec:
    return DataSpec(inputs="image", input_shape=shape, target="class", num_outputs=classes)


def build(*shape: int, **settings: Any) -> ViT:
    with seeded(0):
        model = ViT.build(ViTConfig(**{**SMALL, **settings}), images(*shape))
        for weight in model.parameters():
            nn.init.normal_(weight, std=0.4)
    return model.double().eval()


def draw(*shape: int) -> Tensor:
    numbers = torch.Generator().manual_seed(0)
    return torch.randn(shape, generator=numbers, dtype=torch.float64)


@for_each("settings", [{}, {"pool": "mean"}, {"dropout": 0.1}], ids=str)
@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Any], None], settings: dict[str, Any]) -> None:
    check(lambda: ViT.build(ViTConfig(**{**SMALL, **settings}), images(2, 5, 7)))


def test_with_the_weights_of_transformers_it_gives_their_logits() -> None:
    stored = load_file(Path(__file__).parent / "vit_tiny.safetensors")
    pixels, logits = stored["images"], stored["logits"]
    config = ViTConfig(patch=3, layers=2, heads=2, width=8, norm_eps=1e-12)
    model = ViT.build(config, images(*pixels.shape[1:], classes=logits.shape[1])).eval()
    model.load_state_dict(from_vit({name: stored[name] for name in stored if "." in name}))
    assert float(logits.std()) > 0.1  # weights that do something
    torch.testing.assert_close(model(pixels), logits, rtol=1e-4, atol=1e-5)


def by_torch(model: ViT, pixels: Tensor) -> Tensor:
    """The same by torch's encoder layers and a product with the patches."""
    config = model.config
    assert isinstance(config, ViTConfig)
    names = {
        "self_attn.in_proj_": "attn.c_attn.",
        "self_attn.out_proj.": "attn.c_proj.",
        "linear1.": "mlp.c_fc.",
        "linear2.": "mlp.c_proj.",
        "norm1.": "ln_1.",
        "norm2.": "ln_2.",
    }
    kernel = model.patches.projection
    assert kernel.bias is not None
    x = patchify(pixels, config.patch) @ kernel.weight.flatten(1).T + kernel.bias
    if model.class_token is not None:
        x = torch.cat((model.class_token.expand(len(x), -1, -1), x), dim=1)
    x = x + model.positions
    for block in model.blocks:
        own = block.state_dict()
        layer = nn.TransformerEncoderLayer(
            config.width,
            config.heads,
            4 * config.width,
            dropout=0.0,
            activation="gelu",
            layer_norm_eps=config.norm_eps,
            batch_first=True,
            norm_first=True,
        ).double()
        layer.load_state_dict(
            {t + kind: own[o + kind] for t, o in names.items() for kind in ("weight", "bias")}
        )
        x = layer(x)
    x = model.ln_f(x)
    logits: Tensor = model.head(x[:, 0] if config.pool == "class" else x.mean(dim=1))
    return logits


@for_each("pool", ["class", "mean"])
@for_each("sides", [(4, 6), (5, 7)], ids=str)
def test_it_is_torchs_layers_on_patches(sides: tuple[int, int], pool: str) -> None:
    model, pixels = build(3, *sides, pool=pool, norm_eps=1e-3), draw(2, 3, *sides)
    torch.testing.assert_close(model(pixels), by_torch(model, pixels), rtol=1e-10, atol=1e-10)


def test_without_positions_the_order_of_patches_is_lost_and_with_them_it_counts() -> None:
    model, pixels = build(1, 4, 4), draw(1, 1, 4, 4)
    turned = torch.roll(pixels, 2, dims=3)  # whole patches change places
    assert not torch.allclose(model(turned), model(pixels))
    with torch.no_grad():
        model.positions.zero_()
    torch.testing.assert_close(model(turned), model(pixels))


def test_attention_is_a_distribution_over_class_token_and_patches() -> None:
    model = build(1, 4, 6)
    maps = model.attention_weights(draw(2, 1, 4, 6))
    assert [tuple(weights.shape) for weights in maps] == [(2, 2, 7, 7)] * 2
    for weights in maps:
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 2, 7).double())


def test_images_of_another_size_are_refused_and_heads_that_do_not_divide() -> None:
    wanted = r"^this model has positions for images of 4 x 6, got 6 x 4$"
    with pytest.raises(ShapeError, match=wanted):
        build(1, 4, 6)(draw(1, 1, 6, 4))
    with pytest.raises(ConfigError, match=r"^heads must divide the width, got 3 heads"):
        ViTConfig(heads=3)


@pytest.mark.slow
@pytest.mark.covers("vit")
def test_a_tiny_one_learns_drawn_shapes() -> None:
    numbers = torch.Generator().manual_seed(1)
    names = ("bar", "times", "box", "tee")
    pixels, kinds = draw_shapes(names, 2200, numbers)
    with seeded(0):
        config = ViTConfig(patch=3, layers=2, heads=4, width=32)
        model = ViT.build(config, images(*pixels.shape[1:], classes=len(names)))

    def batch(numbers: torch.Generator) -> tuple[Tensor, Tensor]:
        rows = torch.randint(2000, (64,), generator=numbers)
        return pixels[rows], kinds[rows]

    train(model, batch, cross_entropy, steps=300, lr=0.003)
    with torch.no_grad():
        right = (model(pixels[2000:]).argmax(dim=1) == kinds[2000:]).double().mean()
    assert float(right) > 0.9
