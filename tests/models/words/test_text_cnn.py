"""The text CNN: features by hand, a planted pair of words, the norm of the output layer."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from netwright.core.config import parse
from netwright.core.errors import ConfigError
from netwright.models.words.text_cnn import TextCNN, TextCNNConfig
from tests.models.words.test_text_model import SPEC


def test_features_are_the_best_match_of_each_kernel() -> None:
    torch.manual_seed(0)
    model = TextCNN.build(TextCNNConfig(embedding=3, kernels=(2,), maps=4), SPEC).eval()
    assert model.embedding is not None
    words = [5, 9, 6]
    rows = F.pad(model.embedding.weight[words], (0, 0, 1, 1))  # one step of zeros on both sides
    kernel = model.convolutions[0]
    assert isinstance(kernel, nn.Conv1d) and kernel.bias is not None
    by_hand = torch.stack(
        [
            (kernel.weight * rows[place : place + 2].T).sum(dim=(1, 2)) + kernel.bias
            for place in range(4)
        ]
    )
    wanted = by_hand.relu().amax(dim=0)
    torch.testing.assert_close(model.features(torch.tensor([[*words, 0]]))[0], wanted)


def test_rows_of_the_output_layer_have_a_largest_norm() -> None:
    model = TextCNN.build(TextCNNConfig(embedding=3, maps=2, max_norm=1.5), SPEC).eval()
    tokens = torch.tensor([[4, 5, 6, 7]])
    with torch.no_grad():
        model.head.weight[0] *= 100 / model.head.weight[0].norm()
        model.head.weight[1] *= 1 / model.head.weight[1].norm()
        model.head.bias.zero_()
        features = model.features(tokens)[0]
        first = model.head.weight[0] * 1.5 / 100
        wanted = torch.stack((first @ features, model.head.weight[1] @ features))
        torch.testing.assert_close(model(tokens)[0], wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.covers("cnn-text-classifier")
def test_a_planted_pair_of_words_is_learned() -> None:
    numbers = torch.Generator().manual_seed(0)
    tokens = torch.randint(4, 30, (1200, 12), generator=numbers)
    has = torch.rand(1200, generator=numbers) < 0.5
    places = torch.randint(11, (1200,), generator=numbers)
    for row in has.nonzero()[:, 0].tolist():
        tokens[row, places[row]], tokens[row, places[row] + 1] = 7, 21
    has = ((tokens[:, :-1] == 7) & (tokens[:, 1:] == 21)).any(dim=1)
    torch.manual_seed(0)
    spec = replace(SPEC, input_shape=(12,))
    config = TextCNNConfig(embedding=16, kernels=(2, 3), maps=8, dropout=0.1)
    model = TextCNN.build(config, spec)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    train, targets = tokens[:800], has[:800].long()
    for _ in range(8):
        for rows in torch.split(torch.randperm(800, generator=numbers), 50):
            optimizer.zero_grad()
            F.cross_entropy(model(train[rows]), targets[rows]).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    right = model.eval()(tokens[800:]).argmax(dim=1) == has[800:].long()
    assert float(right.float().mean()) >= 0.98


def test_no_kernels_are_refused() -> None:
    with pytest.raises(ConfigError, match="kernels"):
        parse(TextCNNConfig, {"kernels": ()})
