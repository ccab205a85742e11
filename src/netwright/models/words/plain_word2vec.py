r"""Skip-gram and CBOW step by step in torch, as the formulas have them.

    h = v_c (skip-gram)        h = mean of v over the context (CBOW)
    softmax:   J = -u_o . h + log sum_w exp(u_w . h)
    negatives: J = -log sigma(u_o . h) - sum_k log sigma(-u_{n_k} . h),    n_k ~ N(w)^0.75

Slopes are worked by hand; a step adds up those of a batch of predictions.

Shapes: T words of a part of the text, P predictions, M words that one is made from, K words of
noise, V words, D features.
Source: Mikolov et al. (2013), arXiv:1301.3781 and arXiv:1310.4546.
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from netwright.data.words.window_pairs import window_pairs

LEAST, MOST = 16, 512  # predictions of a step


class Predictions(NamedTuple):
    """What is predicted from what.

    Args:
        inputs: the words that a prediction is made from (P, M).
        counted: which of them there are (P, M).
        outputs: the word that is to be predicted (P,).
    """

    inputs: Tensor
    counted: Tensor
    outputs: Tensor


def skip_gram_predictions(words: Tensor, window: int, numbers: torch.Generator) -> Predictions:
    """From each word of a text (T,) each word around it; negative words end a text."""
    reaches = torch.randint(1, window + 1, words.shape, generator=numbers)
    centres, contexts = window_pairs(_apart(words, window), window, _apart(reaches, window, words))
    return Predictions(centres[:, None], torch.ones(len(centres), 1, dtype=torch.bool), contexts)


def bag_predictions(words: Tensor, window: int, numbers: torch.Generator) -> Predictions:
    """Each word of a text (T,) from the mean of those around it (CBOW)."""
    reaches = torch.randint(1, window + 1, words.shape, generator=numbers)
    spaced, reached = _apart(words, window), _apart(reaches, window, words)
    places = torch.arange(len(spaced))
    centres, near = window_pairs(torch.where(spaced >= 0, places, -1), window, reached)
    outputs, rows, sizes = torch.unique_consecutive(
        centres, return_inverse=True, return_counts=True
    )
    inputs = torch.zeros(len(outputs), 2 * window, dtype=torch.int64)
    column = torch.arange(len(centres)) - (sizes.cumsum(0) - sizes)[rows]
    inputs[rows, column] = spaced[near]
    return Predictions(inputs, torch.arange(2 * window) < sizes[:, None], spaced[outputs])


def _apart(values: Tensor, window: int, words: Tensor | None = None) -> Tensor:
    """Each end of a text (a negative word) as many places wide as a window: none reaches over."""
    words = values if words is None else words
    return values.repeat_interleave(torch.where(words < 0, window, 1))


def batches_of(
    given: Predictions, vocab_size: int, numbers: torch.Generator
) -> Iterator[Predictions]:
    """The predictions in random order, some at a time.

    They are about as many as there are words, so that few of them move the same vector: all slopes
    of a step are those before it, and their sum would overshoot.
    """
    order = torch.randperm(len(given.outputs), generator=numbers)
    for rows in torch.split(order, min(max(vocab_size, LEAST), MOST)) if len(order) else ():
        yield Predictions(*(part[rows] for part in given))


def softmax_step(vectors: Tensor, contexts: Tensor, given: Predictions, lr: float) -> Tensor:
    """A step with the whole softmax, for small vocabularies; gives the mean loss before it."""
    hidden = _hidden(vectors, given)
    logits = hidden @ contexts.T  # (P, V)
    errors = logits.softmax(dim=1) - F.one_hot(given.outputs, len(contexts))
    slopes = errors @ contexts  # before the contexts move
    contexts.sub_(errors.T @ hidden, alpha=lr)
    _move_inputs(vectors, given, slopes, lr)
    return F.cross_entropy(logits, given.outputs)


def negatives_step(
    vectors: Tensor, contexts: Tensor, given: Predictions, noise: Tensor, lr: float
) -> Tensor:
    """A step with negative samples (P, K); gives the mean loss before it."""
    hidden = _hidden(vectors, given)
    outputs = torch.cat((given.outputs[:, None], noise), dim=1)  # (P, 1 + K)
    rows = contexts[outputs]
    scores = (rows @ hidden[:, :, None]).squeeze(2)
    labels = torch.zeros_like(scores)
    labels[:, 0] = 1
    errors = scores.sigmoid() - labels
    slopes = (errors[:, None] @ rows).squeeze(1)
    moves = errors[:, :, None] * hidden[:, None]
    contexts.index_add_(0, outputs.flatten(), moves.flatten(0, 1), alpha=-lr)
    _move_inputs(vectors, given, slopes, lr)
    signs = 2 * labels - 1
    return -F.logsigmoid(signs * scores).sum(dim=1).mean()


def _hidden(vectors: Tensor, given: Predictions) -> Tensor:
    """The mean of the vectors that a prediction is made from (P, D)."""
    shares = _shares(given, vectors)
    return (shares[:, None] @ vectors[given.inputs]).squeeze(1)


def _move_inputs(vectors: Tensor, given: Predictions, slopes: Tensor, lr: float) -> None:
    """Each vector of a mean moves by its share of the slope (P, D)."""
    moves = _shares(given, vectors)[:, :, None] * slopes[:, None]
    vectors.index_add_(0, given.inputs.flatten(), moves.flatten(0, 1), alpha=-lr)


def _shares(given: Predictions, like: Tensor) -> Tensor:
    """What each input counts in its mean (P, M)."""
    counted = given.counted.to(like)
    return counted / counted.sum(dim=1, keepdim=True)
