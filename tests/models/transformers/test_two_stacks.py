"""What the models of two stacks share: one way through source and target, whatever they add."""

from collections.abc import Callable

import pytest
import torch

from netwright.models.transformers.two_stacks import TwoStacks
from tests.models.transformers.test_t5 import build as build_t5
from tests.models.transformers.test_transformer import SOURCE, pairs
from tests.models.transformers.test_transformer import build as build_transformer


@pytest.mark.parametrize("build", [build_transformer, build_t5])
def test_no_place_hears_what_it_is_to_say_nor_what_comes_after(
    build: Callable[[], TwoStacks],
) -> None:
    model, inputs = build().requires_grad_(False), pairs()[:1]
    before = model(inputs)
    other = inputs.clone()
    other[:, SOURCE + 2] = 5
    apart = (model(other) - before).abs().amax(dim=2)[0]
    assert bool((apart[:2] == 0).all())
    assert bool((apart[2:] > 1e-6).all())


def test_a_bias_of_the_encoder_is_not_that_of_the_decoder() -> None:
    model, inputs = build_t5(), pairs()[:1]
    before = model(inputs)
    with torch.no_grad():
        model.decoder_bias.table.weight += torch.arange(32.0)[:, None].double()
    assert float((model(inputs) - before).abs().max()) > 1e-3
    assert (
        model.read_source(inputs[:, :SOURCE])
        .source[0]
        .keys.equal(build_t5().read_source(inputs[:, :SOURCE]).source[0].keys)
    )
