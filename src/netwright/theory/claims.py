"""A claim: a statement, what it assumes, and the experiment that gives its verdict.

    verdict = claim("novikoff").check(seed=1, margin=0.05)
    verdict.holds, verdict.measured, verdict.n

Assumptions are switches among the settings: turn one off, and the verdict turns.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args, get_type_hints

from netwright.core.card import Card
from netwright.core.checks import check_seed
from netwright.core.config import Config, Doc, NoSettings, parse
from netwright.core.errors import ConfigError
from netwright.inspection.drawing.card_blocks import card_blocks
from netwright.inspection.drawing.formula import formula_text
from netwright.inspection.drawing.notebook import in_notebook
from netwright.inspection.drawing.page import table
from netwright.theory.verdict import Answer, Verdict

Kind = Literal["theorem", "empirical", "false"]
Effort = Literal["quick", "full"]
Topic = Literal[
    "Neurons",
    "Memories",
    "Linear models",
    "Networks",
    "Gradient descent",
    "Optimizers",
    "Regularisation",
    "Approximation and depth",
    "Images",
    "Sequences",
    "Words",
    "Attention",
    "Counting and cost",
]


@dataclass(frozen=True)
class Assumption(Doc):
    """The mark of a true/false setting: without it the claim need not hold."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement that can be tested.

    Args:
        card: the statement as a sentence, its formula, its symbols and its source.
        topic: the part of the subject that it belongs to.
        kind: a theorem (it must hold), empirical (it holds on average), or false: often said, and
            wrong, so that its experiment is expected to refute it.
        settings: parameters, and assumptions as switches that are on.
        experiment: (settings, seed, effort) -> verdict.
    """

    card: Card
    topic: Topic
    kind: Kind
    settings: type[Config] = NoSettings
    experiment: Callable[[Any, int, Effort], Verdict]

    @property
    def statement(self) -> str:
        """What is claimed, in one sentence."""
        return self.card.sentence

    @property
    def expected(self) -> bool:
        """Whether the claim should hold, under all its assumptions."""
        return self.kind != "false"

    @property
    def expected_answer(self) -> Answer:
        """The verdict that is expected, in a word."""
        return "holds" if self.expected else "fails"

    @property
    def assumptions(self) -> dict[str, str]:
        """The switches, by name, with what each assumes."""
        hints = get_type_hints(self.settings, include_extras=True)
        return {
            name: mark.text
            for name, hint in hints.items()
            for mark in get_args(hint)[1:]
            if isinstance(mark, Assumption)
        }

    def check(self, seed: int = 0, size: Effort = "quick", **settings: Any) -> Verdict:
        """Run the experiment.

        Args:
            seed: the same seed gives the same verdict.
            size: "quick" takes about a second, "full" repeats more often.
            **settings: parameters, and assumptions to switch off (`separable=False`).
        """
        check_seed(seed)
        if size not in get_args(Effort):
            raise ConfigError(f"size must be quick or full, got {size!r}")
        verdict = self.experiment(parse(self.settings, settings), seed, size)
        return replace(verdict, statement=self.statement)

    def __repr__(self) -> str:
        return f"Claim({self.kind}: {self.statement})"

    def __str__(self) -> str:
        assumed = [f"assumes {name}: {what}" for name, what in self.assumptions.items()]
        lines = [self.statement, f"    {formula_text(self.card.formula)}", *assumed]
        return "\n".join([*lines, f"{self.kind}; source: {self.card.source}"])

    def _repr_html_(self) -> str:
        assumed = [{"assumes": name, "that": what} for name, what in self.assumptions.items()]
        return in_notebook(*card_blocks(self.card), table(assumed))
