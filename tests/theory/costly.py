"""The contract of a claim whose experiments take more than two seconds: what runs them is slow.

In `make test` stays what is read off the claim; that each number which is not as claimed turns the
verdict is tested beside it, with faked or small trainings.
"""

import pytest

from netwright.testing.claim_contract import CLAIM_CHECKS, check_verdict_is_as_expected

COSTLY_CLAIM_CHECKS = [  # `conftest.py` marks the other checks that run experiments
    pytest.param(check, marks=pytest.mark.slow) if check is check_verdict_is_as_expected else check
    for check in CLAIM_CHECKS
]
