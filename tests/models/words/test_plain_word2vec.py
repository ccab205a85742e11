"""Word2vec step by step: pairs and bags by hand, slopes against autograd, both losses."""

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.models.words.plain_word2vec import (
    Predictions,
    bag_predictions,
    batches_of,
    negatives_step,
    skip_gram_predictions,
    softmax_step,
)

TEXT = torch.tensor([4, 5, 6, -1, 7, 4])


def numbers(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_pairs_end_with_the_text() -> None:
    found = skip_gram_predictions(TEXT, 1, numbers())
    pairs = list(zip(found.inputs[:, 0].tolist(), found.outputs.tolist(), strict=True))
    assert pairs == [(4, 5), (5, 4), (5, 6), (6, 5), (7, 4), (4, 7)]
    wide = skip_gram_predictions(TEXT, 5, numbers())
    assert not {(6, 7), (7, 6), (5, 7)} & set(
        zip(wide.inputs[:, 0].tolist(), wide.outputs.tolist(), strict=True)
    )


def test_a_bag_is_what_stands_around_a_word() -> None:
    found = bag_predictions(TEXT, 1, numbers())
    bags = [
        (int(word), row[there].tolist())
        for word, row, there in zip(found.outputs, found.inputs, found.counted, strict=True)
    ]
    assert bags == [(4, [5]), (5, [4, 6]), (6, [5]), (7, [4]), (4, [7])]


def given() -> tuple[Tensor, Tensor, Predictions]:
    torch.manual_seed(0)
    vectors, contexts = torch.randn(8, 3).double(), torch.randn(8, 3).double()
    inputs = torch.tensor([[1, 2], [3, 3], [2, 0]])
    counted = torch.tensor([[True, True], [True, True], [True, False]])
    return vectors, contexts, Predictions(inputs, counted, torch.tensor([4, 1, 5]))


def hidden(vectors: Tensor, told: Predictions) -> Tensor:
    return torch.stack(
        [
            vectors[row[there]].mean(dim=0)
            for row, there in zip(told.inputs, told.counted, strict=True)
        ]
    )


def test_a_step_of_the_softmax_is_that_of_autograd() -> None:
    vectors, contexts, told = given()
    v, u = vectors.clone().requires_grad_(), contexts.clone().requires_grad_()
    loss = F.cross_entropy(hidden(v, told) @ u.T, told.outputs, reduction="sum")
    slopes = torch.autograd.grad(loss, (v, u))
    mean = softmax_step(vectors, contexts, told, 0.1)
    torch.testing.assert_close(mean, loss.detach() / 3)
    torch.testing.assert_close(vectors, v.detach() - 0.1 * slopes[0])
    torch.testing.assert_close(contexts, u.detach() - 0.1 * slopes[1])


def test_a_step_with_negatives_is_that_of_autograd() -> None:
    vectors, contexts, told = given()
    noise = torch.tensor([[6, 6], [0, 4], [5, 2]])  # also one that was seen
    v, u = vectors.clone().requires_grad_(), contexts.clone().requires_grad_()
    h = hidden(v, told)
    seen = F.logsigmoid((u[told.outputs] * h).sum(dim=1))
    drawn = F.logsigmoid(-(u[noise] @ h[:, :, None]).squeeze(2)).sum(dim=1)
    loss = -(seen + drawn).sum()
    slopes = torch.autograd.grad(loss, (v, u))
    mean = negatives_step(vectors, contexts, told, noise, 0.1)
    torch.testing.assert_close(mean, loss.detach() / 3)
    torch.testing.assert_close(vectors, v.detach() - 0.1 * slopes[0])
    torch.testing.assert_close(contexts, u.detach() - 0.1 * slopes[1])


def test_batches_hold_each_prediction_once() -> None:
    many = Predictions(torch.arange(1100)[:, None], torch.ones(1100, 1).bool(), torch.arange(1100))
    batches = list(batches_of(many, 10_000, numbers()))
    assert [len(batch.outputs) for batch in batches] == [512, 512, 76]
    assert torch.cat([batch.outputs for batch in batches]).sort().values.tolist() == list(
        range(1100)
    )
    assert len(next(batches_of(many, 100, numbers())).outputs) == 100
    assert len(next(batches_of(many, 5, numbers())).outputs) == 16
    none = Predictions(*(part[:0] for part in many))
    assert list(batches_of(none, 5, numbers())) == []
