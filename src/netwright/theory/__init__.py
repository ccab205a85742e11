"""The theory room: every claim is an experiment with a verdict."""

from netwright.theory.catalog import CLAIMS, claim
from netwright.theory.claims import Assumption, Claim
from netwright.theory.verdict import ClaimFinding, Verdict

__all__ = [
    "CLAIMS",
    "Assumption",
    "Claim",
    "ClaimFinding",
    "Verdict",
    "claim",
]
