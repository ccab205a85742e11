"""A verdict: what a claim predicts beside what was measured, with a count behind every number.

    at_most("updates over the bound, the most of all sets", 1.0, 0.2, n=100)

A finding holds where its margin is not negative:

    equals      margin = within - |measured - predicted|
    at most     margin = predicted - measured
    at least    margin = measured - predicted

A mean of several tries has an interval, and its margin is that of the interval's worst end: a
finding holds where the whole interval is as predicted, fails where nothing of it is, and is
undecided between the two, where more tries are needed.
"""

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

from netwright.core.errors import ConfigError
from netwright.inspection.drawing.notebook import in_notebook
from netwright.inspection.drawing.page import picture, table, text
from netwright.inspection.drawing.view import plain
from netwright.inspection.training.claim_chart import ClaimChart
from netwright.metrics.paired import half_width

Rule = Literal["equals", "at most", "at least"]
Interval = tuple[float, float]
Answer = Literal["holds", "fails", "undecided"]


@dataclass(frozen=True)
class ClaimFinding:
    """One number that a claim predicts, and what was measured.

    Args:
        what: what the number is, with its unit.
        rule: how the measured number should lie to the predicted one.
        predicted: by the claim.
        measured: by the experiment.
        within: how far they may differ, where they are to be equal.
        n: how many cases were counted or averaged.
        interval: where the measured mean may lie (95 %), where it is one of several tries.
    """

    what: str
    rule: Rule
    predicted: float
    measured: float
    _: KW_ONLY
    within: float = 0.0
    n: int
    interval: Interval | None = None

    def __post_init__(self) -> None:
        """Take counts as numbers too, and refuse one that nothing was counted for."""
        object.__setattr__(self, "predicted", float(self.predicted))
        object.__setattr__(self, "measured", float(self.measured))
        if self.n < 1:
            raise ConfigError(f"{self.what!r} must count at least one case, got n = {self.n}")

    @property
    def margin(self) -> float:
        """How far its worst end lies from where it would no longer hold; negative beyond."""
        return min(map(self._margin_of, self.interval or (self.measured,)))

    @property
    def holds(self) -> bool:
        """Whether what was measured is as predicted; what is not a number never is."""
        return self.answer == "holds"

    @property
    def answer(self) -> Answer:
        """Whether it holds, fails, or is left open by its interval."""
        if self.margin >= 0:
            return "holds"
        if self.interval is None or math.isnan(self.margin):
            return "fails"
        low, high = self.interval
        nearest_end = min(max(self.predicted, low), high)
        return "undecided" if self._margin_of(nearest_end) >= 0 else "fails"

    def _margin_of(self, number: float) -> float:
        """The margin, if this number was measured."""
        if self.rule == "at most":
            return self.predicted - number
        if self.rule == "at least":
            return number - self.predicted
        return self.within - abs(number - self.predicted)

    @property
    def wanted(self) -> str:
        """What was predicted, in words."""
        if self.rule != "equals":
            return f"{self.rule} {_told(self.predicted)}"
        return _told(self.predicted) + (f" ± {self.within:.2g}" if self.within else "")

    @property
    def found(self) -> str:
        """What was measured, in words."""
        if self.interval is None:
            return _told(self.measured)
        low, high = self.interval
        return f"{self.measured:.4g} ({low:.4g} to {high:.4g})"

    def __str__(self) -> str:
        return f"{self.what}: {self.found}, predicted {self.wanted} (n = {self.n})"

    def __repr__(self) -> str:
        return f"Finding({self}: {self.answer})"


def _told(number: float) -> str:
    """Counts in full, everything else in six digits."""
    is_count = number.is_integer() and abs(number) < 1e12
    return f"{number:,.0f}" if is_count else f"{number:.6g}"


def equals(
    what: str,
    predicted: float,
    measured: float,
    *,
    within: float = 0.0,
    n: int,
    interval: Interval | None = None,
) -> ClaimFinding:
    """The measured number is the predicted one, up to `within`."""
    return ClaimFinding(what, "equals", predicted, measured, within=within, n=n, interval=interval)


def at_most(
    what: str, predicted: float, measured: float, *, n: int, interval: Interval | None = None
) -> ClaimFinding:
    """The measured number is not above the predicted one."""
    return ClaimFinding(what, "at most", predicted, measured, n=n, interval=interval)


def at_least(
    what: str, predicted: float, measured: float, *, n: int, interval: Interval | None = None
) -> ClaimFinding:
    """The measured number is not below the predicted one."""
    return ClaimFinding(what, "at least", predicted, measured, n=n, interval=interval)


def no_violations(what: str, violations: int, *, n: int) -> ClaimFinding:
    """Not one of n cases breaks the claim."""
    return at_most(what, 0, violations, n=n)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The mean of several tries, and the interval that holds the true one in 95 of 100 cases."""

    mean: float
    interval: Interval
    n: int

    def as_measured(self) -> dict[str, Any]:
        """What a finding says of it."""
        return {"measured": self.mean, "n": self.n, "interval": self.interval}


def estimate(values: Sequence[float]) -> Estimate:
    """The mean with Student's interval; at least two tries."""
    n, mean = len(values), math.fsum(values) / len(values)
    std = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    half = half_width(std, n)
    return Estimate(mean=mean, interval=(mean - half, mean + half), n=n)


def estimate_ratio(ratios: Sequence[float]) -> Estimate:
    """The geometric mean with its interval: a ratio and its inverse are equally far from 1."""
    logs = estimate([math.log(ratio) for ratio in ratios])
    low, high = logs.interval
    return Estimate(mean=math.exp(logs.mean), interval=(math.exp(low), math.exp(high)), n=logs.n)


def estimate_share(successes: int, n: int) -> Estimate:
    """A share of n tries with Wilson's interval, which is right also near 0 and 1."""
    z = 1.959964
    share, spread = successes / n, z * z / n
    centre = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    return Estimate(mean=share, interval=(max(0.0, centre - half), min(1.0, centre + half)), n=n)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What an experiment says about a claim.

    Args:
        findings: one or more; the claim holds where all of them do.
        chart: what was predicted and measured, as a picture.
        statement: what is claimed, where a claim asked for the verdict.
    """

    findings: tuple[ClaimFinding, ...]
    chart: ClaimChart
    statement: str = ""

    @property
    def holds(self) -> bool:
        """Whether every finding is as the claim says, with its whole interval."""
        return self.answer == "holds"

    @property
    def answer(self) -> Answer:
        """It fails where one finding does, and is undecided where one is."""
        return self.decisive.answer

    @property
    def words(self) -> str:
        """The answer as the end of a sentence that begins with "it"."""
        return "is undecided" if self.answer == "undecided" else self.answer

    @property
    def decisive(self) -> ClaimFinding:
        """The first finding that fails, else the first that is undecided, else the first."""
        order: tuple[Answer, ...] = ("fails", "undecided", "holds")
        return min(self.findings, key=lambda finding: order.index(finding.answer))

    @property
    def predicted(self) -> float:
        """The predicted number of the decisive finding."""
        return self.decisive.predicted

    @property
    def measured(self) -> float:
        """The measured number of the decisive finding."""
        return self.decisive.measured

    @property
    def margin(self) -> float:
        """How far the decisive finding lies from where the verdict would turn."""
        return self.decisive.margin

    @property
    def n(self) -> int:
        """The cases behind the decisive finding."""
        return self.decisive.n

    @property
    def told(self) -> str:
        """The answer and the decisive finding, as the end of a sentence that begins with "it"."""
        return f"{self.words}: {self.decisive}"

    def table_rows(self) -> list[dict[str, str]]:
        """What was predicted and measured, one row a finding."""
        return [
            {
                "what": finding.what,
                "predicted": finding.wanted,
                "measured": finding.found,
                "n": f"{finding.n:,}",
                "verdict": finding.answer,
            }
            for finding in self.findings
        ]

    def __str__(self) -> str:
        said = [f"{finding.answer}: {finding}" for finding in self.findings]
        return "\n".join([*filter(None, [self.statement]), *said, f"verdict: it {self.words}"])

    def __repr__(self) -> str:
        return f"Verdict({self.told})"

    def _repr_html_(self) -> str:
        said = [text(self.statement)] if self.statement else []
        rows = table(self.table_rows(), numbers=["predicted", "measured", "n"])
        return in_notebook(*said, rows, text(f"Verdict: it {self.words}."), picture(self.chart))

    def to_json(self) -> dict[str, Any]:
        """Plain numbers and text."""
        findings = [
            {
                **plain(finding),
                "margin": finding.margin,
                "holds": finding.holds,
                "answer": finding.answer,
            }
            for finding in self.findings
        ]
        told = {
            "holds": self.holds,
            "answer": self.answer,
            "findings": findings,
            "chart": self.chart.to_json(),
        }
        return infinite_as_text(told)  # type: ignore[no-any-return]


def infinite_as_text(value: Any) -> Any:
    """The same tree with "inf" and "nan" as text: JSON has no such numbers."""
    if isinstance(value, dict):
        return {key: infinite_as_text(item) for key, item in value.items()}
    if isinstance(value, list):
        return [infinite_as_text(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
