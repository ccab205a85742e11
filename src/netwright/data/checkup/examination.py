"""What came of looking: findings, what was looked at, and what was not."""

from dataclasses import dataclass

from netwright.core.finding import Finding


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


def examined(looks_at: str, *found: Finding | None) -> Examination:
    """One look, and what it found, if anything."""
    findings = tuple(finding for finding in found if finding is not None)
    return Examination(findings=findings, looked_at=(looks_at,))
