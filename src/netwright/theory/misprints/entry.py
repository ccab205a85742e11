"""A misprint: the right formula, the wrong one that is often printed, and what tells them apart."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from netwright.theory.verdict import ClaimFinding, Rule

Topic = Literal[
    "Algebra and calculus",
    "Neurons and memories",
    "Linear models",
    "Networks",
    "Gradient descent",
    "Optimizers",
    "Regularisation",
    "Convolution",
    "Recurrence",
    "Attention",
]


@dataclass(frozen=True, kw_only=True)
class Telling:
    """One number, measured with the right formula and with the wrong one.

    Args:
        what: what the number is.
        rule: how it should lie to the bound.
        bound: what it should be, at most or at least be.
        within: how far it may be from the bound, where it is to equal it.
        right: the number with the right formula.
        wrong: the number with the wrong one; it may be infinite or not a number.
    """

    what: str
    rule: Rule
    bound: float
    within: float = 0.0
    right: float
    wrong: float

    def finding(self, measured: float) -> ClaimFinding:
        """What one of the two numbers says."""
        return ClaimFinding(
            what=self.what,
            rule=self.rule,
            predicted=self.bound,
            measured=measured,
            within=self.within,
            n=1,
        )

    @property
    def wanted(self) -> str:
        """What the number should be, in words."""
        return self.finding(self.right).wanted

    @property
    def tells(self) -> bool:
        """Whether the right form passes and the wrong one does not."""
        return self.finding(self.right).holds and not self.finding(self.wrong).holds


@dataclass(frozen=True, kw_only=True)
class Misprint:
    """A formula that is often printed wrong.

    Args:
        name: what it is found by.
        topic: the part of the subject that it belongs to.
        right: LaTeX, without dollar signs.
        wrong: LaTeX, as it is often printed.
        difference: what goes wrong with it, in one sentence.
        experiment: measures a number with both; None where there is nothing to compute.
    """

    name: str
    topic: Topic
    right: str
    wrong: str
    difference: str
    experiment: Callable[[], Telling] | None = None
