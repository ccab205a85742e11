"""What is answered for probabilities: the likeliest class, or what a threshold of two decides.

Shapes: (..., C) probabilities of C classes.
"""

from typing import NamedTuple

from torch import Tensor

from netwright.metrics.labels import is_yes


class Decided(NamedTuple):
    """Answers and how far they are from being others.

    Args:
        classes: what is answered, int64 (...).
        lead: over the next class, or the distance from the threshold, (...).
        surety: by which mistakes are ordered: the probability of the likeliest class, or the
            distance from the threshold, (...).
    """

    classes: Tensor
    lead: Tensor
    surety: Tensor


def decide(probabilities: Tensor, threshold: float | None) -> Decided:
    """The answers (...) for probabilities (..., C).

    Args:
        probabilities: of two classes or more.
        threshold: of two classes, above which the second is answered; None: the likeliest is.
    """
    if threshold is None:
        first, second = probabilities.double().topk(2, dim=-1).values.unbind(-1)
        return Decided(probabilities.argmax(dim=-1), first - second, first)
    distance = (probabilities[..., 1].double() - threshold).abs()
    return Decided(is_yes(probabilities[..., 1], threshold).long(), distance, distance)


def threshold_words(threshold: float | None, second: str) -> str:
    """A sentence on the threshold where there is one, with a blank before it."""
    if threshold is None:
        return ""
    return f" {second} is predicted above probability {threshold:.3g}, the run's threshold."
