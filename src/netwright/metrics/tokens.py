r"""How well tokens are foretold, and how many tags are right.

    perplexity = exp(-1/n sum_t log p_t(y_t))        as unsure as among so many equal tokens

Of a text three sums are kept, never its probabilities: tokens that count, those that are right, and
minus the log of the probability of the true ones, in nats. Sums add: the measure of many texts is
that of the sum of theirs.

Shapes: N sequences, T tokens, V kinds of token, C tags; a target below 0 does not count.
Source: Jelinek, Mercer, Bahl and Baker, "Perplexity: a measure of the difficulty of speech
recognition tasks" (1977); Shannon, "Prediction and Entropy of Printed English" (1951).
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch
from torch import Tensor

from netwright.core.checks import check_finite, check_shape
from netwright.core.errors import DataError
from netwright.metrics.classification import accuracy, confusion_matrix, f1
from netwright.metrics.samples import (
    check_classes,
    check_not_empty,
    check_real,
    check_weights,
    exact_dtype,
    weighted_mean,
)


def token_sums(probabilities: Tensor, targets: Tensor) -> Tensor:
    """Tokens that count, those that are right, and their nats; (N, T, V) and (N, T) -> (N, 3)."""
    chosen = probabilities.gather(2, targets.clamp_min(0)[:, :, None])[:, :, 0]
    return torch.stack(
        [
            (targets >= 0).sum(dim=1),
            (probabilities.argmax(dim=2) == targets).sum(dim=1),
            _nats(chosen, targets),
        ],
        dim=1,
    )


def guessed_sums(shares: Tensor, targets: Tensor) -> Tensor:
    """The same where the probabilities are these shares (V,) at every place; (N, 3)."""
    chosen = shares.to(targets.device)[targets.clamp_min(0)]
    right = (targets == int(shares.argmax())).sum(dim=1)
    return torch.stack([(targets >= 0).sum(dim=1), right, _nats(chosen, targets)], dim=1)


def token_accuracy(sums: Tensor) -> float:
    """The share of right tokens, from the sums of all texts (3,)."""
    return _a_token(sums, 1)


def perplexity(sums: Tensor) -> float:
    """The exponential of the nats a token, from the sums of all texts (3,)."""
    return math.exp(_a_token(sums, 2))


def bits_per_token(sums: Tensor) -> float:
    """The nats a token over log 2, from the sums of all texts (3,)."""
    return _a_token(sums, 2) / math.log(2)


# Name -> formula of the sums.
TOKEN_FORMULAS: Mapping[str, Callable[[Tensor], float]] = MappingProxyType(
    {"accuracy": token_accuracy, "perplexity": perplexity, "bits_per_token": bits_per_token}
)


def measure_tokens(sums: Tensor, weights: Tensor | None = None) -> dict[str, float]:
    """Every measure of all texts together.

    Args:
        sums: (N, 3), as `token_sums` gives them.
        weights: how much each text counts, (N,).
    """
    total = sums.sum(dim=0) if weights is None else weights.to(sums) @ sums
    return {name: formula(total) for name, formula in TOKEN_FORMULAS.items()}


def sequence_accuracy(said: Tensor, targets: Tensor, weights: Tensor | None = None) -> float:
    """The share of sequences (N, T) in which every token that counts is right.

    Sequences in which nothing counts are left out.
    """
    counts = targets >= 0
    occurs = counts.any(dim=1)
    if not bool(occurs.any()):
        raise DataError("there is no token to score")
    all_right = ((said == targets) | ~counts).all(dim=1)
    kept = None if weights is None else weights[occurs]
    check_weights(kept, int(occurs.sum()))
    return weighted_mean(all_right[occurs], kept).item()


def tag_table(
    said: Tensor, targets: Tensor, num_tags: int, weights: Tensor | None = None
) -> Tensor:
    """Tokens of each tag that were called each tag (C, C); every token counts as its sequence."""
    counts = targets >= 0
    each = None if weights is None else weights[:, None].expand_as(targets)[counts]
    return confusion_matrix(targets[counts], said[counts], num_tags, each)


def measure_tags(
    said: Tensor, targets: Tensor, num_tags: int, weights: Tensor | None = None
) -> dict[str, float]:
    """Right tags, sequences without a mistake, and the F1 of the tags.

    Args:
        said: the tag that was given to each token (N, T).
        targets: the true ones (N, T).
        num_tags: C.
        weights: how much each sequence counts, (N,).
    """
    table = tag_table(said, targets, num_tags, weights)
    return {
        "accuracy": accuracy(table),
        "sequence_accuracy": sequence_accuracy(said, targets, weights),
        "f1": f1(table),
    }


def check_token_samples(name: str, scores: Tensor, targets: Tensor, weights: Tensor | None) -> None:
    """Refuse what is not finite scores (N, T, V), tokens (N, T) of which one counts, weights."""
    check_shape(name, scores, "N", "T", "V")
    check_not_empty(name, scores)
    check_shape("targets", targets, *scores.shape[:2])
    counted = targets[targets >= 0] if targets.dtype == torch.int64 else targets
    if not counted.numel():
        raise DataError("there is no token to score")
    check_classes("targets", counted, scores.shape[2])
    check_real(name, scores)
    check_finite(name, scores.detach())
    check_weights(weights, scores.shape[0])


def _nats(chosen: Tensor, targets: Tensor) -> Tensor:
    """-log of the probabilities (N, T) of the true tokens, summed over those that count (N,).

    What underflowed counts as the smallest float32, 87 nats, so that sums stay finite.
    """
    exact = chosen.detach().to(exact_dtype(chosen.device))
    nats = -exact.clamp_min(torch.finfo(torch.float32).tiny).log()
    return nats.masked_fill(targets < 0, 0).sum(dim=1)


def _a_token(sums: Tensor, place: int) -> float:
    if not float(sums[0]):
        raise DataError("there is no token to score")
    return float(sums[place] / sums[0])
