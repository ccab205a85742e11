"""What came of looking: findings, what was looked at, and what was not."""

from dataclasses import dataclass

from netwright.core.finding import Finding


@dataclass(frozen=True)
class Undecided:
    """It was looked at, and what was seen says neither yes nor no.

    Args:
        why: in words.
    """

    why: str


@dataclass(frozen=True)
class Unseen:
    """There was nothing to look at.

    Args:
        why: in words.
    """

    why: str


Answer = Finding | Undecided | Unseen | None  # None: nothing is wrong


@dataclass(frozen=True, kw_only=True)
class Examination:
    """A part of a checkup; parts are added up.

    Args:
        findings: what seems wrong.
        looked_at: each thing that was looked at, in words.
        not_looked_at: what was not, and why.
    """

    findings: tuple[Finding, ...] = ()
    looked_at: tuple[str, ...] = ()
    not_looked_at: tuple[str, ...] = ()

    def __add__(self, other: "Examination") -> "Examination":
        return Examination(
            findings=self.findings + other.findings,
            looked_at=self.looked_at + other.looked_at,
            not_looked_at=self.not_looked_at + other.not_looked_at,
        )


def examined(looks_at: str, *answers: Answer) -> Examination:
    """One look, and what it found, if anything."""
    for answer in answers:
        if isinstance(answer, Unseen):
            return Examination(not_looked_at=(f"{looks_at}: {answer.why}",))
        if isinstance(answer, Undecided):
            return Examination(looked_at=(f"{looks_at}; undecided: {answer.why}",))
    findings = tuple(answer for answer in answers if isinstance(answer, Finding))
    return Examination(findings=findings, looked_at=(looks_at,))
