r"""The mean of several answers: of reals as they are, of classes and labels of the probabilities.

    f(x) = sum_m w_m f_m(x),    p(c | x) = sum_m w_m p_m(c | x)

Shapes: M members, B batch, C outputs.
Source: Perrone and Cooper, "When Networks Disagree" (1993).
"""

from torch import Tensor
from torch.nn import functional as F

from netwright.data.spec import TargetKind
from netwright.models.ensembles.ensemble import Ensemble


def average_outputs(outputs: Tensor, weights: Tensor, target: TargetKind) -> Tensor:
    """(M, B, C) with weights (M,) -> reals, or logits that give the mean probabilities back.

    The mean is taken of logarithms, so that a probability of 1e-40 does not become 0.
    """
    weights = weights.to(outputs)[:, None, None]
    if target == "real":
        return (weights * outputs).sum(dim=0)
    if target == "labels":  # the log-odds of the mean
        yes, no = (
            (weights.log() + F.logsigmoid(side)).logsumexp(dim=0) for side in (outputs, -outputs)
        )
        return yes - no
    return (weights.log() + F.log_softmax(outputs, dim=-1)).logsumexp(dim=0)


class AveragedEnsemble(Ensemble):
    """The abstract kind of ensembles whose answer is a weighted mean."""

    def combine(self, outputs: Tensor, weights: Tensor) -> Tensor:
        """The weighted mean, as one model would say it."""
        return average_outputs(outputs, weights, self.spec.target)

    def combine_first(self, outputs: Tensor, number: int) -> Tensor:
        """The mean over fewer members, each with a larger share."""
        shares = self.weights[:number]
        return self.combine(outputs[:number], shares / shares.sum())
