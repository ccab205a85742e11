"""T5's weights by the names of `transformers`: there and back, and nothing lost in silence."""

from dataclasses import replace

import pytest
import torch

from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec
from netwright.models.exchange.t5_weights import from_t5, is_t5, to_t5
from netwright.models.transformers.t5 import T5, T5Config
from tests.models.transformers.test_transformer import SPEC


def model_of(network: str, *, tied: bool = True, spec: DataSpec = SPEC) -> T5:
    with seeded(0):
        return T5.build(
            T5Config(
                layers=2,
                heads=2,
                width=4,
                hidden=6,
                tied=tied,
                feed_forward="relu" if network == "relu" else "gated-gelu",
            ),
            spec,
        )


@pytest.mark.parametrize("network", ["relu", "gated-gelu"])
@pytest.mark.parametrize("tied", [True, False])
def test_there_and_back_they_are_the_same(network: str, tied: bool) -> None:
    ours = model_of(network, tied=tied).state_dict()
    theirs = to_t5(ours)
    assert is_t5(theirs)
    again = from_t5(theirs, ours)
    assert again.keys() == ours.keys()
    for name, value in ours.items():
        assert torch.equal(again[name], value), name


def test_names_are_those_of_a_t5_for_generation() -> None:
    theirs = to_t5(model_of("gated-gelu").state_dict())
    for name, shape in {
        "shared.weight": (9, 4),
        "lm_head.weight": (9, 4),
        "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight": (32, 2),
        "encoder.block.1.layer.1.DenseReluDense.wi_0.weight": (6, 4),
        "decoder.block.1.layer.1.EncDecAttention.v.weight": (4, 4),
        "decoder.block.1.layer.2.DenseReluDense.wo.weight": (4, 6),
        "decoder.final_layer_norm.weight": (4,),
    }.items():
        assert tuple(theirs[name].shape) == shape, name
    assert not any(name.startswith(("encoder_", "decoder_", "target_")) for name in theirs)


def test_two_vocabularies_are_given_the_one_and_a_head_that_is_none_of_ours_stays() -> None:
    theirs = to_t5(model_of("relu").state_dict())
    two = model_of("relu", spec=replace(SPEC, shared_vocabulary=False)).state_dict()
    assert torch.equal(from_t5(theirs, two)["source_embedding.weight"], theirs["shared.weight"])
    theirs["lm_head.weight"] = theirs["lm_head.weight"] + 1
    theirs["encoder.odd"] = torch.zeros(1)
    found = from_t5(theirs, model_of("relu").state_dict())
    assert {"head.weight", "encoder.odd"} <= found.keys()  # whoever checks the names refuses them
