"""The claims by name: each can be loaded, is a claim, and stands with its topic."""

from itertools import groupby

import pytest

from netwright.core.errors import UnknownNameError
from netwright.theory.catalog import CLAIMS, claim
from netwright.theory.claims import Claim


def test_every_row_is_a_claim_and_none_comes_twice() -> None:
    claims = [claim(name) for name in CLAIMS]
    assert all(isinstance(found, Claim) for found in claims)
    assert len({found.statement for found in claims}) == len(claims)


def test_claims_of_one_topic_stand_together() -> None:
    topics = [topic for topic, _ in groupby(claim(name).topic for name in CLAIMS)]
    assert len(topics) == len(set(topics))


def test_an_unknown_claim_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError) as refusal:
        claim("novikof")
    assert str(refusal.value) == "unknown claim 'novikof'; did you mean 'novikoff'?"
