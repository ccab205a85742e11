"""Positions beyond training: what is measured by place, and each number that turns the verdict."""

import pytest
import torch
from torch import Tensor

from netwright.theory.attention.position_extrapolation import (
    EXTRAPOLATION,
    KINDS,
    STEPS,
    TESTED,
    TRAINED,
    ExtrapolationConfig,
    build,
    percent_by_place,
)
from tests.theory.costly import COSTLY_CLAIM_CHECKS


@pytest.mark.parametrize("check", COSTLY_CLAIM_CHECKS, ids=lambda check: check.__name__)
def test_keeps_the_claim_contract(check) -> None:  # type: ignore[no-untyped-def]
    check(EXTRAPOLATION)


def faked(within: dict[str, float], beyond: dict[str, float]):  # type: ignore[no-untyped-def]
    def percent(kind: str, *_: object) -> Tensor:
        near, far = torch.full((TRAINED - 1,), within[kind]), torch.full((16,), beyond[kind])
        return torch.cat((near, far)).double()

    return percent


@pytest.mark.parametrize(
    ("beyond", "failing"),
    [
        ({"sinusoidal": 20.0, "learned": 20.0, "t5": 80.0}, []),
        ({"sinusoidal": 90.0, "learned": 20.0, "t5": 95.0}, [1, 3]),
        ({"sinusoidal": 20.0, "learned": 90.0, "t5": 80.0}, [2]),
        ({"sinusoidal": 20.0, "learned": 20.0, "t5": 40.0}, [3]),
    ],
)
def test_each_number_that_is_not_as_claimed_turns_the_verdict(
    monkeypatch: pytest.MonkeyPatch, beyond: dict[str, float], failing: list[int]
) -> None:
    monkeypatch.setattr(
        "netwright.theory.attention.position_extrapolation.percent_by_place",
        faked(dict.fromkeys(KINDS, 95.0), beyond),
    )
    findings = EXTRAPOLATION.check().findings
    assert [place for place, one in enumerate(findings) if not one.holds] == failing


def test_an_untrained_network_guesses_and_has_room_for_the_test() -> None:
    found = percent_by_place("sinusoidal", ExtrapolationConfig(), 0, steps=0)
    assert found.shape == (TESTED - 1,)
    assert float(found.mean()) == pytest.approx(12.5, abs=5)
    assert build("learned", 16, 0).context == TESTED


@pytest.mark.slow
@pytest.mark.covers("pe-extrapolation")
def test_trained_on_16_tokens_sines_and_tables_drop_at_32() -> None:
    for kind in ("sinusoidal", "learned"):
        found = percent_by_place(kind, ExtrapolationConfig(), 0, STEPS["quick"])
        within, beyond = float(found[: TRAINED - 1].mean()), float(found[TRAINED - 1 :].mean())
        assert within - beyond > 40, kind
