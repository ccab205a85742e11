"""The page of theory: places for what its script shows."""

import pytest

pytest.importorskip("starlette")

from netwright.apps.studio.theory_page import theory_page


def test_a_claim_has_switches_parameters_and_a_place_for_its_verdict() -> None:
    page = theory_page()
    for name in ("claim", "assumptions", "parameters", "verdict", "check", "ledger", "claims"):
        assert f'id="{name}"' in page
    assert 'id="verdict" aria-live="polite"' in page
