"""The theory room: every claim is an experiment with a verdict."""

from netwright.theory.catalog import CLAIMS as CLAIMS
from netwright.theory.catalog import claim as claim
from netwright.theory.claims import Assumption as Assumption
from netwright.theory.claims import Claim as Claim
from netwright.theory.verdict import Finding as Finding
from netwright.theory.verdict import Verdict as Verdict
