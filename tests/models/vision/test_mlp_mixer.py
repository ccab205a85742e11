"""MLP-Mixer: the formula by hand, one token-mixing network for all features, and shapes."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu

from netwright.core.errors import ShapeError
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.vision.mlp_mixer import MixerBlock, MLPMixer, MLPMixerConfig
from netwright.testing.model_contract import MODEL_CHECKS
from tests.models.sequence.specs import train
from tests.repetition import for_each

CONFIG = MLPMixerConfig(patch=2, layers=2, width=6, token_hidden=5, channel_hidden=7)


def images(*shape: int, classes: int = 3) -> DataSpec:
    return DataSpec(inputs="image", input_shape=shape, target="class", num_outputs=classes)


def block() -> MixerBlock:
    with seeded(0):
        return MixerBlock(4, CONFIG).double().eval()


def draw(*shape: int) -> Tensor:
    numbers = torch.Generator().manual_seed(0)
    return torch.randn(shape, generator=numbers, dtype=torch.float64)


@for_each("check", MODEL_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_model_contract(check: Callable[[Any], None]) -> None:
    check(lambda: MLPMixer.build(CONFIG, images(2, 5, 4)))


def test_a_block_is_the_formula_of_its_card() -> None:
    mixer, x = block(), draw(2, 4, 6)
    tokens, channels = mixer.mlp_tokens, mixer.mlp_channels
    hidden = gelu(tokens.c_fc.weight @ mixer.norm1(x) + tokens.c_fc.bias[:, None])
    u = x + tokens.c_proj.weight @ hidden + tokens.c_proj.bias[:, None]
    wide = gelu(mixer.norm2(u) @ channels.c_fc.weight.T + channels.c_fc.bias)
    torch.testing.assert_close(mixer(x), u + wide @ channels.c_proj.weight.T + channels.c_proj.bias)


@pytest.mark.covers("mlp-mixer")
def test_shapes_stay_and_token_mixing_is_shared_over_features_and_it_learns_by_heart() -> None:
    mixer, x, order = block(), draw(2, 4, 6), torch.tensor([3, 1, 5, 0, 2, 4])
    assert mixer(x).shape == x.shape
    mixed = mixer.mlp_tokens(x.mT).mT
    assert torch.equal(mixer.mlp_tokens(x[..., order].mT).mT, mixed[..., order])
    assert not torch.allclose(mixer.mlp_tokens(x[:, [1, 0, 2, 3]].mT).mT, mixed[:, [1, 0, 2, 3]])

    with seeded(0):
        model = MLPMixer.build(
            MLPMixerConfig(layers=2, width=16, token_hidden=8, channel_hidden=32), images(1, 8, 8)
        )
        pixels, kinds = torch.randn(16, 1, 8, 8), torch.randint(3, (16,))
    train(model, lambda _: (pixels, kinds), cross_entropy, steps=40)
    assert torch.equal(model(pixels).argmax(dim=1), kinds)


def test_dropout_works_while_training_only() -> None:
    with seeded(0):
        model = MLPMixer.build(
            MLPMixerConfig(patch=2, layers=1, width=4, dropout=0.5), images(1, 4, 4)
        )
        x = torch.randn(2, 1, 4, 4)
        assert not torch.equal(model(x), model(x))
        model.eval()
        assert torch.equal(model(x), model(x))
    assert sum(isinstance(part, nn.Dropout) for part in model.modules()) == 1


def test_images_of_another_size_are_refused() -> None:
    model = MLPMixer.build(CONFIG, images(1, 4, 6))
    wanted = r"^this model mixes patches of images of 4 x 6, got 6 x 4$"
    with pytest.raises(ShapeError, match=wanted):
        model(torch.zeros(1, 1, 6, 4))
