"""What classifiers of texts share: first vectors, padding, lengths."""

import torch

from netwright.data.spec import DataSpec
from netwright.models.words.bag_of_vectors import BagOfVectors, BagOfVectorsConfig
from netwright.models.words.text_model import SPREAD

SPEC = DataSpec(
    inputs="tokens",
    input_shape=(4,),
    target="class",
    num_outputs=2,
    class_names=("no", "yes"),
    vocab_size=50,
    padding=0,
)


def test_first_vectors_are_small_and_padding_is_zero() -> None:
    model = BagOfVectors.build(BagOfVectorsConfig(), SPEC)
    assert model.embedding is not None
    weight = model.embedding.weight.detach()
    assert not weight[0].any()
    assert 0.9 * SPREAD < float(weight.abs().max()) <= SPREAD


def test_lengths_count_what_is_no_padding_and_at_least_one() -> None:
    model = BagOfVectors.build(BagOfVectorsConfig(), SPEC)
    tokens = torch.tensor([[4, 5, 0, 0], [0, 0, 0, 0], [4, 4, 4, 4]])
    assert model.lengths(tokens).tolist() == [2, 1, 4]
