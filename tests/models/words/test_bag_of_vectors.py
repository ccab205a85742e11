"""The bag of vectors: the mean by hand, no order, and hidden layers."""

import torch

from netwright.models.words.bag_of_vectors import BagOfVectors, BagOfVectorsConfig
from tests.models.words.test_text_model import SPEC


def test_a_text_is_the_mean_of_its_words() -> None:
    model = BagOfVectors.build(BagOfVectorsConfig(embedding=3), SPEC).eval()
    assert model.embedding is not None
    vectors = model.embedding.weight
    mean = (vectors[7] + 2 * vectors[9]) / 3
    tokens = torch.tensor([[9, 7, 9, 0]])
    torch.testing.assert_close(model.features(tokens)[0], mean)
    torch.testing.assert_close(model(tokens)[0], model.head(mean))


def test_the_order_of_words_does_not_matter() -> None:
    model = BagOfVectors.build(BagOfVectorsConfig(hidden=(5, 4)), SPEC).eval()
    one, other = torch.tensor([[4, 5, 6, 7]]), torch.tensor([[7, 5, 4, 6]])
    torch.testing.assert_close(model(one), model(other))
    assert model.head.in_features == 4
