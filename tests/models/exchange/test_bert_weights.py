"""BERT's weights by the names of `transformers`: there and back, and nothing lost in silence."""

import pytest
import torch
from torch import Tensor

from netwright.core.errors import DataError
from netwright.core.seeding import seeded
from netwright.data.spec import DataSpec, TargetKind
from netwright.models.exchange.bert_weights import from_bert, in_our_order, to_bert
from netwright.models.transformers.bert import BERT, BERTConfig


def weights_of(target: TargetKind) -> dict[str, Tensor]:
    is_masked = target == "tokens"
    spec = DataSpec(
        inputs="masked" if is_masked else "tokens",
        input_shape=(7,),
        target=target,
        num_outputs=9 if is_masked else 3,
        vocab_size=9,
    )
    with seeded(0):
        model = BERT.build(BERTConfig(layers=2, heads=2, width=4, context=12), spec)
    return model.state_dict()


@pytest.mark.parametrize("target", ["tokens", "class", "tags"])
def test_there_and_back_they_are_the_same(target: TargetKind) -> None:
    ours = weights_of(target)
    again = from_bert(to_bert(ours))
    assert again.keys() == ours.keys()
    for name, value in ours.items():
        assert torch.equal(again[name], value), name


def test_names_are_those_of_a_bert_for_pre_training() -> None:
    theirs = to_bert(weights_of("tokens"))
    block = "bert.encoder.layer.1"
    for name, shape in {
        "bert.embeddings.word_embeddings.weight": (9, 4),
        "bert.embeddings.LayerNorm.bias": (4,),
        f"{block}.attention.self.key.weight": (4, 4),
        f"{block}.attention.output.LayerNorm.weight": (4,),
        f"{block}.intermediate.dense.weight": (16, 4),
        f"{block}.output.dense.weight": (4, 16),
        "bert.pooler.dense.weight": (4, 4),
        "cls.predictions.decoder.weight": (9, 4),
        "cls.seq_relationship.weight": (2, 4),
    }.items():
        assert tuple(theirs[name].shape) == shape, name
    assert set(to_bert(weights_of("class"))) >= {"classifier.weight", "bert.pooler.dense.bias"}


def test_old_names_of_norms_and_names_without_prefix_are_read() -> None:
    ours = weights_of("tokens")
    old = {
        name.removeprefix("bert.")
        .replace("LayerNorm.weight", "LayerNorm.gamma")
        .replace("LayerNorm.bias", "LayerNorm.beta"): value
        for name, value in to_bert(ours).items()
    }
    assert from_bert(old).keys() == ours.keys()
    assert "embeddings.position_ids" not in from_bert(
        {**old, "embeddings.position_ids": torch.arange(12)}
    )


def test_a_decoder_that_is_not_the_embedding_and_what_is_unknown_stay() -> None:
    theirs = to_bert(weights_of("tokens"))
    theirs["cls.predictions.decoder.weight"] = theirs["cls.predictions.decoder.weight"] + 1
    theirs["bert.odd"] = torch.zeros(1)
    found = from_bert(theirs)
    assert {"cls.predictions.decoder.weight", "odd"} <= found.keys()


def test_rows_are_put_in_the_order_of_our_tokens_and_the_mask_is_never_said() -> None:
    rows = torch.arange(5.0)
    given = {"wte.weight": rows[:, None], "pretraining.bias": rows, "ln_e.bias": rows}
    found = in_our_order(given, (4, 2, 0, 1, 3))
    assert found["wte.weight"].flatten().tolist() == [4, 2, 0, 1, 3]
    assert found["pretraining.bias"].tolist() == [4, 2, 0, 1]
    assert found["ln_e.bias"] is rows
    with pytest.raises(DataError, match="5 tokens, the vocabulary beside them has 2"):
        in_our_order(given, (0, 1))
