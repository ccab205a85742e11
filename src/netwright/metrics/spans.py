r"""How well spans of a text are found: by the places of their tokens, the best of several answers.

    exact match = [said = true],    F1 = 2 o / (|said| + |true|),    o = tokens in both

Several people may have marked an answer: the one that fits best counts. An example none of whose
answers is in the text, since it was cut off, counts as missed. SQuAD's own script compares texts
without case, punctuation and articles; it is never lower than this.

Shapes: N examples, A answers of each; a span is its first and its last place, IGNORED: no answer.
Source: Rajpurkar et al., "SQuAD: 100,000+ Questions for Machine Comprehension of Text" (2016),
section 6.1.
"""

import torch
from torch import Tensor

from netwright.core.checks import check_shape
from netwright.core.errors import DataError
from netwright.metrics.samples import check_not_empty, check_weights, weighted_mean


def score_spans(said: Tensor, answers: Tensor) -> Tensor:
    """Exact match and F1 of each example: (N, 2) and (N, A, 2) -> (N, 2)."""
    check_shape("said", said, "N", 2)
    check_shape("answers", answers, len(said), "A", 2)
    counts = answers[:, :, 0] >= 0
    first = torch.maximum(said[:, None, 0], answers[:, :, 0])
    last = torch.minimum(said[:, None, 1], answers[:, :, 1])
    both = (last - first + 1).clamp_min(0)
    sizes = (said[:, 1] - said[:, 0] + 1)[:, None] + answers[:, :, 1] - answers[:, :, 0] + 1
    is_same = (said[:, None] == answers).all(dim=2)
    scores = torch.stack((is_same.double(), 2 * both / sizes), dim=2)  # (N, A, 2)
    return scores.masked_fill(~counts[:, :, None], 0).amax(dim=1)


def measure_spans(scores: Tensor, weights: Tensor | None = None) -> dict[str, float]:
    """Both measures of all examples, from those of each (N, 2)."""
    exact, overlap = weighted_mean(scores, weights).tolist()
    return {"exact_match": exact, "span_f1": overlap}


def exact_match(said: Tensor, answers: Tensor, weights: Tensor | None = None) -> float:
    """The share of spans that are right from the first token to the last."""
    check_span_samples(said, answers, weights)
    return measure_spans(score_spans(said, answers), weights)["exact_match"]


def span_f1(said: Tensor, answers: Tensor, weights: Tensor | None = None) -> float:
    """The mean F1 of the tokens of said and true spans."""
    check_span_samples(said, answers, weights)
    return measure_spans(score_spans(said, answers), weights)["span_f1"]


def check_span_samples(said: Tensor, answers: Tensor, weights: Tensor | None) -> None:
    """Refuse what is not spans (N, 2), answers (N, A, 2) and weights (N,)."""
    check_shape("said", said, "N", 2)
    check_shape("answers", answers, len(said), "A", 2)
    for name, spans in (("said", said), ("answers", answers)):
        check_not_empty(name, spans)
        if spans.dtype != torch.int64:
            raise DataError(f"{name} must be int64, got {spans.dtype}")
        first, last = spans.unbind(dim=-1)
        is_absent = (first < 0) & (last < 0) & (name == "answers")
        wrong = ((first < 0) | (first > last)) & ~is_absent
        if bool(wrong.any()):
            raise DataError(
                f"{name} must be a first place and one that is not before it, got "
                f"{spans[wrong][0].tolist()}"
            )
    check_weights(weights, len(said))
