"""The best threshold: by hand, against every threshold tried, and what is refused."""

import pytest
import torch

from netwright.core.errors import ConfigError, DataError
from netwright.metrics.classification import confusion_matrix
from netwright.metrics.labels import is_yes
from netwright.metrics.thresholds import ThresholdRule, choose_threshold, read_rule
from tests.repetition import for_each

SCORES = torch.tensor([0.9, 0.6, 0.4, 0.2, 0.1])
TRUE = torch.tensor([True, False, True, False, False])


def test_a_costly_miss_lowers_it() -> None:
    # Above 0.5: one missed, one false alarm. Between 0.4 and 0.2: none missed, one false alarm.
    costly = choose_threshold(SCORES, TRUE, read_rule("cost=10"))
    assert (costly.value, costly.best, costly.usual) == pytest.approx((0.3, -1.0, -11.0))
    # A miss that costs a tenth is better than the false alarm: between 0.9 and 0.6.
    cheap = choose_threshold(SCORES, TRUE, read_rule("cost=0.1"))
    assert (cheap.value, cheap.best) == pytest.approx((0.75, -0.1))


def test_f_beta_by_hand() -> None:
    # Above 0.3: 2 hits, 1 false alarm: F1 = 4 / 5. Above 0.75: 1 hit, 1 missed: F1 = 2 / 3.
    found = choose_threshold(SCORES, TRUE, read_rule("f1"))
    assert (found.value, found.best) == pytest.approx((0.3, 0.8))
    # At 0.5: 1 hit, 1 missed, 1 false alarm.
    assert found.usual == pytest.approx(0.5)


def test_rows_of_probability_zero_are_above_no_threshold() -> None:
    scores, true = torch.tensor([0.0, 0.0, 1.0, 1.0]), torch.tensor([True, False, True, False])
    found = choose_threshold(scores, true, read_rule("f1"))
    assert (found.value, found.best) == pytest.approx((0.5, 0.5))  # 1 hit, 1 missed, 1 false alarm


@for_each("name", ["f0.5", "f1", "f2", "cost=1", "cost=7"])
def test_no_other_threshold_is_better(name: str) -> None:
    numbers = torch.Generator().manual_seed(0)
    scores = torch.rand(60, generator=numbers).mul(20).round().div(20)  # with ties
    true = torch.rand(60, generator=numbers) < scores
    weights = torch.rand(60, generator=numbers)
    rule = read_rule(name)

    def worth(threshold: float) -> float:
        table = confusion_matrix(true.long(), is_yes(scores, threshold).long(), 2, weights)
        hits, missed, alarms = table[1, 1], table[1, 0], table[0, 1]
        return float(rule.values(hits, missed, alarms))

    found = choose_threshold(scores, true, rule, weights)
    assert found.best == pytest.approx(worth(found.value))
    assert found.usual == pytest.approx(worth(0.5))
    assert found.best >= max(worth(place / 40) for place in range(41)) - 1e-9


def test_of_equally_good_ones_the_nearest_to_one_half_is_taken() -> None:
    scores, true = torch.tensor([0.8, 0.3]), torch.tensor([True, False])
    assert choose_threshold(scores, true, read_rule("f1")).value == pytest.approx(0.55)


@for_each("text", ["", "f", "f0", "cost", "cost=-1", "cost=0", "recall", "f1e9", "f9999999"])
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="threshold must be like f1"):
        read_rule(text)


def test_one_class_alone_has_no_threshold() -> None:
    rule = ThresholdRule(name="f1", beta=1.0)
    with pytest.raises(DataError, match="both classes"):
        choose_threshold(SCORES, torch.ones(5, dtype=torch.bool), rule)
