"""The ledger: claims that were checked, each with its verdict, its time, and how it can be turned.

entries = [check_claim(name, CLAIMS.load(name)) for name in CLAIMS]
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netwright.theory.claims import Claim, Effort
from netwright.theory.verdict import Answer, Verdict


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """A claim that was checked.

    Args:
        name: of the claim.
        claim: what was checked.
        verdict: what came of it.
        seconds: how long the experiment took.
        without: assumption -> the verdict when it alone is switched off.
        settings: what was set by hand; nothing is expected of the verdict then.
    """

    name: str
    claim: Claim
    verdict: Verdict
    seconds: float
    without: Mapping[str, Verdict] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_as_expected(self) -> bool:
        """What should hold holds and what is known to be wrong fails; true where set by hand."""
        return bool(self.settings) or self.verdict.answer == self.claim.expected_answer

    @property
    def warning(self) -> str:
        """What is often printed wrong; of a claim that is false, what is true; or nothing."""
        words = self.claim.card.misprint
        label = "What is true" if self.claim.kind == "false" else "Beware"
        return f"{label}: {words}" if words else ""

    @property
    def answer(self) -> Answer:
        """The verdict in one word."""
        return self.verdict.answer

    def to_json(self) -> dict[str, Any]:
        """Statement, verdict and numbers: plain dicts, lists, numbers and text."""
        return {
            "name": self.name,
            "topic": self.claim.topic,
            "kind": self.claim.kind,
            "statement": self.claim.statement,
            "formula": self.claim.card.formula,
            "source": self.claim.card.source,
            "expected": self.claim.expected_answer,
            "as_expected": None if self.settings else self.is_as_expected,
            "settings": dict(self.settings),
            "seconds": round(self.seconds, 3),
            **self.verdict.to_json(),
            "without": {name: _answer(verdict) for name, verdict in self.without.items()},
        }


def check_claim(
    name: str,
    claim: Claim,
    *,
    seed: int = 0,
    size: Effort = "quick",
    settings: Mapping[str, Any] | None = None,
) -> LedgerEntry:
    """Check a claim, then, quickly, once more without each of its assumptions."""
    settings = settings or {}
    started = time.perf_counter()
    verdict = claim.check(seed, size, **settings)
    seconds = time.perf_counter() - started
    without = {
        assumption: claim.check(seed, "quick", **{**settings, assumption: False})
        for assumption in claim.assumptions
        if assumption not in settings
    }
    return LedgerEntry(
        name=name,
        claim=claim,
        verdict=verdict,
        seconds=seconds,
        without=without,
        settings=settings,
    )


def _answer(verdict: Verdict) -> dict[str, Any]:
    return {"holds": verdict.holds, "answer": verdict.answer, "told": verdict.told}
