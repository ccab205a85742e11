"""Scores of the classes that were there to learn from, as logits of all classes.

Shapes: B batch, S classes seen, C classes.
"""

from torch import Tensor

LEAST_PROBABILITY = 1e-9  # a forest in which no tree votes for a class still has a finite logit
UNSEEN_GAP = 100.0  # below the lowest score: e^-100 is no probability worth the name


def log_probability(probabilities: Tensor) -> Tensor:
    """Logits whose softmax gives the probabilities back; finite also where one is 0."""
    return probabilities.clamp_min(LEAST_PROBABILITY).log()


def spread_scores(scores: Tensor, classes: Tensor, num_classes: int) -> Tensor:
    """Scores (B, S) at the places of their classes (S,); the others are never the answer."""
    if len(classes) == num_classes:
        return scores
    logits = (scores.amin(dim=1, keepdim=True) - UNSEEN_GAP).repeat(1, num_classes)  # (B, C)
    return logits.index_copy(1, classes, scores)
