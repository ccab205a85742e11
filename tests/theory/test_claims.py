"""Claims: settings and switches are read from the config, and bad ones are refused."""

from dataclasses import dataclass
from typing import Annotated

import pytest

from netwright.core.card import Card
from netwright.core.config import Config, Doc, Positive
from netwright.core.errors import ConfigError
from netwright.inspection.training.claim_chart import ClaimChart, measured, predicted
from netwright.theory.claims import Assumption, Claim, Effort, Kind
from netwright.theory.verdict import Verdict, at_most


@dataclass(frozen=True, kw_only=True)
class ToyConfig(Config):
    """A bound, and a switch."""

    bound: Annotated[Positive, Doc("what the number must not exceed")] = 1.0
    small: Annotated[bool, Assumption("the number is small")] = True


def measure(given: ToyConfig, seed: int, effort: Effort) -> Verdict:
    number = (0.5 if given.small else 2.0) + 0.01 * seed
    return Verdict(
        findings=(at_most("the number", given.bound, number, n=1 if effort == "quick" else 10),),
        chart=ClaimChart(
            x_label="place",
            y_label="number",
            series=(predicted("bound", [0, 1], [1, 1]), measured("number", [0], [number])),
            explanation="One number.",
        ),
    )


def toy(kind: Kind = "theorem") -> Claim:
    return Claim(
        card=Card(sentence="The number is small.", formula="x < 1", source="here"),
        topic="Neurons",
        kind=kind,
        settings=ToyConfig,
        experiment=measure,
    )


def test_assumptions_are_the_marked_switches() -> None:
    assert toy().assumptions == {"small": "the number is small"}
    assert toy().statement == "The number is small."


def test_a_claim_is_checked_with_settings_seed_and_size() -> None:
    assert toy().check().holds
    assert toy().check(3).measured == 0.53
    assert toy().check(size="full").n == 10
    assert not toy().check(bound=0.4).holds
    assert not toy().check(small=False).holds


def test_only_a_false_claim_is_expected_to_fail() -> None:
    assert toy("theorem").expected and toy("empirical").expected
    assert not toy("false").expected


def test_bad_settings_are_refused() -> None:
    for settings, sentence in (
        ({"bond": 2}, "unknown setting 'bond'; did you mean 'bound'?"),
        ({"bound": 0}, "bound must be greater than 0.0, got 0"),
        ({"size": "huge"}, "size must be quick or full, got 'huge'"),
        ({"seed": 1.5}, "seed must be a non-negative integer, got 1.5"),
    ):
        with pytest.raises(ConfigError) as refusal:
            toy().check(**settings)
        assert str(refusal.value) == sentence


def test_it_reads_in_a_terminal_and_in_a_notebook() -> None:
    claim = toy()
    assert repr(claim) == "Claim(theorem: The number is small.)"
    assert str(claim).splitlines() == [
        "The number is small.",
        "    x < 1",
        "assumes small: the number is small",
        "theorem; source: here",
    ]
    page = claim._repr_html_()
    assert "The number is small." in page
    assert "the number is small" in page
    assert claim.check().statement == "The number is small."
    assert str(claim.check()).startswith("The number is small.\nholds: the number: 0.5, ")
